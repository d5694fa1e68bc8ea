"""Labels: one for each example, or several."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Self

import numpy as np
import torch

from seq2see.data.columns.contract import Array, Stored
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.data.values import split_labels
from seq2see.errors import DataError
from seq2see.settings import near

__all__ = ["LabelSets", "Labels", "labels_in"]

_MOST = 10_000
_UNSEEN = -1
"""Stands for a label that training never showed."""


def labels_in(counts: Counter[str], what: str) -> list[str]:
    """Labels in a fixed order; too few or too many are refused."""
    if len(counts) < 2:
        has = f"only one distinct value, {next(iter(counts))!r}" if counts else "no value"
        raise DataError(f"the {what} has {has}, so there is nothing to tell apart; is it the right column?")
    if len(counts) > _MOST:
        raise DataError(
            f"the {what} has {len(counts):,} distinct values; at most {_MOST:,} can be told apart. "
            "Texts are written with --goal generate, numbers are guessed with --goal regress"
        )
    return sorted(counts)


class Labels:
    """One label for each example, as the number of a class."""

    limited = False
    dtype = "int32"
    vocabulary = None

    def __init__(self, labels: Sequence[str], counts: Sequence[int] | None = None) -> None:
        self.labels = list(labels)
        self.counts = list(counts) if counts is not None else [1] * len(self.labels)
        """How often training shows each label."""
        self._classes = {label: place for place, label in enumerate(self.labels)}

    @classmethod
    def learn(cls, examples: Iterable[Pair]) -> Self:
        """Collect the labels of examples."""
        return cls.counted(Counter(one.target.strip() for one in examples))

    @classmethod
    def counted(cls, counts: Counter[str]) -> Self:
        """Labels with their counts."""
        labels = labels_in(counts, "target column")
        return cls(labels, [counts[label] for label in labels])

    @classmethod
    def load(cls, stored: Stored) -> Self:
        """A column from what was kept of it."""
        return cls(stored["labels"], stored["counts"])

    def weights(self) -> list[float]:
        """What makes each label weigh alike, however rare it is; the mean over examples is 1."""
        total = sum(self.counts)
        return [total / (len(self.labels) * max(1, count)) for count in self.counts]

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        return [[self._classes.get(one.target.strip(), _UNSEEN)] for one in examples]

    def class_of(self, label: str, line: int) -> int:
        """The number of a label, which training must have shown."""
        if label not in self._classes:
            raise DataError(
                f"line {line}: the label {label!r} does not stand in the training file; "
                f"{near(label, self.labels)}"
            )
        return self._classes[label]

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        classes = torch.from_numpy(np.array(rows, np.int64).reshape(-1))
        known = classes != _UNSEEN
        return Side(classes.clamp(min=0), None if known.all() else known)

    def unknown(self, values: Array) -> int:
        return int((values == _UNSEEN).sum())

    def stored(self) -> Stored:
        return {"kind": "labels", "labels": self.labels, "counts": self.counts}


class LabelSets(Labels):
    """Any number of labels for each example, written with `|` between them."""

    @classmethod
    def learn(cls, examples: Iterable[Pair]) -> Self:
        """Collect the labels of examples."""
        return cls(
            labels_in(
                Counter(label for one in examples for label in split_labels(one.target)), "target column"
            )
        )

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        find = self._classes.get
        return [sorted({find(label, _UNSEEN) for label in split_labels(one.target)}) for one in examples]

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        chosen = torch.zeros(len(rows), len(self.labels))
        for row, classes in zip(chosen, rows, strict=True):
            known = np.asarray(classes, np.int64)
            row[torch.from_numpy(known[known != _UNSEEN])] = 1
        return Side(chosen)

    def stored(self) -> Stored:
        return {"kind": "label sets", "labels": self.labels, "counts": self.counts}
