"""What a model that writes takes and gives, and what of it is counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from seq2see.data import Pair
from seq2see.notebook import Printed

__all__ = ["COUNTED", "NO_OUTPUT", "By", "Output", "Source", "counted_by"]

By = Literal["line", "source"]
"""What is scored once: each line, or each distinct source with all of its targets as references."""
COUNTED: dict[str, str] = {
    "line": "each line counts",
    "source": "each distinct source counts once, any of its targets is right",
}
"""The same in words."""


@dataclass(frozen=True)
class Source:
    """What is to be decoded."""

    text: str
    features: str = ""

    @property
    def blank(self) -> bool:
        """Whether there is nothing to decode."""
        return not self.text.strip() and not self.features


@dataclass(frozen=True, repr=False)
class Output(Printed):
    """A decoded text with its log-probability and the score it was ranked by (NaN where not asked for)."""

    text: str
    ids: tuple[int, ...]
    log_probability: float
    score: float
    cut: bool
    """Whether it ran into the length limit."""

    def __repr__(self) -> str:
        cut = ", cut at the length limit" if self.cut else ""
        return f"<{self.text!r}: log-probability {self.log_probability:.2f}, {len(self.ids)} tokens{cut}>"


NO_OUTPUT = Output("", (), 0.0, 0.0, False)
"""Stands for a line with nothing to answer, so that lines stay aligned."""


def counted_by(examples: Sequence[Pair]) -> By:
    """Whether a file looks like running text, where a line counts, or like a dictionary.

    In running text, a source that comes again mostly comes with the same target; in a dictionary it comes
    again because it has another one.
    """
    pairs = {(one.source, one.features, one.into, one.target) for one in examples}
    sources = {(source, features, into) for source, features, into, _ in pairs}
    return "line" if 2 * (len(examples) - len(pairs)) > len(examples) - len(sources) else "source"
