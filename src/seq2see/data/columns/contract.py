"""What every kind of column can do."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.text.special import Special

__all__ = ["Array", "Column", "ImageShape", "Keyed", "Stored", "Vocabulary", "fill", "smallest"]

Array = npt.NDArray[Any]
Stored = dict[str, Any]
"""What is kept of a column in a run, as plain values; those named `*.json` are files of their own."""


class ImageShape(NamedTuple):
    """How images come: their size, and the mean and deviation of each channel (of values from 0 to 1)."""

    channels: int
    height: int
    width: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]


class Vocabulary(NamedTuple):
    """How many ids a column has, which of them are special, and how often training shows each, if known."""

    size: int
    special: Special
    counts: Sequence[int] | None = None
    image: ImageShape | None = None
    """Where ids are the values of pixels: how the images come."""
    used: Sequence[Sequence[int]] = ()
    """The ids in the texts of each of several targets, where each has a decoder of its own."""


class Column(Protocol):
    """Examples to rows of numbers, and rows to a side of a batch."""

    @property
    def dtype(self) -> str:
        """The type of the numbers of a row."""

    @property
    def limited(self) -> bool:
        """Whether rows of more than `data.max_length` numbers are left out of training."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Its ids, where a network has a vector for each of them."""

    def encode(self, examples: Sequence[Pair]) -> list[Any]:
        """A row of numbers for each example."""

    def collate(self, rows: Sequence[Sequence[Any] | Array]) -> Side:
        """Rows side by side, filled up to the longest."""

    def unknown(self, values: Array) -> int:
        """How many of the numbers of rows stand for something that training did not show."""

    def stored(self) -> Stored:
        """All that decides what rows it makes, with its `kind`; a row of `COLUMNS` makes a column of it."""


@runtime_checkable
class Keyed(Protocol):
    """A column whose rows are large, and often the same: of examples with one key, one row is kept."""

    def key(self, example: Pair) -> str:
        """What decides on the row of an example."""


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
