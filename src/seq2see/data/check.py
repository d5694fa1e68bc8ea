"""What is odd in files of pairs: lines that cannot be used, repeats, leaks, misalignments, rare symbols."""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
import numpy.typing as npt

from seq2see.data.lines import open_bytes
from seq2see.data.pairs import Check, Columns, Pair, PairFile, Problem

__all__ = ["Coverage", "FileCheck", "SideSummary", "check"]

_KEPT = 1000
"""Problems of one kind that are listed; all are counted."""
_MOST_WORDS = 5000
_RAREST = 10
_UNSEEN = 20

_CHUNK_PAIRS = 4096
_CHUNK_CHARACTERS = 1 << 20

_LEAST_PAIRS = 20
"""Fewer pairs do not tell what length is usual."""
_LEAST_FACTOR = 3.0
_DEVIATIONS = 6.0
_LEAST_DIFFERENCE = {"characters": 10, "symbols": 10, "words": 4}
"""A pair is out of proportion beyond a factor, beyond the corpus's own spread, and by so many units."""
_RARE = 0.05

_SPACE = ord(" ")
_WHITE = np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)
_FEATURE_SEPARATORS = str.maketrans(";,|\t", "    ")

_Numbers = npt.NDArray[Any]


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


@dataclass(frozen=True)
class FileCheck:
    """All that was found in one file."""

    name: str
    lines: int
    pairs: int
    problems: list[Problem]
    """In order of lines, the first thousand of each kind."""
    counts: dict[str, int]
    """How often each kind occurs in the whole file."""
    source: SideSummary | None
    target: SideSummary | None
    features: SideSummary | None
    coverage: dict[str, Coverage]
    """For each side of a dev file; empty for the training file."""

    @property
    def unusable(self) -> int:
        """How many lines training would refuse."""
        return sum(self.counts[kind] for kind in {item.kind for item in self.problems if item.fatal})


Odd = Callable[[Sequence[Pair]], list[Problem]]
"""What is odd about all the examples of a file together, by what is to be made of them."""


def check(
    names: Sequence[str], columns: Columns, problem: Check | None = None, odd: Odd | None = None
) -> list[FileCheck]:
    """Look through files of pairs; the first is the training data, the others are dev or test data.

    `problem` finds what is wrong with one example, and `odd` with all of a file together.
    """
    files = [PairFile(name, columns, training=not place, check=problem) for place, name in enumerate(names)]
    for path in (path for file in files for path in file.paths):
        # A misspelt last name is told before the first file is read; pipes are opened only once.
        if path.is_dir() or not path.exists():
            open_bytes(path)
    checks: list[FileCheck] = []
    training: _Contents | None = None
    for file in files:
        contents = _Contents(file, odd)
        checks.append(contents.finish(training))
        training = training or contents
    return checks


