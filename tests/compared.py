"""Runs compared number by number."""

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

from seq2see.models.weights import read_tensors
from seq2see.training import Checkpoints
from seq2see.training.log import read_log
from seq2see.training.report import Look, Step


class Killed(BaseException):
    """A stand-in for SIGKILL inside one process: nothing may catch it."""


class Killer:
    """Ends training right after a step, without a word to anyone."""

    def __init__(self, at: int | None = None) -> None:
        self._at = at

    def step(self, step: Step) -> None:
        if step.step == self._at:
            raise Killed

    def look(self, look: Look) -> None: ...

    def note(self, text: str) -> None: ...


def die_at(patch: pytest.MonkeyPatch, owner: type, name: str, call: int) -> None:
    """Let a method raise at one of its calls, counted from 1."""
    real, count = getattr(owner, name), itertools.count(1)

    def dies(*values: Any) -> Any:
        if next(count) == call:
            raise Killed
        return real(*values)

    patch.setattr(owner, name, dies)


def numbers(out: Path) -> dict[str, torch.Tensor]:
    """All that a run has at its end: best weights, last weights, optimiser, random state."""
    checkpoints = Checkpoints(out)
    best = {f"best.{name}": value for name, value in read_tensors(checkpoints.weights)[0].items()}
    return best | read_tensors(checkpoints.state)[0]


def same(one: Path, other: Path) -> bool:
    """Whether two runs ended with the same numbers, bit for bit."""
    left, right = numbers(one), numbers(other)
    return left.keys() == right.keys() and all(left[name].equal(right[name]) for name in left)


def steps_of(out: Path) -> list[dict[str, float]]:
    """What the log says of every step."""
    return [record for record in read_log(out / "metrics.jsonl") if "loss" in record]
