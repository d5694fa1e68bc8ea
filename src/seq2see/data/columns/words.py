"""Words as ids, and the letters of each of them."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from seq2see.data.columns.contract import Array, Stored, Vocabulary, fill, smallest
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.data.values import split_words, word_spans
from seq2see.text.special import STANDARD, Special

__all__ = ["Letters", "Words"]

_FIRST = 4
"""Ids below it are those of the special symbols."""
_LONGEST = 12
"""Letters of a word that are read: its first ones, and as many of its last."""


class Words:
    """Whole words, folded to lower case, as ids; rare ones share the unknown id."""

    limited = True
    special: Special = STANDARD

    def __init__(self, words: Sequence[str], counts: Sequence[int]) -> None:
        self.words = list(words)
        self.counts = [0] * _FIRST + list(counts)
        """How often training shows each id."""
        self._ids = {word: place for place, word in enumerate(self.words, _FIRST)}

    @classmethod
    def learn(cls, examples: Iterable[Pair], most: int, least: int) -> "Words":
        """The commonest words of examples that stand there often enough."""
        counts = Counter(word.lower() for one in examples for word in split_words(one.source))
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        kept = [(word, count) for word, count in ordered[:most] if count >= least]
        return cls([word for word, _ in kept], [count for _, count in kept])

    @classmethod
    def load(cls, stored: Stored) -> "Words":
        """A column from what was kept of it."""
        return cls(stored["words"], stored["counts"])

    @property
    def size(self) -> int:
        """How many ids there are."""
        return _FIRST + len(self.words)

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.size, self.special, self.counts)

    @property
    def dtype(self) -> str:
        return smallest(self.size)

    def spans(self, example: Pair) -> list[tuple[int, int] | None]:
        """Where each word stands in the text."""
        return list(word_spans(example.source))

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        find, unknown = self._ids.get, self.special.unknown
        return [[find(word.lower(), unknown) for word in split_words(one.source)] for one in examples]

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        return Side(*fill(rows, self.special.pad))

    def unknown(self, values: Array) -> int:
        return int((values == self.special.unknown).sum())

    def stored(self) -> Stored:
        return {"kind": "words", "words": self.words, "counts": self.counts[_FIRST:]}


class Letters:
    """The letters of every word, each word between a begin and an end symbol."""

    limited = False
    special: Special = STANDARD

    def __init__(self, letters: Sequence[str]) -> None:
        self.letters = list(letters)
        self._ids = {letter: place for place, letter in enumerate(self.letters, _FIRST)}

    @classmethod
    def learn(cls, examples: Iterable[Pair]) -> "Letters":
        """Every letter of the sources of examples."""
        return cls(sorted({letter for one in examples for letter in one.source if letter != " "}))

    @classmethod
    def load(cls, stored: Stored) -> "Letters":
        """A column from what was kept of it."""
        return cls(stored["letters"])

    @property
    def size(self) -> int:
        """How many ids there are."""
        return _FIRST + len(self.letters)

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.size, self.special)

    @property
    def dtype(self) -> str:
        return smallest(self.size)

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        find, special = self._ids.get, self.special
        rows = []
        for one in examples:
            row: list[int] = []
            for word in split_words(one.source):
                read = word if len(word) <= 2 * _LONGEST else word[:_LONGEST] + word[-_LONGEST:]
                row += [special.begin, *(find(letter, special.unknown) for letter in read), special.end]
            rows.append(row)
        return rows

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        """Letters of each word of each example, (B, S, L)."""
        split = [
            np.split(ids, np.flatnonzero(ids == self.special.begin)[1:]) for ids in map(np.asarray, rows)
        ]
        words = max(map(len, split), default=0)
        longest = max((len(word) for one in split for word in one), default=0)
        values = np.full((len(rows), words, longest), self.special.pad, np.int64)
        for row, example in zip(values, split, strict=True):
            for place, word in enumerate(example):
                row[place, : len(word)] = word
        letters = torch.from_numpy(values)
        return Side(letters, letters != self.special.pad)

    def unknown(self, values: Array) -> int:
        return int((values == self.special.unknown).sum())

    def stored(self) -> Stored:
        return {"kind": "letters", "letters": self.letters}
