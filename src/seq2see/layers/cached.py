"""Attention of one query per row, step after step, on keys and values that stay where they are in memory."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.layers.attention import KeysValues, Watch

__all__ = ["BeamMask", "KeyValueCache"]

_VECTOR = 16
"""Slots are computed on in multiples of this: matrix products and softmax are fastest over whole vectors."""


@dataclass(slots=True)
class KeyValueCache:
    """Keys (B * H, K, S) and values (B * H, S, K) of B sources, in the layout of products with queries.

    The W rows of a source (its beam) share the S slots, of which `length` are in use. Slots after those are
    zero up to a whole vector, then undefined. `append` writes into the memory of the cache that it is called
    on, so that one must not be used afterwards.
    """

    keys: Tensor
    values: Tensor
    heads: int
    length: int
    bias: Tensor | None = None
    """A mask of the slots as what is added to attention scores, (B * H, 1, S): 0 or minus infinity."""

    @classmethod
    def of_memory(cls, memory: KeysValues) -> Self:
        """All keys and values of encoded sources, with their mask."""
        cache = cls.filled(memory)
        rows, heads = memory.keys.shape[:2]
        mask = memory.mask
        if mask is None:
            mask = memory.keys.new_ones(1, 1, 1, cache.length, dtype=torch.bool)
        bias = as_bias(mask, memory.keys.dtype).expand(rows, heads, -1, -1).flatten(0, 1)
        return replace(cache, bias=bias)

    @classmethod
    def filled(cls, seen: KeysValues) -> Self:
        """A cache that holds these keys and values, (B, H, S, K) each."""
        heads, length = seen.keys.shape[1:3]
        room = max(_VECTOR, _whole(length)) - length
        keys = pad(seen.keys.transpose(2, 3), (0, room)).flatten(0, 1).contiguous()
        values = pad(seen.values, (0, 0, 0, room)).flatten(0, 1).contiguous()
        return cls(keys, values, heads, length)

    @classmethod
    def empty(cls, sources: int, heads: int, width: int, like: Tensor) -> Self:
        """A cache without any slot in use."""
        rows = sources * heads
        return cls(like.new_empty(rows, width, _VECTOR), like.new_empty(rows, _VECTOR, width), heads, 0)

    @property
    def sources(self) -> int:
        """How many sources there are."""
        return len(self.keys) // self.heads

    def append(self, keys: Tensor, values: Tensor) -> Self:
        """Fill one more slot of each source, or W for its W rows; keys and values are (B * W, H, K)."""
        all_keys, all_values, length = self.keys, self.values, self.length
        count = len(keys) * self.heads // len(all_keys)
        zeroed, needed = _whole(length), _whole(length + count)
        if (room := all_keys.shape[2]) < needed:
            room = max(2 * room, needed)
            all_keys, all_values = _resized(all_keys, 2, zeroed, room), _resized(all_values, 1, zeroed, room)
        if needed > zeroed:
            all_keys.narrow(2, zeroed, needed - zeroed).zero_()
            all_values.narrow(1, zeroed, needed - zeroed).zero_()
        if count > 1:
            keys, values = (part.unflatten(0, (-1, count)).transpose(1, 2) for part in (keys, values))
        shape = len(all_keys), count, all_keys.shape[1]
        all_keys.narrow(2, length, count).copy_(keys.reshape(shape).transpose(1, 2))
        all_values.narrow(1, length, count).copy_(values.reshape(shape))
        return type(self)(all_keys, all_values, self.heads, length + count, self.bias)

    def keep(self, sources: Tensor) -> Self:
        """Only these sources, each as often as it is named."""

        def selected(part: Tensor) -> Tensor:
            return part.view(-1, self.heads, *part.shape[1:]).index_select(0, sources).flatten(0, 1)

        bias = selected(self.bias) if self.bias is not None else None
        return replace(self, keys=selected(self.keys), values=selected(self.values), bias=bias)

    def join(self, other: Self) -> Self:
        """The sources of both; the one with fewer slots gets zeros in those that it lacks."""
        length = max(self.length, other.length)
        room = max(_VECTOR, _whole(length))
        keys = torch.cat([_widened(part.keys, 2, _whole(part.length), room) for part in (self, other)])
        values = torch.cat([_widened(part.values, 1, _whole(part.length), room) for part in (self, other)])
        bias = None
        if self.bias is not None and other.bias is not None:
            bias = torch.cat(
                [_hidden_up_to(part.bias, room) for part in (self, other) if part.bias is not None]
            )
        return replace(self, keys=keys, values=values, length=length, bias=bias)

    def pick(self, slots: Tensor) -> Self:
        """Only these slots (B, S) of each source."""
        count, width = slots.shape[1], self.keys.shape[1]
        slots = slots.repeat_interleave(self.heads, 0)
        return replace(
            self,
            keys=self.keys.gather(2, slots[:, None].expand(-1, width, -1)),
            values=self.values.gather(1, slots[:, :, None].expand(-1, -1, width)),
            length=count,
        )

    def read(
        self, query: Tensor, address: str, watch: Watch | None, beam_mask: "BeamMask | None" = None
    ) -> Tensor:
        """What queries (B * W, H, K) read from the slots: (B * W, H * K).

        A watcher gets the weights of the W rows of a source side by side, (B, H, W, S). With a beam mask it
        gets those of each row on its own slots alone, (B * W, H, 1, S).
        """
        count, heads, width = query.shape
        queries = count * heads // len(self.keys)
        if queries > 1:
            query = query.view(-1, queries, heads, width).transpose(1, 2)
        query, scale = query.reshape(-1, queries, width), width**-0.5
        keys, values = self.keys, self.values
        if self.bias is not None:
            scores = torch.baddbmm(self.bias, query, keys, alpha=scale)
        else:
            if (used := _whole(self.length)) < keys.shape[2]:
                keys, values = keys.narrow(2, 0, used), values.narrow(1, 0, used)
            scores = torch.bmm(query * scale, keys)
            if beam_mask is not None:
                scores.unflatten(0, (-1, heads)).add_(beam_mask.bias.unsqueeze(1))
            elif used > self.length:
                scores.narrow(2, self.length, used - self.length).fill_(-float("inf"))
        weights = scores.softmax(-1)
        if watch is not None:
            weights, values = weights[..., : self.length], values[:, : self.length]
            by_head = weights.unflatten(0, (-1, heads))
            weights = self._watched(by_head, address, watch, beam_mask).flatten(0, 1)
        read = torch.bmm(weights, values)
        if queries > 1:
            read = read.view(-1, heads, queries, width).transpose(1, 2)
        return read.reshape(count, heads * width)

    def _watched(self, weights: Tensor, address: str, watch: Watch, beam_mask: "BeamMask | None") -> Tensor:
        """Weights (B, H, W, S) as the watcher returns them."""
        if beam_mask is not None:
            return beam_mask.watched(weights, address, watch)
        if self.bias is None:
            return watch(address, weights, None)
        return watch(address, weights, self.bias[:: self.heads, None, :, : self.length] == 0)


@dataclass(frozen=True, slots=True)
class BeamMask:
    """Which slots of a cache each of the W rows of a source may see.

    All that the rows of a source have written stays where it is in one cache. When a row continues another
    one, only its mask changes. A source that joined later may not see the slots filled before it came.
    """

    bias: Tensor
    """The mask as what is added to attention scores, (B, W, S): 0 where a row may look, or minus infinity."""
    length: int
    """The slots of the cache that are in use."""

    @classmethod
    def everything(cls, sources: int, length: int, like: Tensor) -> Self:
        """One row for each source, which may see every slot in use."""
        return cls(_hidden_up_to(like.new_zeros(sources, 1, length), _whole(length)), length)

    @classmethod
    def of_lengths(cls, lengths: Tensor, length: int, like: Tensor) -> Self:
        """One row for each source, which may see as many slots as `lengths` (B,) says, from the first on."""
        mask = torch.arange(length, device=lengths.device) < lengths[:, None]
        return cls(as_bias(mask[:, None], like.dtype), length)

    def keep(self, sources: Tensor) -> Self:
        """Only these sources, each as often as it is named."""
        return replace(self, bias=self.bias[sources])

    def move(self, rows: Tensor) -> Self:
        """Let the rows of each source continue these rows, as many for each source."""
        sources, _, slots = self.bias.shape
        bias = self.bias.flatten(0, 1).index_select(0, rows)
        return replace(self, bias=bias.view(sources, len(rows) // sources, slots))

    def join(self, other: Self) -> Self:
        """The sources of both, which must have the same number of rows each."""
        length = max(self.length, other.length)
        bias = torch.cat([_hidden_up_to(part.bias, _whole(length)) for part in (self, other)])
        return replace(self, bias=bias, length=length)

    def grow(self) -> Self:
        """Give each row a further slot of its own; the bias may be changed in place."""
        bias, length = self.bias, self.length
        _, count, slots = bias.shape
        if (needed := _whole(length + count)) > slots:
            bias = pad(bias, (0, needed - slots), value=-float("inf"))
        bias.narrow(2, length, count).diagonal(dim1=1, dim2=2).zero_()
        return replace(self, bias=bias, length=length + count)

    def used_slots(self) -> Tensor | None:
        """The slots (B, S) that any row may see, or none if they are more than half of all.

        Sources with fewer such slots than others get some that no row may see.
        """
        used = (self.bias == 0).any(1)
        most = _whole(int(used.sum(1).max()))
        if 2 * most > self.length:
            return None
        return used.to(torch.uint8).argsort(dim=1, descending=True, stable=True)[:, :most]

    def pick(self, slots: Tensor) -> Self:
        """Only these slots (B, S) of each source."""
        width, count = self.bias.shape[1], slots.shape[1]
        bias = self.bias.gather(2, slots.unsqueeze(1).expand(-1, width, -1))
        return replace(self, bias=bias, length=count)

    def watched(self, weights: Tensor, address: str, watch: Watch) -> Tensor:
        """Weights (B, H, W, S) after a watcher saw, for each row, those of its own slots (B * W, H, 1, L)."""
        _, heads, width, count = weights.shape
        own = self.bias[..., :count] == 0
        numbers = own.sum(-1, keepdim=True)
        most, least = int(numbers.max()), int(numbers.min())
        slots = own.to(torch.uint8).argsort(dim=-1, descending=True, stable=True)[..., :most]  # (B, W, L)
        mask = None
        if least < most:
            mask = (torch.arange(most, device=slots.device) < numbers).view(-1, 1, 1, most)
        slots = slots.unsqueeze(1).expand(-1, heads, -1, -1)
        seen = weights.gather(3, slots).transpose(1, 2).flatten(0, 1).unsqueeze(2)  # (B * W, H, 1, L)
        seen = watch(address, seen, mask).squeeze(2).unflatten(0, (-1, width)).transpose(1, 2)
        return torch.zeros_like(weights).scatter_(3, slots, seen)


def as_bias(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A Boolean mask (..., S) as what is added to attention scores, filled up with hidden slots."""
    bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -float("inf"))
    return _hidden_up_to(bias, max(_VECTOR, _whole(mask.shape[-1])))


def _whole(slots: int) -> int:
    """So many slots, rounded up to whole vectors."""
    return slots + -slots % _VECTOR


def _resized(part: Tensor, dimension: int, slots: int, room: int) -> Tensor:
    """The first slots of a tensor, copied into one that has room for more."""
    shape = list(part.shape)
    shape[dimension] = room
    copied = part.new_empty(shape)
    copied.narrow(dimension, 0, slots).copy_(part.narrow(dimension, 0, slots))
    return copied


def _widened(part: Tensor, dimension: int, slots: int, room: int) -> Tensor:
    """The first slots of a tensor, followed by zeros."""
    widened = _resized(part, dimension, slots, room)
    widened.narrow(dimension, slots, room - slots).zero_()
    return widened


def _hidden_up_to(bias: Tensor, slots: int) -> Tensor:
    """A bias with hidden slots added up to this number."""
    return pad(bias, (0, slots - bias.shape[-1]), value=-float("inf"))
