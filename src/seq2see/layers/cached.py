"""Attention of single queries, step after step, on keys and values that stay where they are."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.layers.attention import KeysValues, Watch

__all__ = ["Shelf"]

_ROOM = 16
"""Places are made so many at a time: matrix products and softmax are fastest over whole vectors."""


@dataclass(frozen=True)
class Shelf:
    """Keys (B, H, K, S) and values (B, H, S, K) in the order in which one query after another needs them.

    Places from `length` on are empty. A shelf that something was put on shares its memory with the one
    before it, which is not to be used any more.
    """

    keys: Tensor
    values: Tensor
    length: int
    hidden: Tensor | None = None
    """What is added to the scores, (B, 1, 1, S): minus infinity where nothing may be seen."""

    @classmethod
    def of(cls, seen: KeysValues) -> Self:
        """All that can be looked at, filled up to whole vectors."""
        length = seen.keys.shape[2]
        room = -length % _ROOM
        mask = seen.mask if seen.mask is not None else seen.keys.new_ones(1, 1, 1, length, dtype=torch.bool)
        hidden = torch.zeros(mask.shape, dtype=seen.keys.dtype, device=mask.device)
        return cls(
            pad(seen.keys.transpose(2, 3), (0, room)).contiguous(),
            pad(seen.values, (0, 0, 0, room)).contiguous(),
            length,
            pad(hidden.masked_fill_(~mask, -float("inf")), (0, room), value=-float("inf")),
        )

    @classmethod
    def empty(cls, rows: int, heads: int, width: int, like: Tensor) -> Self:
        """Nothing yet, with room for some."""
        return cls(like.new_zeros(rows, heads, width, _ROOM), like.new_zeros(rows, heads, _ROOM, width), 0)

    def put(self, key: Tensor, value: Tensor) -> Self:
        """One more place, (B, H, K)."""
        keys, values = self.keys, self.values
        if self.length == keys.shape[3]:
            keys, values = pad(keys, (0, _ROOM)), pad(values, (0, 0, 0, _ROOM))
        elif torch.is_grad_enabled():
            keys, values = keys.clone(), values.clone()
        keys[..., self.length] = key
        values[:, :, self.length] = value
        return type(self)(keys, values, self.length + 1, self.hidden)

    def keep(self, rows: Tensor) -> Self:
        """Only these rows, each as often as it is named."""
        hidden = self.hidden[rows] if self.hidden is not None and len(self.hidden) > 1 else self.hidden
        return replace(
            self,
            keys=self.keys.index_select(0, rows),
            values=self.values.index_select(0, rows),
            hidden=hidden,
        )

    def move(self, rows: Tensor) -> Self:
        """Like `keep`; where the number of rows stays, only those are copied that come from another one."""
        if len(rows) != len(self.keys) or torch.is_grad_enabled():
            return self.keep(rows)
        moved = (rows != torch.arange(len(rows), device=rows.device)).nonzero()[:, 0]
        if len(moved):
            for kept in (self.keys, self.values):
                kept.index_copy_(0, moved, kept.index_select(0, rows[moved]))
        return self

    def read(self, query: Tensor, address: str, watch: Watch | None = None) -> Tensor:
        """What queries (B * W, H, K), W for each row of the shelf, find there: (B * W, H * K).

        They come scaled. Whoever watches gets the weights of the W queries side by side, (B, H, W, S).
        """
        rows, heads, width, room = self.keys.shape
        queries = len(query) // rows
        if queries > 1:
            query = query.reshape(rows, queries, heads, width).transpose(1, 2)
        query = query.reshape(-1, queries, width)
        scores = torch.bmm(query, self.keys.flatten(0, 1)).view(rows, heads, queries, room)
        if self.hidden is not None:
            scores += self.hidden
        elif self.length < room:
            scores[..., self.length :] = -float("inf")
        weights = scores.softmax(-1)
        values = self.values
        if watch is not None:
            weights = watch(address, weights[..., : self.length])
            values = values[:, :, : self.length]
        read = torch.bmm(weights.flatten(0, 1), values.flatten(0, 1))
        if queries > 1:
            read = read.view(rows, heads, queries, width).transpose(1, 2)
        return read.reshape(rows * queries, heads * width)