class _Tally:
    """Problems by kind: all counted, the first ones kept."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._kept: dict[str, list[Problem]] = {}

    def add(self, problem: Problem) -> None:
        self.counts[problem.kind] += 1
        kept = self._kept.setdefault(problem.kind, [])
        if len(kept) < _KEPT:
            kept.append(problem)

    def add_many(self, kind: str, lines: _Numbers, detail: Callable[[int], str]) -> None:
        """Problems of lines in ascending order; `detail` is asked by position, and only for those kept."""
        if len(lines):
            self.counts[kind] += len(lines)
            first = enumerate(lines[:_KEPT].tolist())
            self._kept[kind] = [Problem(line, kind, detail(i), fatal=False) for i, line in first]

    def drop(self, kind: str) -> None:
        self.counts.pop(kind, None)
        self._kept.pop(kind, None)

    def in_order(self) -> list[Problem]:
        return sorted((item for kept in self._kept.values() for item in kept), key=lambda item: item.line)


class _Index:
    """Keys in ascending order with the lines they came from."""

    def __init__(self, keys: _Numbers, lines: _Numbers) -> None:
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.lines = lines[order]

    def repeats(self) -> tuple[_Numbers, _Numbers]:
        """The lines whose key came before, ascending, and for each the first line with that key."""
        again = np.flatnonzero(self.keys[1:] == self.keys[:-1]) + 1
        # The sort was stable: leftmost among equal keys is the first line.
        first = self.lines[np.searchsorted(self.keys, self.keys[again])]
        lines = self.lines[again]
        by_line = np.argsort(lines)
        return lines[by_line], first[by_line]

    def shared_with(self, other: "_Index") -> tuple[_Numbers, _Numbers]:
        """The lines of another index whose keys are here, ascending, and for each the first line here."""
        places = np.searchsorted(self.keys, other.keys)
        inside = places < len(self.keys)
        found = np.flatnonzero(inside)[self.keys[places[inside]] == other.keys[inside]]
        lines = other.lines[found]
        by_line = np.argsort(lines)
        return lines[by_line], self.lines[places[found]][by_line]


class _Side:
    """What is gathered about one side while the pairs go by."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.characters = np.zeros(128, np.int64)  # how often each code point occurs
        self.words: Counter[str] | None = Counter()
        self._lengths = array("i")
        self._word_counts = array("i")

    @property
    def lengths(self) -> _Numbers:
        """Characters of each text."""
        return np.frombuffer(self._lengths, np.int32)

    @property
    def word_counts(self) -> _Numbers:
        """Words of each text."""
        return np.frombuffer(self._word_counts, np.int32)

    def add(self, texts: Sequence[str]) -> "_Joined":
        """Count what some texts are made of."""
        joined = _Joined(texts)
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

    def coverage(self, training: "_Side", by_words: bool) -> Coverage:
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


class _Joined:
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

    def word_counts(self) -> _Numbers:
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


