"""The verb `ladder`."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from seq2see.cli.console import answer, results, say, table
from seq2see.cli.train import watched
from seq2see.data.tasks import is_task
from seq2see.errors import RunError, SettingsError
from seq2see.goals import goal_named
from seq2see.goals.image_choices import IMAGE_LADDERS, images_asked
from seq2see.lab.ladder import Ladder, climb
from seq2see.models.fronts import FRONTS, ImageFrontSettings
from seq2see.recipe import preset
from seq2see.request import Request, goal_asked, settings_asked

__all__ = ["climb_and_write", "ladder", "show"]

TASK_MINUTES = 4.0
TASK_STEPS = 5000


def ladder(options: dict[str, Any], presets: str | None, seeds: Sequence[int], as_json: bool) -> None:
    """Train the models, print the table, and leave it with a figure beside the runs."""
    names = [name.strip() for name in (presets or "").split(",") if name.strip()]
    if presets is not None and not names:
        raise SettingsError(f"--presets {presets!r} names no model; leave it out for the ladder of the goal")
    for name in names:
        preset(name)  # a misspelt last name is told before the first model is trained
    asked = Request(**options)
    goal, images = goal_asked(asked), images_asked(settings_asked(asked))
    if images and goal not in IMAGE_LADDERS:
        raise SettingsError(f"images are for --goal {', '.join(IMAGE_LADDERS)}, and the goal is {goal}")
    usual = IMAGE_LADDERS[goal] if images else goal_named(goal).ladder
    names = names or list(usual)
    for name in names:
        if why := _misfit(settings_asked(replace(asked, preset=name)).get("model", {}), goal, images):
            raise SettingsError(f"preset {name!r} {why}; choose others, such as {', '.join(usual)}")
    request = _with_budget(asked)
    folder = request.out or str(Path("runs") / f"{request.stem}-ladder")
    again = ["seq2see", *sys.argv[1:]]
    found = climb_and_write(replace(request, out=folder), names, seeds, again)
    if as_json:
        answer(asdict(found))
        return
    show(found)
    say(f"the figure is {Path(folder) / 'ladder.png'}, the runs are beside it")


def climb_and_write(
    request: Request, presets: Sequence[str], seeds: Sequence[int], again: Sequence[str]
) -> Ladder:
    """Train, watched, and leave the table and the figure; `again` is the command that goes on."""
    assert request.out is not None
    found = climb(request, presets, seeds, lambda asked: watched(asked, again), say)
    try:
        found.write(Path(request.out))
    except OSError as error:
        raise RunError(
            f"{request.out} cannot be written: {error.strerror}; name another place with --out"
        ) from None
    return found


def show(found: Ladder, title: str | None = None) -> None:
    """Print the table."""
    shown = table(title or found.data, found.columns(), found.rows(), found.columns()[1:])
    shown.collapse_padding, shown.pad_edge = True, False  # many columns, and a terminal may be narrow
    results.print(shown)
    results.print(found.caption())


def _misfit(model: dict[str, Any], goal: str, images: bool) -> str | None:
    """Why a model cannot be trained, as far as images are concerned."""
    front = FRONTS.get(model.get("front", {}).get("kind", "tokens"))
    if front is not None and issubclass(front.settings, ImageFrontSettings) != images:
        return (
            "reads texts, and the sources are images" if images else "reads images, and the sources are texts"
        )
    if images and (model.get("decoder") is not None) != (goal == "generate"):
        what = "has no decoder" if goal == "generate" else "writes captions"
        return f"{what}, and the goal is {goal}"
    return None


def _with_budget(request: Request) -> Request:
    """A built-in task has no end, so its budget is time: the same for all, whatever a step costs each."""
    if not is_task(request.data) or request.max_steps or request.max_minutes or request.max_tokens:
        return request
    say(f"budget: {TASK_MINUTES:.0f} minutes for each model (--max-minutes, --max-steps, --max-tokens)")
    return replace(request, max_minutes=TASK_MINUTES, max_steps=TASK_STEPS)
