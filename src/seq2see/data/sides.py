"""What a network gets: a batch of examples, with one side for each column."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

__all__ = ["Batch", "Side"]


class Side(NamedTuple):
    """One column of a batch: ids (B, S), classes (B,), numbers (B, N), tags (B, S, C).

    The mask is True where something stands; without one, something stands everywhere.
    """

    values: Tensor
    mask: Tensor | None = None

    def to(self, device: torch.device) -> "Side":
        """The same on another device."""
        mask = self.mask.to(device, non_blocking=True) if self.mask is not None else None
        return Side(self.values.to(device, non_blocking=True), mask)


@dataclass(frozen=True)
class Batch:
    """Examples side by side, each column by its name, and the lines that they came from."""

    sides: Mapping[str, Side]
    lines: npt.NDArray[np.int64]
    shared: Tensor | None = None
    """Where examples share a source, as captions of one image do: the row of its source for each of them."""

    def __getitem__(self, name: str) -> Side:
        return self.sides[name]

    def __len__(self) -> int:
        return len(self.lines)

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        if device.type == "cpu":
            return self
        shared = self.shared.to(device, non_blocking=True) if self.shared is not None else None
        return Batch({name: side.to(device) for name, side in self.sides.items()}, self.lines, shared)
