"""What every kind of column can do."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.text.special import Special

__all__ = ["Array", "Column", "Stored", "Symbols", "fill", "smallest"]

Array = npt.NDArray[Any]
Stored = dict[str, Any]
"""What is kept of a column in a run, as plain values."""


class Column(Protocol):
    """Examples to rows of numbers, and rows to a side of a batch."""

    @property
    def dtype(self) -> str:
        """The type of the numbers of a row."""

    @property
    def limited(self) -> bool:
        """Whether rows of more than `data.max_length` numbers are left out of training."""

    def encode(self, examples: Sequence[Pair]) -> list[Any]:
        """A row of numbers for each example."""

    def collate(self, rows: Sequence[Sequence[Any] | Array]) -> Side:
        """Rows side by side, filled up to the longest."""

    def unknown(self, values: Array) -> int:
        """How many of the numbers of rows stand for something that training did not show."""

    def stored(self) -> Stored:
        """All that decides what rows it makes."""


@runtime_checkable
class Symbols(Protocol):
    """A column whose numbers are ids of a vocabulary, for which a front can have vectors."""

    @property
    def size(self) -> int:
        """How many ids there are."""

    @property
    def special(self) -> Special:
        """The ids of the special symbols."""


def fill(
    rows: Sequence[Sequence[int] | Array], filler: int, before: int | None = None
) -> tuple[Tensor, Tensor]:
    """Rows of ids as one matrix filled up to the longest, and where they hold something, (B, longest)."""
    shift = int(before is not None)
    lengths = np.fromiter(map(len, rows), np.int64, len(rows)) + shift
    matrix = np.full((len(rows), int(lengths.max(initial=0))), filler, dtype=np.int64)
    if before is not None:
        matrix[:, 0] = before
    for row, ids in zip(matrix, rows, strict=True):
        row[shift : len(ids) + shift] = ids
    mask = np.arange(matrix.shape[1]) < lengths[:, None]
    return torch.from_numpy(matrix), torch.from_numpy(mask)


def smallest(size: int) -> str:
    """The smallest type that holds so many ids."""
    return "uint16" if size <= np.iinfo(np.uint16).max else "uint32"
