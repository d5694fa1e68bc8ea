"""Further columns of numbers and of a few distinct words, joined at a model's head."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from seq2see.data.columns.contract import Array, Stored
from seq2see.data.columns.number import number_of
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side

__all__ = ["Extras"]

_BINS = 16
_MOST = 100
"""Distinct words of a column that get a feature of their own."""


class Extras:
    """Numbers standardised and in bins, and each word of the other columns as a feature that is 0 or 1.

    A number also has a feature for each of 16 bins, which goes from 0 to 1 as the number passes through it
    (Gorishniy et al. 2022): so a linear layer can bend.
    """

    limited = False
    dtype = "float32"
    vocabulary = None

    def __init__(
        self,
        names: Sequence[str],
        numbers: Sequence[tuple[float, float]],
        bounds: Sequence[Sequence[float]],
        words: Sequence[Sequence[str]],
    ) -> None:
        self.bounds = [list(one) for one in bounds]
        self.names, self.numbers, self.words = (
            list(names),
            [tuple(one) for one in numbers],
            list(map(list, words)),
        )

    @classmethod
    def learn(cls, examples: Iterable[Pair], names: Sequence[str], numbers: int) -> "Extras":
        """Mean and deviation of the first so many columns, and the commonest words of the others."""
        values: list[list[float]] = []
        words: list[dict[str, int]] = [{} for _ in names[numbers:]]
        for one in examples:
            values.append(_numbers(one, names[:numbers]))
            for counts, word in zip(words, one.extras[numbers:], strict=True):
                counts[word.strip()] = counts.get(word.strip(), 0) + 1
        table = np.array(values).reshape(len(values), numbers)
        spreads = [(float(column.mean()), float(column.std()) or 1.0) for column in table.T]
        bounds = [
            sorted(set(np.quantile(column, np.linspace(0, 1, _BINS + 1)).tolist())) for column in table.T
        ]
        common = [sorted(counts, key=lambda word: (-counts[word], word))[:_MOST] for counts in words]
        return cls(names, spreads, bounds, common)

    @classmethod
    def load(cls, stored: Stored) -> "Extras":
        """A column from what was kept of it."""
        return cls(stored["names"], stored["numbers"], stored["bounds"], stored["words"])

    @property
    def width(self) -> int:
        """How many features there are."""
        bins = sum(max(0, len(bounds) - 1) for bounds in self.bounds)
        return len(self.numbers) + bins + sum(map(len, self.words))

    def usual(self) -> tuple[str, ...]:
        """The mean of each column of numbers, and the commonest word of each other column."""
        return (*(repr(mean) for mean, _ in self.numbers), *(words[0] for words in self.words))

    def encode(self, examples: Sequence[Pair]) -> list[list[float]]:
        return [self._row(one) for one in examples]

    def _row(self, example: Pair) -> list[float]:
        count = len(self.numbers)
        values = _numbers(example, self.names[:count])
        row = [(value - mean) / spread for value, (mean, spread) in zip(values, self.numbers, strict=True)]
        for value, bounds in zip(values, self.bounds, strict=True):
            bins = itertools.pairwise(bounds)
            row += [2 * min(1.0, max(0.0, (value - low) / (high - low))) - 1 for low, high in bins]
        for known, word in zip(self.words, example.extras[count:], strict=True):
            row += [float(word.strip() == one) for one in known]
        return row

    def collate(self, rows: Sequence[Sequence[float] | Array]) -> Side:
        return Side(torch.from_numpy(np.array(rows, np.float32).reshape(len(rows), self.width)))

    def unknown(self, values: Array) -> int:
        return 0

    def stored(self) -> Stored:
        return {
            "kind": "extras",
            "names": self.names,
            "numbers": self.numbers,
            "bounds": self.bounds,
            "words": self.words,
        }


def _numbers(example: Pair, names: Sequence[str]) -> list[float]:
    return [
        number_of(text, example.line, f"the number in column {name!r}")
        for name, text in zip(names, example.extras, strict=False)
    ]
