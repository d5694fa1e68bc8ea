"""Tags: one for each word, in one or several columns."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from seq2see.data.columns.contract import Array, Stored
from seq2see.data.columns.label import labels_in
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.data.values import many, split_tags, split_words
from seq2see.errors import DataError

__all__ = ["Tags"]

_UNSEEN = -1
"""Stands for a tag that training never showed."""


class Tags:
    """For each word a tag of every column, (B, S, C)."""

    limited = False
    dtype = "int16"
    vocabulary = None

    def __init__(
        self, columns: Sequence[Sequence[str]], names: Sequence[str], known: Iterable[str] = ()
    ) -> None:
        self.columns, self.names = [list(tags) for tags in columns], list(names)
        self.known = frozenset(known)
        """Words that training shows."""
        self._classes = [{tag: place for place, tag in enumerate(tags)} for tags in self.columns]

    @classmethod
    def learn(cls, examples: Iterable[Pair], names: Sequence[str]) -> "Tags":
        """Collect the tags of examples; the columns have names."""
        counts: list[Counter[str]] = [Counter() for _ in names]
        known: set[str] = set()
        for one in examples:
            known.update(split_words(one.source))
            for column, tags in zip(counts, aligned(one, len(names)), strict=True):
                column.update(tags)
        named = zip(counts, names, strict=True)
        return cls([labels_in(column, f"column {name}") for column, name in named], names, known)

    @classmethod
    def load(cls, stored: Stored) -> "Tags":
        """A column from what was kept of it."""
        return cls(stored["columns"], stored["names"], stored["known"])

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        rows = []
        for one in examples:
            columns = aligned(one, len(self.columns))
            known = zip(self._classes, columns, strict=True)
            classes = [[ids.get(tag, _UNSEEN) for tag in tags] for ids, tags in known]
            rows.append([place for word in zip(*classes, strict=True) for place in word])
        return rows

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        count = len(self.columns)
        longest = max(map(len, rows), default=0) // count
        values = np.full((len(rows), longest, count), _UNSEEN, np.int64)
        for row, tags in zip(values, rows, strict=True):
            row[: len(tags) // count] = np.asarray(tags).reshape(-1, count)
        ids = torch.from_numpy(values)
        return Side(ids.clamp(min=0), ids != _UNSEEN)

    def unknown(self, values: Array) -> int:
        return int((values == _UNSEEN).sum())

    def stored(self) -> Stored:
        return {"kind": "tags", "columns": self.columns, "names": self.names, "known": sorted(self.known)}


def aligned(example: Pair, columns: int) -> list[list[str]]:
    """The tags of each column; there must be one for each word."""
    words, tags = split_words(example.source), split_tags(example.target)
    if len(tags) != columns:
        raise DataError(f"line {example.line} has {len(tags)} columns of tags, and {columns} are wanted")
    for column in tags:
        if len(column) != len(words):
            raise DataError(
                f"line {example.line} has {many(len(words), 'word')} and {many(len(column), 'tag')}; "
                "there must be one tag for each space-separated word"
            )
    return tags
