"""Attention of single queries, step after step, on keys and values that stay where they are."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.layers.attention import KeysValues, Watch

__all__ = ["Shelf", "Trail"]

_ROOM = 16
"""Places are looked at so many at a time: matrix products and softmax are fastest over whole vectors."""


@dataclass(slots=True)
class Shelf:
    """Keys (B * H, K, S) and values (B * H, S, K) of B sources, in the order in which queries need them.

    Places from `length` on are empty: zero up to a whole vector, then anything. A shelf that something was
    put on shares its memory with the one before it, which is not to be used any more.
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
        room = _whole(length) - length
        mask = seen.mask if seen.mask is not None else seen.keys.new_ones(1, 1, 1, length, dtype=torch.bool)
        hidden = torch.zeros(mask.shape, dtype=seen.keys.dtype, device=mask.device)
        hidden = _filled(hidden.masked_fill_(~mask, -float("inf")))
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
        return cls(like.new_empty(rows, width, _ROOM), like.new_empty(rows, _ROOM, width), heads, 0)

    def put(self, keys: Tensor, values: Tensor) -> Self:
        """One more place, or one for each of the W rows of a source, (B * W, H, K)."""
        held, values_held, length = self.keys, self.values, self.length
        count = len(keys) * self.heads // len(held)
        filled, needed = _whole(length), _whole(length + count)
        if (room := held.shape[2]) < needed or torch.is_grad_enabled():
            room = room if room >= needed else max(2 * room, needed)
            held, values_held = _copied(held, 2, filled, room), _copied(values_held, 1, filled, room)
        if needed > filled:
            held.narrow(2, filled, needed - filled).zero_()
            values_held.narrow(1, filled, needed - filled).zero_()
        if count > 1:
            keys, values = (part.unflatten(0, (-1, count)).transpose(1, 2) for part in (keys, values))
        shape = len(held), count, held.shape[1]
        held.narrow(2, length, count).copy_(keys.reshape(shape).transpose(1, 2))
        values_held.narrow(1, length, count).copy_(values.reshape(shape))
        return type(self)(held, values_held, self.heads, length + count, self.hidden)

    def keep(self, sources: Tensor) -> Self:
        """Only these sources, each as often as it is named."""

        def kept(part: Tensor) -> Tensor:
            return part.view(-1, self.heads, *part.shape[1:]).index_select(0, sources).flatten(0, 1)

        hidden = kept(self.hidden) if self.hidden is not None else None
        return replace(self, keys=kept(self.keys), values=kept(self.values), hidden=hidden)

    def pick(self, places: Tensor) -> Self:
        """Only these places (B, S) of each source."""
        count, width = places.shape[1], self.keys.shape[1]
        places = places.repeat_interleave(self.heads, 0)
        return replace(
            self,
            keys=self.keys.gather(2, places[:, None].expand(-1, width, -1)),
            values=self.values.gather(1, places[:, :, None].expand(-1, -1, width)),
            length=count,
        )

    def read(self, query: Tensor, address: str, watch: Watch | None, trail: "Trail | None" = None) -> Tensor:
        """What queries (B * W, H, K), W for each source, find there: (B * W, H * K).

        They come scaled. Whoever watches gets the weights of the W queries side by side, (B, H, W, S), or
        those of each query alone, (B * W, H, 1, S), where each has a trail of its own.
        """
        count, heads, width = query.shape
        queries = count * heads // len(self.keys)
        if queries > 1:
            query = query.view(-1, queries, heads, width).transpose(1, 2)
        query = query.reshape(-1, queries, width)
        keys, values = self.keys, self.values
        if self.hidden is not None:
            scores = torch.baddbmm(self.hidden, query, keys)
        else:
            if (filled := _whole(self.length)) < keys.shape[2]:
                keys, values = keys.narrow(2, 0, filled), values.narrow(1, 0, filled)
            scores = torch.bmm(query, keys)
            if trail is not None:
                scores.unflatten(0, (-1, heads)).add_(trail.hidden.unsqueeze(1))
            elif filled > self.length:
                scores.narrow(2, self.length, filled - self.length).fill_(-float("inf"))
        weights = scores.softmax(-1)
        if watch is not None:
            seen, values = weights[..., : self.length].unflatten(0, (-1, heads)), values[:, : self.length]
            seen = (
                trail.watched(seen, address, watch)
                if trail is not None
                else watch(address, seen, self._mask())
            )
            weights = seen.flatten(0, 1)
        read = torch.bmm(weights, values)
        if queries > 1:
            read = read.view(-1, heads, queries, width).transpose(1, 2)
        return read.reshape(count, heads * width)

    def _mask(self) -> Tensor | None:
        """Where one may look, (B, 1, 1, S)."""
        if self.hidden is None:
            return None
        return self.hidden[:: self.heads, None, :, : self.length] == 0


