"""How a model knows the position of a token."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

__all__ = ["BASE", "Grid", "PositionKind", "Positions", "rotary", "rotate", "rotations", "sinusoidal"]

PositionKind = Literal["sinusoidal", "learned", "one-hot", "rotary", "rotary-self", "none"]
"""Rotary positions turn queries and keys: everywhere, or (`rotary-self`) in self-attention alone."""
BASE = 10000.0
"""Of the wave lengths of sinusoidal and rotary positions, as published."""
_Angles = Callable[[Tensor, int, float], Tensor]


def sinusoidal(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """sin and cos of t / base^(2i/d), sines in even columns, (T, D)."""
    angles = _angles(positions, width, base)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[..., :width]


def rotary(positions: Tensor, width: int, base: float = BASE) -> Tensor:
    """Angles for `rotate` (Su et al. 2021), as cos and sin, (2, T, K/2)."""
    angles = _angles(positions, width, base)
    return torch.stack([angles.cos(), angles.sin()])


def _angles(positions: Tensor, width: int, base: float) -> Tensor:
    """t / base^(2i/d), (T, D/2)."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(base) / width))
    return positions.float().unsqueeze(-1) * rates


def rotations(
    start: int | Tensor, count: int, width: int, device: torch.device, base: float = BASE
) -> Tensor:
    """Angles of `count` positions from `start` on, for states (B, H, T, K).

    One start for all rows gives (2, T, K/2), one for each row (B,) gives (2, B, 1, T, K/2).
    """
    if isinstance(start, int):
        return _table(rotary, start + count, width, device, base)[:, start : start + count]
    return rotary(_row_positions(start, count), width, base).unsqueeze(2)


class Grid(NamedTuple):
    """How positions lie in two directions: row after row, behind some that lie nowhere."""

    rows: int
    columns: int
    before: int = 0

    def rotations(self, width: int, device: torch.device, base: float = BASE) -> Tensor:
        """Angles for `rotate`, (2, T, K/2): the first half by the row, the second by the column."""
        down, across = (
            rotary(torch.arange(count, device=device), width // 2, base)
            for count in (self.rows, self.columns)
        )
        by_row = down[:, :, None].expand(-1, -1, self.columns, -1)
        by_column = across[:, None].expand(-1, self.rows, -1, -1)
        found = torch.cat([by_row, by_column], -1).flatten(1, 2)  # (2, rows, columns, K/2) -> (2, T, K/2)
        nowhere = torch.tensor([1.0, 0.0], device=device)[:, None, None]  # cos and sin of no turn
        return torch.cat([nowhere.expand(2, self.before, width // 2), found], 1)


def rotate(states: Tensor, rotation: Tensor) -> Tensor:
    """Turn each pair of features by the angle of its position, so that products see only distances."""
    cos, sin = rotation.to(states.dtype)
    left, right = states.chunk(2, -1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], -1)


class Positions(nn.Module):
    """Adds a vector of its position to each embedding, or joins it on and maps back to the width."""

    def __init__(self, kind: PositionKind, width: int, max_length: int, join: bool = False) -> None:
        super().__init__()
        self.kind = kind
        self.max_length = max_length
        table = max_length if kind == "one-hot" and join else width
        self.join = nn.Linear(width + table, width) if join else None
        self.width = table
        if kind == "learned":
            self.table = nn.Parameter(torch.randn(max_length, width) * width**-0.5)

    @property
    def limited(self) -> bool:
        """Whether positions from `max_length` on have no vector."""
        return self.kind in ("learned", "one-hot")

    def forward(self, states: Tensor, start: int | Tensor = 0) -> Tensor:
        """States (B, T, D) that know their position; the first has `start`, which may differ by row (B,)."""
        if self.kind in ("none", "rotary", "rotary-self"):
            return states
        self._check(start, states.shape[1])
        vectors = self._vectors(start, states.shape[1], states.device).to(states.dtype)
        if self.join is None:
            return states + vectors
        joined: Tensor = self.join(torch.cat([states, vectors.expand(len(states), -1, -1)], -1))
        return joined

    def _check(self, start: int | Tensor, count: int) -> None:
        # A graph that is being exported has no values to look at.
        if not self.limited or torch.compiler.is_compiling():
            return
        end = (start if isinstance(start, int) else int(start.max())) + count
        if end > self.max_length:
            raise ValueError(
                f"position {end} is past the {self.max_length} places of the {self.kind} positions; "
                "shorten the input, or train with a larger model.max_length or with rotary positions"
            )

    def _vectors(self, start: int | Tensor, count: int, device: torch.device) -> Tensor:
        """The vector of each position, (T, D) if all rows have the same ones, else (B, T, D)."""
        if isinstance(start, int):
            if self.kind == "sinusoidal":
                return _table(sinusoidal, start + count, self.width, device)[start : start + count]
            if self.kind == "learned":
                return self.table[start : start + count]
            positions = torch.arange(start, start + count, device=device)
        else:
            positions = _row_positions(start, count)
            if self.kind == "sinusoidal":
                return sinusoidal(positions, self.width)
            if self.kind == "learned":
                return self.table[positions]
        return nn.functional.one_hot(positions, self.width).float()


def _row_positions(start: Tensor, count: int) -> Tensor:
    """(B,) -> (B, T)."""
    return start.unsqueeze(1) + torch.arange(count, device=start.device)


def _table(angles: _Angles, end: int, width: int, device: torch.device, base: float = BASE) -> Tensor:
    """A table of at least `end` positions; made once, since every step of decoding needs a row of it."""
    return _cached_table(angles, 1 << max(6, (end - 1).bit_length()), width, device, base)


@lru_cache(maxsize=16)
def _cached_table(angles: _Angles, size: int, width: int, device: torch.device, base: float) -> Tensor:
    with torch.inference_mode(False):
        return angles(torch.arange(size, device=device), width, base)
