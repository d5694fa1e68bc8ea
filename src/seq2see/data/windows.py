"""Batches of running text: windows of one length, in a seeded order that can be taken up anywhere."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from seq2see.data.batches import Stream
from seq2see.data.encoded import Columns, Encoded
from seq2see.data.sides import Batch

__all__ = ["Windows"]


class Windows(Stream):
    """An endless stream of windows over the ids of a text, which lie end to end in the target's column.

    In each epoch every id stands in one window. Where windows begin, and their order, is drawn anew.
    """

    def __init__(
        self, data: Encoded, columns: Columns, context: int, tokens: int, seed: int, windows: int | None
    ) -> None:
        """`context` ids make a window, and about `tokens` ids, or so many `windows`, a batch."""
        self._text, self._lines, self._column = data["target"], data.lines, columns["target"]
        self._context, self._seed = context, seed
        self._rows = max(1, min(tokens // context, windows or tokens))

    def __iter__(self) -> Iterator[Batch]:
        while True:
            random = np.random.default_rng([self._seed, self.epoch])
            starts = self._starts(int(random.integers(self._context)))
            order = random.permutation(len(starts))
            for first in range(self.taken * self._rows, len(order), self._rows):
                self.taken += 1
                yield self._batch([starts[place] for place in order[first : first + self._rows]])
            self.epoch += 1
            self.taken = 0

    def in_order(self) -> Iterator[Batch]:
        """One pass over the whole text, from its beginning to its end."""
        starts = self._starts(0)
        for first in range(0, len(starts), self._rows):
            yield self._batch(starts[first : first + self._rows])

    def _starts(self, shift: int) -> range:
        """Where windows begin; the first one may begin before the text, and is so much shorter."""
        return range(shift - self._context if shift else 0, len(self._text.values), self._context)

    def _batch(self, starts: Sequence[int]) -> Batch:
        ids = self._text.values
        rows = [ids[max(0, start) : start + self._context] for start in starts]
        passages = np.searchsorted(self._text.offsets, np.maximum(starts, 0), side="right") - 1
        lines: npt.NDArray[np.int64] = np.asarray(self._lines[passages])
        return Batch({"target": self._column.collate(rows)}, lines)
