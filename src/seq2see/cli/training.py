"""The verb `train`."""

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from seq2see.cli.console import answer, errors, say
from seq2see.cli.progress import LiveReport
from seq2see.training import PlainReport
from seq2see.workflow import Request, Trained
from seq2see.workflow import train as run_training

__all__ = ["train", "watched"]


def train(options: dict[str, Any], as_json: bool) -> None:
    """Train, and say what to do next."""
    trained = watched(Request(**options))
    best, seconds = trained.progress.best or {}, trained.progress.seconds
    if as_json:
        step = trained.progress.step
        answer({"run": str(trained.folder), "step": step, "seconds": round(seconds, 1), "dev": best})
        return
    scores = ", ".join(f"{name} {value:.2f}" for name, value in best.items())
    say(
        f"done in {seconds / 60:.1f} minutes; best on the dev set: {scores}\n"
        f"the run is in {trained.folder}; try:\n"
        f"  seq2see evaluate {trained.folder} FILE\n"
        f"  seq2see decode {trained.folder} FILE"
    )


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
