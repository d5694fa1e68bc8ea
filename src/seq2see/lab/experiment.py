"""What an experiment is: a claim, a way to measure it once with one seed, and when it holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from seq2see.lab.panels import Panel

__all__ = ["Experiment", "Measured", "Row", "Size", "Trial", "silent"]

Size = Literal["tiny", "quick", "full"]
"""How much is done: enough to see that it works, enough to see the effect, enough for a figure."""

Row = Mapping[str, str | int | float]
"""One measurement: what was varied, and what was seen."""

T = TypeVar("T")


def silent(_: str) -> None:
    """Tell nobody; a name of its own, unlike a lambda, can go to another process."""


@dataclass(frozen=True)
class Trial:
    """One repetition of an experiment."""

    seed: int
    size: Size
    folder: Path
    """A place for runs that are trained on the way; what is finished there is not done again."""
    control: bool = False
    """The cause that the claim names is taken away, so the claim should fail."""
    tell: Callable[[str], None] = silent

    def pick(self, tiny: T, quick: T, full: T) -> T:
        """The value for this size."""
        return {"tiny": tiny, "quick": quick, "full": full}[self.size]


@dataclass(frozen=True)
class Measured:
    """What one repetition gave: the effect that the claim is about, and all that was seen."""

    effect: float
    rows: Sequence[Row]


@dataclass(frozen=True)
class Experiment:
    """A claim of the lectures, and how it is put to the test."""

    name: str
    claim: str
    where: str
    """The lecture and the page or slide that says so."""
    effect: str
    """What the effect is, in words; the more of it, the more the claim holds."""
    wanted: float
    """The claim holds if the effect is surely above this."""
    measure: Callable[[Trial], Measured]
    keys: tuple[str, ...]
    """The columns of a row that say what was varied; the others were measured."""
    panels: tuple[Panel, ...]
    cause: str
    """What `control` takes away."""
    remarks: Callable[[Sequence[Row]], list[str]] = field(default=lambda _: [])
    """Sentences about what was seen beside the claim, such as a condition that it needs."""
    timed: frozenset[str] = frozenset()
    """Measured columns that depend on the machine, and so do not repeat exactly."""
    as_text: Callable[[Sequence[Row]], str] | None = None
    """What a terminal shows instead of the table, where that reads better."""
    page: Callable[[], str] | None = None
    """An HTML file to try the claim with one's own numbers."""
