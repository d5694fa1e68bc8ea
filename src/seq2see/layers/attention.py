"""Scaled dot-product attention with several heads: one plain way that can be watched, one fused."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.dropout import dropout
from seq2see.layers.positions import rotate
from seq2see.layers.short import LONGEST, short_attention, short_self_attention

__all__ = ["KeysValues", "MultiHeadAttention", "Watch", "fused_attention", "harden", "plain_attention"]

Watch = Callable[[str, Tensor, Tensor | None], Tensor]
"""Is told address, weights (B, H, T, S) and mask of each attention; what it returns is used as weights."""


@dataclass(frozen=True)
class KeysValues:
    """Keys and values (B, H, S, K), and which of them each query may see (B, 1, T or 1, S)."""

    keys: Tensor
    values: Tensor
    mask: Tensor | None = None

    def select(self, rows: Tensor) -> "KeysValues":
        """Keep, repeat or drop rows of the batch."""
        mask = self.mask[rows] if self.mask is not None else None
        return KeysValues(self.keys[rows], self.values[rows], mask)

    def append(self, other: "KeysValues") -> "KeysValues":
        """Add the positions of other keys and values of the same rows; the mask stays as it was."""
        return KeysValues(
            torch.cat([self.keys, other.keys], 2), torch.cat([self.values, other.values], 2), self.mask
        )

    def join(self, other: "KeysValues") -> "KeysValues":
        """Add the rows of another batch; the positions that the shorter one lacks are masked."""
        longest = max(self.keys.shape[2], other.keys.shape[2])
        if self.mask is None and other.mask is None and self.keys.shape[2] == other.keys.shape[2]:
            masks = None
        else:
            masks = torch.cat([part._padded_mask(longest) for part in (self, other)])
        keys, values = (
            torch.cat([F.pad(part, (0, 0, 0, longest - part.shape[2])) for part in parts])
            for parts in ((self.keys, other.keys), (self.values, other.values))
        )
        return KeysValues(keys, values, masks)

    def _padded_mask(self, length: int) -> Tensor:
        """Which positions are seen, (B, 1, 1, length)."""
        rows, _, own, _ = self.keys.shape
        mask = self.mask
        if mask is None:
            mask = torch.ones(rows, 1, 1, own, dtype=torch.bool, device=self.keys.device)
        return F.pad(mask, (0, length - own), value=False)


def split(states: Tensor, heads: int) -> Tensor:
    """(B, T, D) -> (B, H, T, K)."""
    parted: Tensor = states.unflatten(-1, (heads, -1))
    return parted.transpose(1, 2)


def plain_attention(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """softmax(Q K^T / sqrt(K)) V, and the weights; a query that may see nothing gives zeros."""
    weights = attention_weights(query, keys, mask)
    return weights @ values, weights


def attention_weights(query: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(K)) over the keys that each query may see, (B, H, T, S)."""
    return normalise(query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5, mask)


def normalise(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the keys that may be seen; zeros for a query that may see none."""
    if mask is None:
        return scores.softmax(-1)
    # A finite low score keeps queries that may see no key free of NaN; the mask then sets their weights to 0.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


def harden(weights: Tensor) -> Tensor:
    """All the weight on the key that has most of it; queries without any weight stay so."""
    hard = F.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype)
    return hard * (weights.amax(-1, keepdim=True) > 0)


def fused_attention(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """The same result by PyTorch's fused kernel, which shows no weights."""
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)


