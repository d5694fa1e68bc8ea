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


@dataclass(slots=True)
class Shelf:
    """Keys (B * H, K, S) and values (B * H, S, K) in the order in which one query after another needs them.

    Places from `length` on are empty. A shelf that something was put on shares its memory with the one
    before it, which is not to be used any more.
    """

    keys: Tensor
    values: Tensor
    heads: int
    length: int
    hidden: Tensor | None = None
    """What is added to the scores, (B * H, 1, S): minus infinity where nothing may be seen."""

    @classmethod
    def of(cls, seen: KeysValues) -> Self:
        """All that can be looked at, filled up to whole vectors."""
        rows, heads, length, _ = seen.keys.shape
        room = -length % _ROOM
        mask = seen.mask if seen.mask is not None else seen.keys.new_ones(1, 1, 1, length, dtype=torch.bool)
        hidden = torch.zeros(mask.shape, dtype=seen.keys.dtype, device=mask.device)
        hidden = pad(hidden.masked_fill_(~mask, -float("inf")), (0, room), value=-float("inf"))
        return cls(
            pad(seen.keys.transpose(2, 3), (0, room)).flatten(0, 1).contiguous(),
            pad(seen.values, (0, 0, 0, room)).flatten(0, 1).contiguous(),
            heads,
            length,
            hidden.expand(rows, heads, -1, -1).flatten(0, 1),
        )

    @classmethod
    def empty(cls, rows: int, heads: int, width: int, like: Tensor) -> Self:
        """Nothing yet, with room for some."""
        rows *= heads
        return cls(like.new_zeros(rows, width, _ROOM), like.new_zeros(rows, _ROOM, width), heads, 0)

    @property
    def rows(self) -> int:
        """Of the batch."""
        return self.keys.shape[0] // self.heads

    def put(self, key: Tensor, value: Tensor) -> Self:
        """One more place, (B, H, K)."""
        keys, values = self.keys, self.values
        if self.length == keys.shape[2]:
            keys, values = pad(keys, (0, _ROOM)), pad(values, (0, 0, 0, _ROOM))
        elif torch.is_grad_enabled():
            keys, values = keys.clone(), values.clone()
        shape = keys.shape[:2]
        keys.select(2, self.length).copy_(key.reshape(shape))
        values.select(1, self.length).copy_(value.reshape(shape))
        return type(self)(keys, values, self.heads, self.length + 1, self.hidden)

    def keep(self, rows: Tensor) -> Self:
        """Only these rows, each as often as it is named."""

        def kept(part: Tensor) -> Tensor:
            return part.view(-1, self.heads, *part.shape[1:]).index_select(0, rows).flatten(0, 1)

        hidden = kept(self.hidden) if self.hidden is not None else None
        return replace(self, keys=kept(self.keys), values=kept(self.values), hidden=hidden)

    def move(self, rows: Tensor) -> Self:
        """Like `keep`; where the number of rows stays, only those are copied that come from another one."""
        if len(rows) != self.rows or torch.is_grad_enabled():
            return self.keep(rows)
        moved = (rows != torch.arange(len(rows), device=rows.device)).nonzero()[:, 0]
        if len(moved):
            for part in (self.keys, self.values):
                kept = part.unflatten(0, (-1, self.heads))
                kept.index_copy_(0, moved, kept.index_select(0, rows[moved]))
        return self

    def read(self, query: Tensor, address: str, watch: Watch | None = None) -> Tensor:
        """What queries (B * W, H, K), W for each row of the shelf, find there: (B * W, H * K).

        They come scaled. Whoever watches gets the weights of the W queries side by side, (B, H, W, S).
        """
        count, heads, width = query.shape
        queries = count // self.rows
        if queries > 1:
            query = query.view(-1, queries, heads, width).transpose(1, 2)
        query = query.reshape(-1, queries, width)
        if self.hidden is not None:
            scores = torch.baddbmm(self.hidden, query, self.keys)
        else:
            scores = torch.bmm(query, self.keys)
            if (empty := scores.shape[2] - self.length) > 0:
                scores.narrow(2, self.length, empty).fill_(-float("inf"))
        weights, values = scores.softmax(-1), self.values
        if watch is not None:
            seen, values = weights[..., : self.length], values[:, : self.length]
            weights = watch(address, seen.unflatten(0, (-1, heads)), self._mask()).flatten(0, 1)
        read = torch.bmm(weights, values)
        if queries > 1:
            read = read.view(-1, heads, queries, width).transpose(1, 2)
        return read.reshape(count, heads * width)

    def _mask(self) -> Tensor | None:
        """Where one may look, (B, 1, 1, S)."""
        if self.hidden is None:
            return None
        return self.hidden[:: self.heads, None, :, : self.length] == 0
