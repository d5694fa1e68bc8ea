"""Batches by token budget, with length buckets, in a seeded order that can be taken up anywhere."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from seq2see.data.encoded import Columns, Encoded
from seq2see.data.sides import Batch

__all__ = ["Batch", "Batches", "Stream"]

_POOL = 1 << 17
"""How many pairs are sorted by length together: enough for hardly any padding, few enough to stay small."""


class Stream(ABC):
    """An endless stream of training batches, epoch after epoch, that can be taken up anywhere."""

    epoch = 0
    taken = 0
    """Batches of this epoch so far."""

    def state(self) -> dict[str, int]:
        """Where in the data the stream stands."""
        return {"epoch": self.epoch, "taken": self.taken}

    def restore(self, state: dict[str, int]) -> None:
        """Go on from a place that `state` gave."""
        self.epoch, self.taken = state["epoch"], state["taken"]

    @abstractmethod
    def __iter__(self) -> Iterator[Batch]: ...

    @abstractmethod
    def in_order(self) -> Iterator[Batch]:
        """One pass over everything, for a loss on held-out examples."""


class Batches(Stream):
    """An endless stream of training batches over a corpus; epoch after epoch, each in a new order."""

    def __init__(
        self,
        data: Encoded,
        columns: Columns,
        tokens: int,
        seed: int,
        pairs: int | None = None,
        by_length: bool = True,
        together: bool = True,
    ) -> None:
        """`together` puts examples that share a source into one batch."""
        self._by_length = by_length
        self._data, self._columns = data, columns
        source = data["source"]
        self._groups = source.places if together else None
        self._sides = source, data["target"] if "target" in columns else source
        self._budget = tokens
        self._most = pairs or len(data)
        self._seed = seed

    def __iter__(self) -> Iterator[Batch]:
        while True:
            for taken, rows in enumerate(self._epoch(self.epoch), 1):
                if taken > self.taken:
                    self.taken = taken
                    yield self._batch(rows)
            self.epoch += 1
            self.taken = 0

    def in_order(self) -> Iterator[Batch]:
        """One pass over everything, in the order of lengths: for a loss on held-out pairs."""
        for rows in self._cut(np.arange(len(self._data))):
            yield self._batch(rows)

    def _epoch(self, epoch: int) -> Iterator[npt.NDArray[np.int64]]:
        random = np.random.default_rng([self._seed, epoch])
        order = self._grouped(random.permutation(len(self._data)), random)
        for start in range(0, len(order), _POOL):
            cut = self._cut(order[start : start + _POOL])
            for place in random.permutation(len(cut)):
                yield cut[place]

    def _grouped(self, order: npt.NDArray[np.int64], random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Put examples that share a source side by side, so that one batch reads it once."""
        groups = self._groups
        if groups is None:
            return order
        ranks = random.permutation(int(groups.max()) + 1)
        return order[np.argsort(ranks[groups[order]], kind="stable")]

    def _cut(self, rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        """Sort rows by length, unless they are to stay mixed, and cut them where the budget is full.

        Rows whose longer side is the same go from those with a short source to those with a short target,
        and the next length the other way round, so that neighbours are alike on both sides. Rows that share
        a source count as long as the longest of them, and stay together.
        """
        source, target = (side.lengths_of(rows) for side in self._sides)
        if self._by_length:
            groups = self._groups
            longest = target if groups is None else _longest_of_each(groups[rows], target)
            longer, lean = np.maximum(source, longest), source - longest
            order = np.lexsort((np.where(longer % 2, lean, -lean), longer))
            rows, source, target = rows[order], source[order], target[order]
        cuts, start = [], 0
        while start < len(rows):
            here = slice(start, start + min(self._most, self._budget))
            count = self._fitting(source[here], target[here])
            cuts.append(rows[start : start + count])
            start += count
        return cuts

    def _fitting(self, source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]) -> int:
        """How many of the first rows make a batch: at least one, padding counted.

        Where the budget ends the batch, up to a fifth of it may be left to the next if that saves padding.
        """
        counts = np.arange(1, len(source) + 1)
        widest = np.maximum.accumulate(source), np.maximum.accumulate(target)
        most = max(1, int(np.searchsorted(counts * np.maximum(*widest), self._budget, side="right")))
        if most == len(counts):
            return most
        full = np.cumsum(source + target)[:most] / (counts * sum(widest))[:most]
        least = -(-most * 4 // 5)
        return most - int(np.argmax(full[least - 1 :][::-1]))

    def _batch(self, rows: npt.NDArray[np.int64]) -> Batch:
        sources, shared = rows, None
        if (places := self._data["source"].places) is not None:
            _, first, which = np.unique(places[rows], return_index=True, return_inverse=True)
            if len(first) < len(rows):
                sources, shared = rows[first], torch.from_numpy(which)
        sides = {
            name: column.collate([self._data[name][row] for row in (sources if name == "source" else rows)])
            for name, column in self._columns.items()
        }
        return Batch(sides, np.asarray(self._data.lines[rows]), shared)


def _longest_of_each(groups: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each row, the greatest length in its group."""
    _, which = np.unique(groups, return_inverse=True)
    found = np.zeros(which.max(initial=-1) + 1, "int64")
    np.maximum.at(found, which, lengths)
    return found[which]
