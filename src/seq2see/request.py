"""What a user asks of training: which file, which goal, which model, and where the run goes."""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import chain, count
from pathlib import Path
from typing import Any

from seq2see.corpus import goal_of
from seq2see.data.image_sets import is_image_set
from seq2see.data.pairs import columns_of, refuse_repeats
from seq2see.data.tasks import Task, is_task, task_settings
from seq2see.errors import RunError, SettingsError
from seq2see.files import sweep
from seq2see.locks import try_hold
from seq2see.recipe import Parts, compose_parts, preset, presets
from seq2see.settings import merge, override, read_yaml

__all__ = [
    "COLUMNS",
    "Request",
    "compose_asked",
    "given_settings",
    "goal_asked",
    "goal_for",
    "not_begun",
    "refuse_decoder",
    "settings_asked",
    "writing",
]

COLUMNS = ("source", "target", "features", "numbers", "categories")
"""The columns of a file that can be named."""


@dataclass(frozen=True)
class Request:
    """What a user asks of training; what is left open is chosen by looking at the data."""

    data: str
    dev: str | None = None
    out: str | None = None
    preset: str | None = None
    recipe: str | None = None
    settings: Sequence[str] = ()
    seed: int | None = None
    max_steps: int | None = None
    max_minutes: float | None = None
    max_tokens: int | None = None
    source: str | None = None
    target: str | None = None
    features: str | None = None
    images: str | None = None
    """Where the images lie that a table names."""
    numbers: str | None = None
    categories: str | None = None
    goal: str | None = None
    by: str | None = None
    device: str | None = None
    resume: bool = False
    start: str | None = None
    """A run to begin with: its vocabularies, parts and weights are taken over as far as they fit."""

    @property
    def stem(self) -> str:
        """The name of the task, or that of the file without its folder and endings."""
        if is_task(self.data):
            return Task.parse(self.data).kind
        if self.data == "-":
            return "standard-input"
        return Path(self.data.split(",")[0]).name.lstrip(".").split(".")[0] or "pairs"

    @contextmanager
    def claimed(self) -> Iterator[Path]:
        """The folder of the run, which no other process may train in until the end of the block.

        It is the one that was asked for, or a new one under `runs/` named after the file or task.
        """
        folder = self._named()
        with ExitStack() as stack:
            if folder is None:
                names = chain([self.stem], (f"{self.stem}-{number}" for number in count(2)))
                folder = next(place for name in names if _claim_new(place := Path("runs") / name, stack))
            elif not _claim(folder, stack):
                raise RunError(
                    f"another process is training in {folder}; wait for its end, "
                    "or name another place with --out"
                )
            for place in (folder, folder / "state", folder / "tokenizers"):
                sweep(place)
            yield folder

    def _named(self) -> Path | None:
        """The folder that was asked for, if one was."""
        if self.out is not None:
            return Path(self.out)
        stem = self.stem
        if self.resume:
            own = re.compile(rf"{re.escape(stem)}(-\d+)?")
            started = [
                path.parent for path in Path("runs").glob("*/recipe.yaml") if own.fullmatch(path.parent.name)
            ]
            if started:
                return max(started, key=lambda path: (path / "recipe.yaml").stat().st_mtime)
        return None

    def wishes(self, folder: Path) -> dict[str, Any]:
        """All that was asked for by name, which stands over any preset or choice."""
        asked = {name: getattr(self, name) for name in COLUMNS}
        columns = columns_of(**asked)
        refuse_repeats(columns)
        named: dict[str, Any] = {
            name: getattr(columns, name) for name, text in asked.items() if text is not None
        }
        train = str(folder.absolute() / "pairs.tsv") if self.data == "-" else _absolute(self.data)
        if self.images is not None:
            named["images"] = _absolute(self.images)
        elif not is_task(train) and is_image_set(train):
            named["images"] = train
        named |= {"by": self.by} if self.by is not None else {}
        named |= {"train": train, **({"dev": _absolute(self.dev)} if self.dev else {})}
        options = {
            "steps": self.max_steps,
            "minutes": self.max_minutes,
            "tokens": self.max_tokens,
            "device": self.device,
        }
        training = {name: value for name, value in options.items() if value is not None}
        top: dict[str, Any] = {
            name: value for name in ("seed", "goal") if (value := getattr(self, name)) is not None
        }
        if self.start is not None:
            top["start"] = {"run": _absolute(self.start)}
        return merge(override(self.settings), {"data": named, "training": training, **top})


def goal_asked(request: Request) -> str:
    """The goal that a request will have: the one that it names, or that the data look like."""
    layers = _layers(request)
    return goal_for(reduce(merge, layers), compose_asked(layers, request.recipe or "recipe"))[0]


def settings_asked(request: Request) -> dict[str, Any]:
    """All settings that a request has before any is chosen."""
    return reduce(merge, _layers(request))


def _layers(request: Request) -> list[dict[str, Any]]:
    named, given = given_settings(request)
    return [task_settings(request.data), named, given, request.wishes(Path())]


def compose_asked(layers: Sequence[dict[str, Any]], origin: str) -> Parts:
    """Settings before any is chosen; those of parts are for images, where sources are some."""
    images = reduce(merge, layers).get("data", {}).get("images") is not None
    kinds = {"front": "stem", "encoder": "resnet", "decoder": "recurrent"} if images else {}
    parts = {"model": {part: {"kind": kind} for part, kind in kinds.items()}}
    return compose_parts([parts, *layers], origin)


def goal_for(values: dict[str, Any], asked: Parts) -> tuple[str, str]:
    """The goal as it was asked for, or the one that the data look like, with the reason."""
    if "goal" in values:
        return str(values["goal"]), ""
    return goal_of(asked.data)


def given_settings(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a preset and of a recipe file, as far as they are named."""
    named = preset(request.preset) if request.preset is not None else {}
    return named, read_yaml(Path(request.recipe)) if request.recipe is not None else {}


def refuse_decoder(request: Request, asked: dict[str, Any], fixed: dict[str, Any], goal: str) -> None:
    """Refuse a decoder for a goal that has none."""
    decoder = asked.get("model", {}).get("decoder")
    if decoder is None or "decoder" not in fixed.get("model", {}):
        return
    what = f"preset {request.preset!r}" if request.preset is not None else "model.decoder"
    readers = ", ".join(name for name in presets() if preset(name)["model"].get("decoder") is None)
    raise SettingsError(
        f"{what} is for --goal generate, which writes with a decoder, and the goal is {goal}; "
        f"leave it out, or choose a preset that reads: {readers}"
    )


LOCK = ".lock"
"""Held by the process that trains in a run directory."""


def not_begun(folder: Path) -> bool:
    """Whether a folder holds nothing yet but its lock."""
    return all(path.name == LOCK for path in folder.iterdir())


def _claim_new(folder: Path, stack: ExitStack) -> bool:
    """The same for a folder that nobody has begun to use."""
    if folder.exists() and not (folder.is_dir() and not_begun(folder)):
        return False
    with ExitStack() as trial:
        if _claim(folder, trial) and not_begun(folder):
            stack.push(trial.pop_all())
            return True
    return False


def _claim(folder: Path, stack: ExitStack) -> bool:
    """Make a folder if it is not there, and hold its lock until the stack is left."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        return stack.enter_context(try_hold(folder / LOCK))


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error.strerror or error}; name another place with --out"
        ) from None


def _absolute(name: str) -> str:
    if is_task(name):
        return name
    if Path(name).exists() or "," not in name:
        return str(Path(name).absolute())
    return ",".join(str(Path(part).absolute()) for part in name.split(","))
