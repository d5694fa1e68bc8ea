"""The verb `train`."""

import shlex
import signal
import sys
from typing import Any

from seq2see.cli.console import answer, errors
from seq2see.cli.progress import LiveReport
from seq2see.training import PlainReport
from seq2see.workflow import Request, Trained
from seq2see.workflow import train as run_training

__all__ = ["train", "watched"]


def train(options: dict[str, Any], as_json: bool) -> None:
    """Train, and say what to do next."""
    trained = watched(Request(**options))
    best = trained.progress.best or {}
    if not trained.progress.finished:
        resume = shlex.join(["seq2see", "train", options["data"], "--out", str(trained.folder), "--resume"])
        errors.print(
            f"stopped at step {trained.progress.step:,}; all is saved. Go on with:\n  {resume}",
            markup=False,
            soft_wrap=True,
        )
        sys.exit(128 + signal.SIGINT)
    if as_json:
        answer(
            {
                "run": str(trained.folder),
                "step": trained.progress.step,
                "seconds": round(trained.progress.seconds, 1),
                "dev": best,
            }
        )
        return
    scores = ", ".join(f"{name} {value:.2f}" for name, value in best.items())
    errors.print(
        f"done in {trained.progress.seconds / 60:.1f} minutes; best on the dev set: {scores}\n"
        f"the run is in {trained.folder}; try:\n"
        f"  seq2see evaluate {trained.folder} FILE\n"
        f"  seq2see decode {trained.folder} FILE",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def watched(request: Request) -> Trained:
    """Train with a live display in a terminal, with plain lines elsewhere."""

    def tell(text: str) -> None:
        errors.print(text, markup=False, highlight=False, soft_wrap=True)

    if errors.is_terminal:
        with LiveReport(errors) as report:
            return run_training(request, report, tell)
    return run_training(request, PlainReport(tell), tell)
