"""The verb `train`."""

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from seq2see.cli.console import answer, errors, say
from seq2see.cli.progress import LiveReport
from seq2see.evaluation import METRICS
from seq2see.training import PlainReport
from seq2see.training.report import shown
from seq2see.workflow import Request, Trained
from seq2see.workflow import train as run_training

__all__ = ["train", "watched"]


def train(options: dict[str, Any], as_json: bool) -> None:
    """Train, and say what to do next."""
    trained = watched(Request(**options))
    best, seconds = trained.progress.best or {}, trained.progress.seconds
    if as_json:
        step = trained.progress.step
        floor = {"name": trained.floor.name, **trained.floor.scores} if trained.floor is not None else None
        took = {"step": step, "seconds": round(seconds, 1)}
        answer({"run": str(trained.folder), **took, "dev": best, "floor": floor})
        return
    scores = ", ".join(f"{name} {shown(name, value)}" for name, value in best.items())
    time = f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.1f} minutes"
    lines = [f"done in {time}; best on the dev set: {scores}", *_confidence(trained), *_floor(trained)]
    say(
        "\n".join(
            [
                *lines,
                f"the run is in {trained.folder}; try:",
                f"  seq2see evaluate {trained.folder} FILE",
                f"  seq2see predict {trained.folder} FILE",
                *([f"  seq2see explore {trained.folder}"] if trained.model.attributions else []),
            ]
        )
    )


def _floor(trained: Trained) -> list[str]:
    """How the model stands beside what a few lines of code reach on the same examples."""
    if trained.floor is None:
        return []
    name, below = next(iter(trained.floor.scores.items()))
    own = (trained.progress.best or {}).get(name)
    if own is None:
        return []
    lines = [f"a floor: {trained.floor.name}, a few lines of code, has {name} {shown(name, below)} there"]
    if (own - below) * METRICS[name].direction < 0:
        lines.append("beware: the model does not reach it; more steps, more data or another model is needed")
    return lines


def _confidence(trained: Trained) -> list[str]:
    """What held-out examples told of how sure the answers are."""
    found = trained.model.run.calibration
    if "temperature" in found:
        before, after = found["ece_before"], found["ece_after"]
        fitted = f"temperature {found['temperature']:.2f} fitted there"
        return [f"confidence: {fitted}, calibration error {before:.1f} before and {after:.1f} after"]
    if "interval" in found:
        share = f"{found['interval_share']:.0%} of the answers there"
        return [f"intervals: {share} lie within {found['interval']:.4g} of the truth"]
    return []


def watched(request: Request, again: Sequence[str] = ()) -> Trained:
    """Train, live in a terminal and in plain lines elsewhere; an interruption ends the command.

    `again` is the command that goes on after an interruption, if it is not `train`.
    """
    if errors.is_terminal:
        with LiveReport(errors) as report:
            trained = run_training(request, report, say)
    else:
        trained = run_training(request, PlainReport(say), say)
    if trained.interrupted is not None:
        train = ["seq2see", "train", request.data, "--out", str(trained.folder), "--resume"]
        resume = shlex.join(again or train)
        say(f"stopped at step {trained.progress.step:,}; all is saved. Go on with:\n  {resume}")
        sys.exit(128 + trained.interrupted)
    return trained