@dataclass(frozen=True, slots=True)
class Trail:
    """The places of a shelf that each of the W rows of a source has come by, in the order of the places.

    All that the rows of a source write stays where it is, on one shelf; when a row goes on from another one,
    only its trail changes.
    """

    hidden: Tensor
    """What is added to the scores, (B, W, S): minus infinity where a row has not been."""
    length: int
    """Of the shelf."""

    @classmethod
    def common(cls, sources: int, length: int, like: Tensor) -> Self:
        """Of one row for each source, which has been everywhere."""
        return cls(_filled(like.new_zeros(sources, 1, length)), length)

    def keep(self, sources: Tensor) -> Self:
        """Of these sources."""
        return replace(self, hidden=self.hidden[sources])

    def move(self, rows: Tensor) -> Self:
        """Of these rows, as many for each source."""
        sources, _, places = self.hidden.shape
        hidden = self.hidden.flatten(0, 1).index_select(0, rows)
        return replace(self, hidden=hidden.view(sources, len(rows) // sources, places))

    def grow(self) -> Self:
        """Each row goes on to a place of its own."""
        hidden, length = self.hidden, self.length
        _, count, places = hidden.shape
        if (needed := _whole(length + count)) > places:
            hidden = pad(hidden, (0, needed - places), value=-float("inf"))
        hidden.narrow(2, length, count).diagonal(dim1=1, dim2=2).zero_()
        return replace(self, hidden=hidden, length=length + count)

    def busy(self) -> Tensor | None:
        """The places (B, S) that any row has come by, if those are few; others fill the last vector."""
        been = (self.hidden == 0).any(1)
        most = _whole(int(been.sum(1).max()))
        if 2 * most > self.length:
            return None
        return been.to(torch.uint8).argsort(dim=1, descending=True, stable=True)[:, :most]

    def pick(self, places: Tensor) -> Self:
        """On these places (B, S) alone."""
        width, count = self.hidden.shape[1], places.shape[1]
        hidden = self.hidden.gather(2, places.unsqueeze(1).expand(-1, width, -1))
        return replace(self, hidden=hidden, length=count)

    def watched(self, weights: Tensor, address: str, watch: Watch) -> Tensor:
        """Weights (B, H, W, S) after somebody has seen those of each row's own trail."""
        sources, heads, width, _ = weights.shape
        places = (self.hidden == 0).nonzero()[:, 2].view(sources, 1, width, -1).expand(-1, heads, -1, -1)
        own = weights.gather(3, places).transpose(1, 2).flatten(0, 1).unsqueeze(2)  # (B * W, H, 1, L)
        own = watch(address, own, None).squeeze(2).unflatten(0, (sources, width)).transpose(1, 2)
        return torch.zeros_like(weights).scatter_(3, places, own)


def _whole(places: int) -> int:
    """As many, up to whole vectors."""
    return places + -places % _ROOM


def _copied(part: Tensor, dimension: int, places: int, room: int) -> Tensor:
    """The first places of a tensor in another one that has room for more."""
    shape = list(part.shape)
    shape[dimension] = room
    copied = part.new_empty(shape)
    copied.narrow(dimension, 0, places).copy_(part.narrow(dimension, 0, places))
    return copied


def _filled(hidden: Tensor) -> Tensor:
    """Up to whole vectors, with places that are not seen."""
    places = hidden.shape[-1]
    return pad(hidden, (0, _whole(places) - places), value=-float("inf"))
