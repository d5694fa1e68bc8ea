"""What is odd in files of pairs: lines that cannot be used, repeats, leaks, misalignments, rare symbols."""

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
from seq2see.data.side_summary import Coverage, SideSummary, TextSide

__all__ = ["Coverage", "FileCheck", "SideSummary", "check"]

_KEPT = 1000
"""Problems of one kind that are listed; all are counted."""

_CHUNK_PAIRS = 4096
_CHUNK_CHARACTERS = 1 << 20

_LEAST_PAIRS = 20
"""Fewer pairs do not tell what length is usual."""
_LEAST_FACTOR = 3.0
_DEVIATIONS = 6.0
_LEAST_DIFFERENCE = {"characters": 10, "symbols": 10, "words": 4}
"""A pair is out of proportion beyond a factor, beyond the corpus's own spread, and by so many units."""
_RARE = 0.05

_FEATURE_SEPARATORS = str.maketrans(";,|\t", "    ")

_Numbers = npt.NDArray[Any]


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
    targets: str | None = None
    """What the targets are, where they are classes, numbers or tags."""

    @property
    def unusable(self) -> int:
        """How many lines training would refuse."""
        return sum(self.counts[kind] for kind in {item.kind for item in self.problems if item.fatal})


Odd = Callable[[Sequence[Pair]], list[Problem]]
"""What is odd about all the examples of a file together, by what is to be made of them."""
Targets = Callable[[Sequence[Pair]], str]
"""What the targets of a file are, in a line."""


def check(
    names: Sequence[str],
    columns: Columns,
    problem: Check | None = None,
    odd: Odd | None = None,
    targets: Targets | None = None,
    opens: type[PairFile] = PairFile,
) -> list[FileCheck]:
    """Look through files of pairs; the first is the training data, the others are dev or test data.

    `problem` finds what is wrong with one example, and `odd` with all of a file together; `targets` says what
    the targets of a file are; `opens` reads the files.
    """
    files = [opens(name, columns, training=not place, check=problem) for place, name in enumerate(names)]
    for path in (path for file in files for path in file.paths):
        # A misspelt last name is told before the first file is read; pipes are opened only once.
        if path.is_dir() or not path.exists():
            open_bytes(path)
    checks: list[FileCheck] = []
    training: _Contents | None = None
    for file in files:
        contents = _Contents(file, odd, targets)
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


class _Contents:
    """A file read once: its problems, its sides, and keys that stand for its pairs."""

    def __init__(self, file: PairFile, odd: Odd | None = None, targets: Targets | None = None) -> None:
        self.name, self._running = file.name, file.running
        self._odd, self._targets, self._examples = odd, targets, list[Pair]()
        self._several = len(file.columns.targets) > 1
        self.lines = 0
        self.tally = _Tally()
        self.source, self.target = TextSide("source"), TextSide("target")
        self.features = None if file.columns.features is None else TextSide("features")
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
        if self._odd is not None or self.tally.counts["same on both sides"] >= _RARE * pairs:
            self.tally.drop("same on both sides")
        source = self.source.summary() if not self._running else None
        target = self.target.summary()
        features = self.features.summary() if self.features else None
        if source and target and pairs >= _LEAST_PAIRS and self._odd is None:
            self._find_disproportion(source, target)
        if self._odd is not None:
            for problem in self._odd(self._examples):
                self.tally.add(problem)
        meant = self._targets(self._examples) if self._targets is not None and self._examples else None
        self._examples = []
        if training and not self._running:
            self._find_seen(training)
        coverage = self._coverage(training) if training and pairs else {}
        problems, counts = self.tally.in_order(), dict(self.tally.counts)
        return FileCheck(
            self.name, self.lines, pairs, problems, counts, source, target, features, coverage, meant
        )

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
        numbers, sources, targets, features, _, into = zip(*chunk, strict=True)
        self._numbers.extend(numbers)
        # Python's own hash has 64 bits, holds within a process, and is many times faster than a digest.
        self._source_keys.extend(map(hash, zip(sources, features, into, strict=True)))
        self._pair_keys.extend(map(hash, zip(sources, features, into, targets, strict=True)))
        joined = {"source": self.source.add(sources), "target": self.target.add(targets)}
        if self._running:
            return  # a passage may be like another, and begins and ends anywhere
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
        if self._running:
            return _Index(np.empty(0, np.int64), np.empty(0, np.uint32))
        lines, first = _Index(np.frombuffer(self._pair_keys, np.int64), self.numbers).repeats()
        self._pair_keys = array("q")  # each index is as large as the keys: never hold more than needed
        self.tally.add_many("duplicate", lines, lambda i: f"the same as line {first[i]}")
        index = _Index(np.frombuffer(self._source_keys, np.int64), self.numbers)
        self._source_keys = array("q")
        others, earlier = index.repeats()
        # Of several targets each is an example, and a line has several examples.
        fresh = np.isin(others, lines, assume_unique=not self._several, invert=True)
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
        sides = ((self.source, training.source), (self.target, training.target))
        for side, known in sides[self._running :]:
            summary = known.summary()
            covered[side.name] = side.coverage(known, by_words=summary is not None and summary.listed)
        if self.features and training.features:
            covered["features"] = self.features.coverage(training.features, by_words=True)
        return covered
