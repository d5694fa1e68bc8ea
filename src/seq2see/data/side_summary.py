"""The texts of one side of a file: how long they are, what they are made of, and what another file lacks."""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Coverage", "JoinedTexts", "SideSummary", "TextSide"]

_MOST_WORDS = 5000
_RAREST = 10
_UNSEEN = 20
_SPACE = ord(" ")
_WHITE = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class SideSummary:
    """How long the texts of one side are, and what they are made of."""

    mean: float
    median: float
    longest: int
    mean_words: float
    longest_words: int
    symbols: int
    """Distinct characters."""
    rarest: list[tuple[str, int]]
    """The rarest characters with their counts: often typing errors."""
    words: int | None
    """Distinct words between spaces (of features: between their separators); None if there are too many."""

    @property
    def listed(self) -> bool:
        """Whether the side looks like short symbols with spaces between, as phonemes are written."""
        letters = self.mean - (self.mean_words - 1)
        return self.words is not None and self.mean_words >= 2 and letters <= 3 * self.mean_words


@dataclass(frozen=True)
class Coverage:
    """How much of one side of a dev file is made of what the training file has."""

    share: float
    """Of the characters, each counted as often as it occurs."""
    unseen: list[tuple[str, int]]
    """The most frequent characters that training never shows."""
    unseen_words: list[tuple[str, int]] | None
    """The same for symbols between spaces and for features; None for running text."""


class TextSide:
    """What is gathered about one side while the pairs go by."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.characters = np.zeros(128, np.int64)  # how often each code point occurs
        self.words: Counter[str] | None = Counter()
        self._lengths = array("i")
        self._word_counts = array("i")

    @property
    def lengths(self) -> Numbers:
        """Characters of each text."""
        return np.frombuffer(self._lengths, np.int32)

    @property
    def word_counts(self) -> Numbers:
        """Words of each text."""
        return np.frombuffer(self._word_counts, np.int32)

    def add(self, texts: Sequence[str]) -> "JoinedTexts":
        """Count what some texts are made of."""
        joined = JoinedTexts(texts)
        counts = np.bincount(joined.codes, minlength=len(self.characters))
        counts[_SPACE] -= len(texts) + 1  # those that only join
        counts[: len(self.characters)] += self.characters
        self.characters = counts
        self._lengths.frombytes(joined.lengths.tobytes())
        self._word_counts.frombytes(joined.word_counts().tobytes())
        if self.words is not None:
            self.words.update(joined.text.split(" "))
            del self.words[""]
            if len(self.words) > _MOST_WORDS:
                self.words = None
        return joined

    def summary(self) -> SideSummary | None:
        """The side as a whole; None if it has no texts."""
        if not self._lengths:
            return None
        used = np.flatnonzero(self.characters)
        rarest = used[np.argsort(self.characters[used], kind="stable")[:_RAREST]]
        return SideSummary(
            mean=float(self.lengths.mean()),
            median=float(np.median(self.lengths)),
            longest=int(self.lengths.max()),
            mean_words=float(self.word_counts.mean()),
            longest_words=int(self.word_counts.max()),
            symbols=len(used),
            rarest=[(chr(code), int(self.characters[code])) for code in rarest],
            words=None if self.words is None else len(self.words),
        )

    def coverage(self, training: "TextSide", by_words: bool) -> Coverage:
        """How much of this side the training side covers."""
        counts = self.characters.copy()
        both = min(len(counts), len(training.characters))
        counts[:both][training.characters[:both] > 0] = 0
        total, missing = int(self.characters.sum()), int(counts.sum())
        unseen = {chr(code): int(counts[code]) for code in np.flatnonzero(counts)}
        words = None
        if by_words and self.words is not None and training.words is not None:
            known = training.words
            words = _top({word: count for word, count in self.words.items() if word not in known})
        return Coverage(1 - missing / max(total, 1), _top(unseen), words)


class JoinedTexts:
    """Many texts as one array of code points, with a space before, between and after them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.text = f" {' '.join(texts)} "
        # JSON can hold halves of surrogate pairs, which strict encoding refuses.
        self.codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)
        self.lengths = np.fromiter(map(len, texts), np.int32, len(texts))
        self._blank = self.codes == _SPACE
        self._ends = np.cumsum(self.lengths + 1, dtype=np.int64)  # where the space after each text stands
        self._starts = self._ends - self.lengths

    def word_counts(self) -> Numbers:
        """Words between spaces in each text."""
        begins = ~self._blank
        begins[1:] &= self._blank[:-1]
        return np.add.reduceat(begins, self._starts, dtype=np.int32)

    def spaced(self) -> set[int]:
        """The texts with white space at an end, or with two spaces in a row."""
        ends = np.isin(self.codes[self._starts], _WHITE) | np.isin(self.codes[self._ends - 1], _WHITE)
        double = np.flatnonzero(self._blank[1:] & self._blank[:-1]) + 1
        return {*np.flatnonzero(ends).tolist(), *np.searchsorted(self._ends, double).tolist()}

    def not_normalised(self) -> set[int]:
        """The texts that are not in Unicode's composed form."""
        if unicodedata.is_normalized("NFC", self.text):
            return set()
        return {row for row, text in enumerate(self.texts) if not unicodedata.is_normalized("NFC", text)}


def _top(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_UNSEEN]
