"""How a model knows where a token stands."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import torch
from torch import Tensor, nn

__all__ = ["PositionKind", "Positions", "rotary", "rotate", "sinusoidal", "turns"]

PositionKind = Literal["sinusoidal", "learned", "one-hot", "rotary", "rotary-self", "none"]
"""Rotary positions turn queries and keys: everywhere, or (`rotary-self`) in self-attention alone."""


def sinusoidal(places: Tensor, width: int) -> Tensor:
    """sin and cos of t / 10000^(2i/d), sines in even columns, (T, D)."""
    rates = torch.exp(torch.arange(0, width, 2, device=places.device) * (-math.log(10000.0) / width))
    angles = places.float().unsqueeze(-1) * rates  # (T, D/2)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)[..., :width]


def rotary(places: Tensor, width: int) -> Tensor:
    """Angles for `rotate` (Su et al. 2021), as cos and sin, (2, T, K/2)."""
    rates = torch.exp(torch.arange(0, width, 2, device=places.device) * (-math.log(10000.0) / width))
    angles = places.float().unsqueeze(-1) * rates
    return torch.stack([angles.cos(), angles.sin()])


def turns(start: int, end: int, width: int, device: torch.device) -> Tensor:
    """The angles of the places from `start` on, `end` not counted."""
    return _table(rotary, end, width, device)[:, start:end]


def rotate(states: Tensor, rotation: Tensor) -> Tensor:
    """Turn each pair of features by the angle of its position, so that products see only distances."""
    cos, sin = rotation.to(states.dtype)
    left, right = states.chunk(2, -1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], -1)


class Positions(nn.Module):
    """Adds the place of each token to its embedding, or joins it on and maps back to the width."""

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
        """Whether there are places that this kind cannot name."""
        return self.kind in ("learned", "one-hot")

    def forward(self, states: Tensor, start: int = 0) -> Tensor:
        """States that know their place; the first one stands at `start`, (B, T, D)."""
        if self.kind in ("none", "rotary", "rotary-self"):
            return states
        end = start + states.shape[1]
        if self.limited and end > self.max_length:
            raise ValueError(
                f"position {end} is past the {self.max_length} places of the {self.kind} positions; "
                "shorten the input, or train with a larger model.max_length or with rotary positions"
            )
        named = self._named(start, end, states.device).to(states.dtype)
        if self.join is None:
            return states + named
        joined: Tensor = self.join(torch.cat([states, named.expand(len(states), -1, -1)], -1))
        return joined

    def _named(self, start: int, end: int, device: torch.device) -> Tensor:
        if self.kind == "sinusoidal":
            return _table(sinusoidal, end, self.width, device)[start:end]
        if self.kind == "learned":
            return self.table[start:end]
        return nn.functional.one_hot(torch.arange(start, end, device=device), self.width).float()


def _table(angles: Callable[[Tensor, int], Tensor], end: int, width: int, device: torch.device) -> Tensor:
    """Of at least `end` places: every step of decoding would otherwise compute a row of it."""
    return _kept(angles, 1 << max(6, (end - 1).bit_length()), width, device)


@lru_cache(maxsize=16)
def _kept(angles: Callable[[Tensor, int], Tensor], places: int, width: int, device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return angles(torch.arange(places, device=device), width)
