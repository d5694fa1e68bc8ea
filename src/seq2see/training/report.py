"""What training tells while it goes on."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Protocol

from seq2see.evaluation import METRICS

__all__ = ["Look", "PlainReport", "Report", "Step", "Unbroken", "describe", "shown"]


@dataclass(frozen=True)
class Step:
    """One update of the weights."""

    step: int
    steps: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    tokens: int
    tokens_per_second: float
    seconds: float
    share: float
    """How much of the budget of steps, time or tokens is spent."""
    unit: str = "tokens"
    """What is counted as tokens: `examples` where an answer has no tokens."""

    def numbers(self) -> dict[str, float]:
        """All of it for a log."""
        return {name: value for name, value in asdict(self).items() if name != "unit"}

    @property
    def speed(self) -> str:
        """Words for a line."""
        return f"{self.tokens_per_second:,.0f} {self.unit}/s"


@dataclass(frozen=True)
class Look:
    """One look at the dev set."""

    step: int
    scores: dict[str, float]
    metric: str
    best: bool


class Report(Protocol):
    """Somebody who is told."""

    def step(self, step: Step) -> None:
        """After every update."""

    def look(self, look: Look) -> None:
        """After every look at the dev set."""

    def note(self, text: str) -> None:
        """Anything else worth a line."""


class PlainReport:
    """Lines of text, at most one every few seconds: for logs, pipes and notebooks."""

    def __init__(self, write: Callable[[str], None], every: float = 10.0) -> None:
        self._write = write
        self._every = every
        self._last = -every
        self._first: Step | None = None

    def step(self, step: Step) -> None:
        # What a run that goes on took before says little: the machine may have slept, or been another.
        self._first = self._first or step
        if step.seconds - self._last >= self._every:
            self._last = step.seconds
            share, seconds = step.share - self._first.share, step.seconds - self._first.seconds
            pace = seconds / share if share > 0 else step.seconds / step.share
            left = max(0.0, 1 - step.share) * pace
            self._write(
                f"step {step.step}/{step.steps}  loss {step.loss:.3f}  "
                f"{step.speed}  about {_clock(left)} left"
            )

    def look(self, look: Look) -> None:
        self._write(f"step {look.step}  dev {describe(look)}")

    def note(self, text: str) -> None:
        self._write(text)


class Unbroken:
    """Tells another report; what cannot be told any more is no reason to stop training.

    A pipe may be closed at its other end and a terminal may be gone. A signal's handler may also interrupt
    the very writing that it then tries to do (`RuntimeError`).
    """

    def __init__(self, report: Report) -> None:
        self._report = report

    def step(self, step: Step) -> None:
        with suppress(*_UNTOLD):
            self._report.step(step)

    def look(self, look: Look) -> None:
        with suppress(*_UNTOLD):
            self._report.look(look)

    def note(self, text: str) -> None:
        with suppress(*_UNTOLD):
            self._report.note(text)


_UNTOLD = (OSError, ValueError, RuntimeError)


def describe(look: Look) -> str:
    """The scores of a look in one line."""
    scores = "  ".join(f"{name} {shown(name, value)}" for name, value in look.scores.items())
    return f"{scores}{'  (best so far)' if look.best else ''}"


def shown(name: str, value: float) -> str:
    """A score with as many digits as say something: percents have one, anything else three."""
    metric = METRICS.get(name)
    return f"{value:.1f}" if metric is not None and metric.unit == "%" else f"{value:.3f}"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