class _Contents:
    """A file read once: its problems, its sides, and keys that stand for its pairs."""

    def __init__(self, file: PairFile, odd: Odd | None = None) -> None:
        self.name = file.name
        self._odd, self._examples = odd, list[Pair]()
        self.lines = 0
        self.tally = _Tally()
        self.source, self.target = _Side("source"), _Side("target")
        self.features = None if file.columns.features is None else _Side("features")
        self._source_keys, self._pair_keys, self._numbers = array("q"), array("q"), array("I")
        self._read(file)
        self.index = self._find_repeats()

    @property
    def numbers(self) -> _Numbers:
        """The line of each pair."""
        return np.frombuffer(self._numbers, np.uint32)

    def finish(self, training: "_Contents | None") -> FileCheck:
        """Judge the file as a whole, and against the training file."""
        pairs = len(self._numbers)
        if self.tally.counts["same on both sides"] >= _RARE * pairs:
            self.tally.drop("same on both sides")
        source, target = self.source.summary(), self.target.summary()
        features = self.features.summary() if self.features else None
        if source and target and pairs >= _LEAST_PAIRS:
            self._find_disproportion(source, target)
        if self._odd is not None:
            for problem in self._odd(self._examples):
                self.tally.add(problem)
            self._examples = []
        if training:
            self._find_seen(training)
        coverage = self._coverage(training) if training and pairs else {}
        problems, counts = self.tally.in_order(), dict(self.tally.counts)
        return FileCheck(self.name, self.lines, pairs, problems, counts, source, target, features, coverage)

    def _read(self, file: PairFile) -> None:
        chunk: list[Pair] = []
        size = 0
        for item in file:
            self.lines = item.line
            if isinstance(item, Problem):
                self.tally.add(item)
                continue
            chunk.append(item)
            size += len(item.source) + len(item.target) + len(item.features)
            if len(chunk) == _CHUNK_PAIRS or size > _CHUNK_CHARACTERS:
                self._gather(chunk)
                chunk, size = [], 0
        if chunk:
            self._gather(chunk)

    def _gather(self, chunk: list[Pair]) -> None:
        numbers, sources, targets, features, _ = zip(*chunk, strict=True)
        self._numbers.extend(numbers)
        # Python's own hash has 64 bits, holds within a process, and is many times faster than a digest.
        self._source_keys.extend(map(hash, zip(sources, features, strict=True)))
        self._pair_keys.extend(map(hash, zip(sources, features, targets, strict=True)))
        joined = {"source": self.source.add(sources), "target": self.target.add(targets)}
        self._note("surrounding space", {name: side.spaced() for name, side in joined.items()}, numbers)
        if self.features:
            self.features.add([text.translate(_FEATURE_SEPARATORS) for text in features])
        rows = {name: side.not_normalised() for name, side in joined.items()}
        self._note("not normalised", rows, numbers)
        if self._odd is not None:
            self._examples += chunk
        for number, source, target in zip(numbers, sources, targets, strict=True):
            if source == target:
                self.tally.add(
                    Problem(number, "same on both sides", "source and target are equal", fatal=False)
                )

    def _note(self, kind: str, rows: dict[str, set[int]], numbers: Sequence[int]) -> None:
        """Tally one problem for each row, whichever of its sides have it."""
        for row in sorted(set().union(*rows.values())):
            sides = " and ".join(name for name, found in rows.items() if row in found)
            self.tally.add(Problem(numbers[row], kind, f"in the {sides}", fatal=False))

    def _find_repeats(self) -> _Index:
        """Tally pairs that came before, and sources that came before with another target."""
        lines, first = _Index(np.frombuffer(self._pair_keys, np.int64), self.numbers).repeats()
        self._pair_keys = array("q")  # each index is as large as the keys: never hold more than needed
        self.tally.add_many("duplicate", lines, lambda i: f"the same as line {first[i]}")
        index = _Index(np.frombuffer(self._source_keys, np.int64), self.numbers)
        self._source_keys = array("q")
        others, earlier = index.repeats()
        fresh = np.isin(others, lines, assume_unique=True, invert=True)
        others, earlier = others[fresh], earlier[fresh]
        self.tally.add_many("same source", others, lambda i: f"line {earlier[i]} has another target for it")
        return index

    def _find_seen(self, training: "_Contents") -> None:
        """Tally sources that the training file also has."""
        lines, there = training.index.shared_with(self.index)
        kind = f"seen in {training.name}"
        self.tally.add_many(kind, lines, lambda i: f"its source is on line {there[i]} there")

    def _find_disproportion(self, source: SideSummary, target: SideSummary) -> None:
        """Pairs whose lengths are far out of proportion: often two lines that do not belong together."""
        # Tags come one for each word, however long the words are.
        tagged = source.mean_words >= 2 and np.mean(self.source.word_counts == self.target.word_counts) > 0.9
        units = [
            "words" if tagged else "symbols" if side.listed else "characters" for side in (source, target)
        ]
        left, right = (
            part.lengths if unit == "characters" else part.word_counts
            for part, unit in zip((self.source, self.target), units, strict=True)
        )
        ratios = np.log(right, dtype=np.float32) - np.log(left, dtype=np.float32)
        usual = float(np.median(ratios))
        apart = np.abs(ratios - usual)
        # 1.4826 makes the median deviation of a normal distribution its standard deviation.
        limit = max(log(_LEAST_FACTOR), _DEVIATIONS * 1.4826 * float(np.median(apart)))
        odd = np.flatnonzero(apart > limit)
        odd = odd[np.abs(right[odd] - left[odd] * exp(usual)) >= _LEAST_DIFFERENCE[units[1]]]

        def detail(i: int) -> str:
            ours, theirs = left[odd[i]], right[odd[i]]
            return f"{ours} {units[0]} to {theirs} {units[1]}, where about {ours * exp(usual):.0f} are usual"

        self.tally.add_many("length ratio", self.numbers[odd], detail)

    def _coverage(self, training: "_Contents") -> dict[str, Coverage]:
        covered = {}
        for side, known in ((self.source, training.source), (self.target, training.target)):
            summary = known.summary()
            covered[side.name] = side.coverage(known, by_words=summary is not None and summary.listed)
        if self.features and training.features:
            covered["features"] = self.features.coverage(training.features, by_words=True)
        return covered


def _top(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_UNSEEN]