class MultiHeadAttention(nn.Module):
    """Attention in several heads: the width is split, each head attends on its own, the results are joined.

    "Attention Is All You Need", section 3.2.2. `query` and `keys` positions may be rotated (rotary). With
    `groups`, so many heads of keys and values serve all heads of queries (Ainslie et al. 2023).
    """

    def __init__(
        self,
        width: int,
        heads: int,
        address: str,
        dropout_rate: float = 0.0,
        bias: bool = True,
        groups: int | None = None,
    ) -> None:
        super().__init__()
        self.address = address
        self.heads, self.groups = heads, groups or heads
        self.dropout = dropout_rate
        shared = width // heads * self.groups
        self.query = nn.Linear(width, width, bias)
        self.key = nn.Linear(width, shared, bias)
        self.value = nn.Linear(width, shared, bias)
        self.output = nn.Linear(width, width, bias)
        joined = [self.query, self.key, self.value]
        _lay_side_by_side([layer.weight for layer in joined])
        if bias:
            _lay_side_by_side([layer.bias for layer in joined])

    def project(
        self, memory: Tensor, mask: Tensor | None = None, rotation: Tensor | None = None
    ) -> KeysValues:
        """Keys and values of states; computed once, used for every query."""
        keys, values = self._heads(memory, "key", "value")
        return KeysValues(_rotated(keys, rotation), values, mask)

    def project_all(
        self, states: Tensor, mask: Tensor | None = None, rotation: Tensor | None = None
    ) -> tuple[Tensor, KeysValues]:
        """Queries, keys and values of states that attend to each other, by one product."""
        query, keys, values = self._heads(states, "query", "key", "value")
        return _rotated(query, rotation), KeysValues(_rotated(keys, rotation), values, mask)

    def among(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        rotation: Tensor | None = None,
        watch: Watch | None = None,
        first_only: bool = False,
    ) -> Tensor:
        """What states read from each other (B, T, D), or the first alone from all of them (B, 1, D)."""
        if first_only:
            turned = rotation[:, :1] if rotation is not None else None
            read: Tensor = self(states[:, :1], self.project(states, mask, rotation), turned, watch)
            return read
        if watch is None and self.groups == self.heads and _is_short(states, states.shape[1]):
            projected = F.linear(states, *self.joined_weights("query", "key", "value"))
            dropped = self.dropout if self.training else 0.0
            joined: Tensor = self.output(short_self_attention(projected, self.heads, mask, rotation, dropped))
            return joined
        return self.read(*self.project_all(states, mask, rotation), watch)

    def forward(
        self,
        states: Tensor,
        seen: KeysValues,
        rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> Tensor:
        """What each state reads from keys and values, (B, T, D)."""
        query = split(self.query(states), self.heads)
        return self.read(_rotated(query, rotation), seen, watch)

    def read(self, query: Tensor, seen: KeysValues, watch: Watch | None = None) -> Tensor:
        """What each query (B, H, T, K) reads, (B, T, D)."""
        dropped = self.dropout if self.training else 0.0
        if watch is not None:
            weights = watch(self.address, attention_weights(query, seen.keys, seen.mask), seen.mask)
            read = dropout(weights, dropped) @ seen.values
        elif torch.compiler.is_compiling() and not dropped:
            # An exported graph serves all lengths and devices.
            read = fused_attention(query, seen.keys, seen.values, seen.mask)
        elif _is_short(query, max(query.shape[2], seen.keys.shape[2])):
            read = short_attention(query, seen.keys, seen.values, seen.mask, dropped)
        elif dropped:
            read = dropout(attention_weights(query, seen.keys, seen.mask), dropped) @ seen.values
        else:
            read = fused_attention(query, seen.keys, seen.values, seen.mask)
        # (B, H, T, K) -> (B, T, D)
        joined: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return joined

    def joined_weights(self, *names: str) -> tuple[Tensor, Tensor | None]:
        """Weights and biases of several projections as those of one; without gradients, mostly no copies."""
        layers = [getattr(self, name) for name in names]
        weight = _stacked([layer.weight for layer in layers])
        return weight, _stacked([layer.bias for layer in layers]) if layers[0].bias is not None else None

    def _heads(self, states: Tensor, *names: str) -> tuple[Tensor, ...]:
        """Several projections by one product, split into heads, (B, T, D) -> (B, H, T, K) each."""
        projected = F.linear(states, *self.joined_weights(*names))
        counts = [self.heads if name == "query" else self.groups for name in names]
        parts = projected.unflatten(-1, (sum(counts), -1)).transpose(1, 2).split(counts, 1)
        return tuple(self.for_all_heads(part, 1) for part in parts)

    def for_all_heads(self, part: Tensor, dimension: int) -> Tensor:
        """Keys or values of groups, repeated so that each head finds its own."""
        count = part.shape[dimension]
        return part if count == self.heads else part.repeat_interleave(self.heads // count, dimension)


def _is_short(states: Tensor, length: int) -> bool:
    """Whether attention over so many positions is faster as a few large operations."""
    return not torch.compiler.is_compiling() and states.device.type == "cpu" and length <= LONGEST


def _lay_side_by_side(parameters: list[Tensor]) -> None:
    """Let parameters be parts of one block of memory, which can then be used as a whole."""
    with torch.no_grad():
        parts = torch.cat([parameter.data for parameter in parameters]).split(list(map(len, parameters)))
    for parameter, part in zip(parameters, parts, strict=True):
        parameter.data = part


def _stacked(parts: list[Tensor]) -> Tensor:
    """Tensors one under another: a view if they lie so in memory and no gradient is wanted, else a copy."""
    if torch.is_grad_enabled() or torch.compiler.is_compiling():
        return torch.cat(parts)
    first, end = parts[0], parts[0].data_ptr()
    for part in parts:
        if part.data_ptr() != end:
            return torch.cat(parts)
        end += part.nbytes
    storage = first.untyped_storage()
    if end > storage.data_ptr() + storage.nbytes():
        return torch.cat(parts)
    rows = sum(map(len, parts))
    return first.as_strided((rows, *first.shape[1:]), first.stride(), first.storage_offset())


def _rotated(states: Tensor, rotation: Tensor | None) -> Tensor:
    return rotate(states, rotation) if rotation is not None else states
