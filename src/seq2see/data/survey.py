"""One look at a whole file of examples: how many, how long, made of what."""

import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from seq2see.data.pairs import BadLines, Pair, PairFile, Problem
from seq2see.data.several import every
from seq2see.data.spool import Spool
from seq2see.errors import DataError

__all__ = ["SKIPPING", "Split", "Survey", "Tail", "peek", "split", "survey", "tail"]

_PEEK = 5000
SKIPPING = ", '--set data.bad_lines=skip' leaves them out"
"""How to train in spite of bad lines."""


@dataclass(frozen=True)
class Survey:
    """How many examples a file has, all of them in order, and an even sample."""

    count: int
    sample: list[Pair]
    skipped: Counter[str] = field(default_factory=Counter)
    """Lines that gave no example, by kind; blank ones are not counted."""
    examples: Iterable[Pair] = ()
    """All of them, parsed once and kept on disk."""


@dataclass(frozen=True)
class Split:
    """Which examples are held out; all examples of one source stay together."""

    bound: int
    seed: int
    named: bool = field(default=False, repr=False)
    """Whether sources are names in a place, which may be moved."""

    def holds_out(self, pair: Pair, place: int) -> bool:
        """Whether an example belongs to the dev set, wherever in the file it stands."""
        return _place(pair, self.seed, self.named) < self.bound


@dataclass(frozen=True)
class Tail:
    """The end of running text is held out, from a passage on that is counted from 0."""

    first: int

    def holds_out(self, pair: Pair, place: int) -> bool:
        """Whether a passage belongs to the dev set."""
        return place >= self.first


def peek(file: PairFile) -> list[Pair]:
    """The first usable examples of a file: enough to guess what it is about."""
    return [item for item in islice(file, _PEEK) if isinstance(item, Pair)]


def survey(file: PairFile, bad_lines: BadLines) -> Survey:
    """Read everything once; bad lines are refused here, before any work is done on the file."""
    sample: list[Pair] = []
    spool = Spool()
    skipped: Counter[str] = Counter()
    stride, count, place, last = 1, 0, -1, None
    for item in file:
        if isinstance(item, Problem):
            if item.fatal and bad_lines == "refuse":
                raise file.refusal(SKIPPING)
            if item.fatal or item.kind in ("empty side", "missing target"):
                skipped[item.kind] += 1
            continue
        # Of several targets, all of a line are taken.
        place += not (item.into and item.line == last)
        last = item.line
        if place % stride == 0:
            sample.append(item)
            if len(sample) > 2 * file.sampled:
                sample, stride = list(every(sample, 2)), stride * 2
        spool.append(item)
        count += 1
    if not count:
        left = "".join(f"; {lines:,} left out: {kind}" for kind, lines in skipped.items())
        raise DataError(
            f"{file.name} has no usable example{left}; {file.shape} ('seq2see check {file.name}' tells more)"
        )
    return Survey(count, sample, skipped, spool)


def split(found: Survey, share: float, most: int, seed: int, named: bool = False) -> Split:
    """Hold out a share of the sources, chosen by their spelling and the seed alone."""
    places = np.unique([_place(pair, seed, named) for pair in found.sample])
    wanted = min(share, most / found.count)
    rank = max(1, round(wanted * len(places)))
    if len(places) < 2:
        raise DataError("one source is too few to hold any out for the dev set; name a file with --dev")
    return Split(int(places[min(rank, len(places) - 1)]), seed, named)


def tail(found: Survey, share: float, most: int) -> Tail:
    """Hold out the last share of the passages of a text."""
    if found.count < 2:
        raise DataError("the text is too short to hold any of it out for the dev set; name a file with --dev")
    return Tail(found.count - max(1, min(round(share * found.count), most)))


def _place(pair: Pair, seed: int, named: bool) -> int:
    source = pair.source.rpartition("//")[2] if named else pair.source
    return zlib.crc32(f"{source}\t{pair.features}".encode(), zlib.crc32(str(seed).encode()))
