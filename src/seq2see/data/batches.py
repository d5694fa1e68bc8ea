"""Batches by token budget, with length buckets, in a seeded order that can be taken up anywhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from seq2see.data.encoded import Encoded
from seq2see.text import BEGIN, PAD

__all__ = ["Batch", "Batches", "pad"]

_POOL = 1 << 17
"""How many pairs are sorted by length together: enough for hardly any padding, few enough to stay small."""


@dataclass(frozen=True)
class Batch:
    """Padded ids; the target starts with the begin symbol and both sides end with the end symbol."""

    source: Tensor  # (B, S)
    target: Tensor  # (B, T + 1)
    lines: npt.NDArray[np.int64]

    @property
    def inputs(self) -> Tensor:
        """What the decoder reads, (B, T)."""
        return self.target[:, :-1]

    @property
    def labels(self) -> Tensor:
        """What the decoder should say, (B, T)."""
        return self.target[:, 1:]

    @property
    def tokens(self) -> int:
        """Target tokens to predict, padding not counted."""
        return int((self.labels != PAD).sum())

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        if device.type == "cpu":
            return self
        return Batch(
            self.source.to(device, non_blocking=True), self.target.to(device, non_blocking=True), self.lines
        )


def pad(rows: Sequence[Sequence[int] | npt.NDArray[Any]], before: int | None = None) -> Tensor:
    """Rows of ids as one matrix filled up with the padding id, (B, longest)."""
    shift = int(before is not None)
    matrix = np.full((len(rows), max(map(len, rows), default=0) + shift), PAD, dtype=np.int64)
    if before is not None:
        matrix[:, 0] = before
    for row, ids in zip(matrix, rows, strict=True):
        row[shift : len(ids) + shift] = ids
    return torch.from_numpy(matrix)


class Batches:
    """An endless stream of training batches over a corpus; epoch after epoch, each in a new order."""

    def __init__(self, data: Encoded, tokens: int, seed: int, pairs: int | None = None) -> None:
        self._data = data
        self._budget = tokens
        self._most = pairs or len(data)
        self._seed = seed
        self.epoch = 0
        self.taken = 0  # batches of this epoch

    def state(self) -> dict[str, int]:
        """Where in the data the stream stands."""
        return {"epoch": self.epoch, "taken": self.taken}

    def restore(self, state: dict[str, int]) -> None:
        """Go on from a place that `state` gave."""
        self.epoch, self.taken = state["epoch"], state["taken"]

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
        order = random.permutation(len(self._data))
        for start in range(0, len(order), _POOL):
            cut = self._cut(order[start : start + _POOL])
            for place in random.permutation(len(cut)):
                yield cut[place]

    def _cut(self, rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        """Sort rows by length and cut them where the budget is full.

        Rows whose longer side is the same go from those with a short source to those with a short target,
        and the next length the other way round, so that neighbours are alike on both sides.
        """
        source = self._data.source_offsets[rows + 1] - self._data.source_offsets[rows]
        target = self._data.target_offsets[rows + 1] - self._data.target_offsets[rows]
        longer, lean = np.maximum(source, target), source - target
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
        data = self._data
        source = [data.source[data.source_offsets[row] : data.source_offsets[row + 1]] for row in rows]
        target = [data.target[data.target_offsets[row] : data.target_offsets[row + 1]] for row in rows]
        return Batch(pad(source), pad(target, before=BEGIN), np.asarray(data.lines[rows]))
