"""A number for each example, standardised inside."""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from seq2see.data.columns.contract import Array, Stored
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.data.values import parse_number
from seq2see.errors import DataError

__all__ = ["Number", "number_of"]


def number_of(text: str, line: int, what: str) -> float:
    """A number that must be one."""
    value = parse_number(text)
    if value is None:
        comma = "; write decimals with a point" if "," in text else ""
        raise DataError(f"line {line}: {what} {text.strip()[:60]!r} is not a number{comma}")
    return value


class Number:
    """The target as a number; the network sees it with mean 0 and deviation 1."""

    limited = False
    dtype = "float32"
    vocabulary = None

    def __init__(self, mean: float, deviation: float) -> None:
        self.mean, self.deviation = mean, deviation

    @classmethod
    def learn(cls, examples: Iterable[Pair]) -> "Number":
        """Mean and deviation of the targets of examples."""
        values = np.array([number_of(one.target, one.line, "the target") for one in examples])
        if len(values) and values.min() == values.max():
            raise DataError(f"every target is {values[0]:g}, and there is nothing to predict")
        return cls(float(values.mean()), float(values.std()))

    @classmethod
    def load(cls, stored: Stored) -> "Number":
        """A column from what was kept of it."""
        return cls(stored["mean"], stored["deviation"])

    def encode(self, examples: Sequence[Pair]) -> list[list[float]]:
        return [
            [(number_of(one.target, one.line, "the target") - self.mean) / self.deviation] for one in examples
        ]

    def collate(self, rows: Sequence[Sequence[float] | Array]) -> Side:
        return Side(torch.from_numpy(np.array(rows, np.float32).reshape(-1)))

    def unknown(self, values: Array) -> int:
        return 0

    def stored(self) -> Stored:
        return {"kind": "number", "mean": self.mean, "deviation": self.deviation}
