"""Scaled dot-product attention with several heads: one plain way that can be watched, one fused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.dropout import dropout
from seq2see.layers.positions import rotate
from seq2see.layers.short import LONGEST, short_attention

__all__ = ["KeysValues", "MultiHeadAttention", "Watch", "fused_attention", "harden", "plain_attention"]

Watch = Callable[[str, Tensor, Tensor | None], Tensor]
"""Gets address, weights (B, H, T, S) and mask of each attention, and gives back the weights to use."""


@dataclass(frozen=True)
class KeysValues:
    """What is looked at: keys and values (B, H, S, K), and where one may look (B, 1, T or 1, S)."""

    keys: Tensor
    values: Tensor
    mask: Tensor | None = None

    def select(self, rows: Tensor) -> "KeysValues":
        """Keep, repeat or drop rows of the batch."""
        mask = self.mask[rows] if self.mask is not None else None
        return KeysValues(self.keys[rows], self.values[rows], mask)

    def append(self, other: "KeysValues") -> "KeysValues":
        """The same with more positions."""
        return KeysValues(
            torch.cat([self.keys, other.keys], 2), torch.cat([self.values, other.values], 2), self.mask
        )


def split(states: Tensor, heads: int) -> Tensor:
    """(B, T, D) -> (B, H, T, K)."""
    parted: Tensor = states.unflatten(-1, (heads, -1))
    return parted.transpose(1, 2)


def plain_attention(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """softmax(Q K^T / sqrt(K)) V, and the weights; a row that may look nowhere gives zeros."""
    weights = attention_weights(query, keys, mask)
    return weights @ values, weights


def attention_weights(query: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
    """softmax(Q K^T / sqrt(K)) over the places where one may look, (B, H, T, S)."""
    return normalise(query @ keys.transpose(-2, -1) / query.shape[-1] ** 0.5, mask)


def normalise(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the places where one may look; zeros where there is none."""
    if mask is None:
        return scores.softmax(-1)
    # A finite low score keeps rows without any place to look free of NaN; the mask then empties them.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


def harden(weights: Tensor) -> Tensor:
    """All the weight on the place that has most of it; rows without any stay empty."""
    hard = F.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights.dtype)
    return hard * (weights.amax(-1, keepdim=True) > 0)


def fused_attention(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """The same result by PyTorch's fused kernel, which shows no weights."""
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)


class MultiHeadAttention(nn.Module):
    """Attention in several heads: the width is split, each head looks for itself, the results are joined.

    "Attention Is All You Need", section 3.2.2. `query` and `keys` positions may be rotated (rotary).
    """

    def __init__(self, width: int, heads: int, address: str, dropout_rate: float = 0.0) -> None:
        super().__init__()
        self.address = address
        self.heads = heads
        self.dropout = dropout_rate
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self._joined: dict[tuple[float, tuple[str, ...]], tuple[list[int], Tensor, Tensor]] = {}

    def project(
        self, memory: Tensor, mask: Tensor | None = None, rotation: Tensor | None = None
    ) -> KeysValues:
        """Keys and values of what will be looked at; computed once, used for every query."""
        keys, values = self._heads(memory, "key", "value")
        return KeysValues(_turned(keys, rotation), values, mask)

    def project_all(
        self, states: Tensor, mask: Tensor | None = None, rotation: Tensor | None = None
    ) -> tuple[Tensor, KeysValues]:
        """Queries, keys and values of states that look at each other, by one product."""
        query, keys, values = self._heads(states, "query", "key", "value")
        return _turned(query, rotation), KeysValues(_turned(keys, rotation), values, mask)

    def forward(
        self,
        states: Tensor,
        seen: KeysValues,
        rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> Tensor:
        """What each state reads from what it sees, (B, T, D)."""
        query = split(self.query(states), self.heads)
        return self.read(_turned(query, rotation), seen, watch)

    def read(self, query: Tensor, seen: KeysValues, watch: Watch | None = None) -> Tensor:
        """What each query (B, H, T, K) reads, (B, T, D)."""
        dropped = self.dropout if self.training else 0.0
        if watch is not None:
            weights = watch(self.address, attention_weights(query, seen.keys, seen.mask), seen.mask)
            read = dropout(weights, dropped) @ seen.values
        elif query.device.type == "cpu" and max(query.shape[2], seen.keys.shape[2]) <= LONGEST:
            read = short_attention(query, seen.keys, seen.values, seen.mask, dropped)
        elif dropped:
            read = dropout(attention_weights(query, seen.keys, seen.mask), dropped) @ seen.values
        else:
            read = fused_attention(query, seen.keys, seen.values, seen.mask)
        # (B, H, T, K) -> (B, T, D)
        joined: Tensor = self.output(read.transpose(1, 2).flatten(2))
        return joined

    def projection(self, *names: str, scale: float = 1.0) -> tuple[Tensor, Tensor]:
        """Weight and bias of some layers as one, the first of them scaled.

        While nothing is learnt they are kept for the next time. A change is told by a weight's version, but
        fused optimisers do not count it up: so a pass that learns, and `train`, clear what is kept.
        """
        layers = [getattr(self, name) for name in names]
        weights, biases = [layer.weight for layer in layers], [layer.bias for layer in layers]
        if self.training or torch.is_grad_enabled():
            self._joined.clear()
            return _as_one(weights, scale), _as_one(biases, scale)
        state = [number for part in (*weights, *biases) for number in (part.data_ptr(), part._version)]
        kept = self._joined.get((scale, names))
        if kept is None or kept[0] != state:
            kept = state, _as_one(weights, scale), _as_one(biases, scale)
            self._joined[scale, names] = kept
        return kept[1:]

    def train(self, mode: bool = True) -> Self:
        """Learn, or stop learning."""
        self._joined.clear()
        return super().train(mode)

    def _heads(self, states: Tensor, *names: str) -> tuple[Tensor, ...]:
        """What some linear layers give, computed as one and split into heads, (B, T, D) -> (B, H, T, K)."""
        parts: Tensor = F.linear(states, *self.projection(*names)).unflatten(-1, (len(names), self.heads, -1))
        return tuple(part.transpose(1, 2) for part in parts.unbind(2))


def _as_one(parts: list[Tensor], scale: float) -> Tensor:
    first = parts[0] if scale == 1 else parts[0] * scale
    return torch.cat([first, *parts[1:]])


def _turned(states: Tensor, rotation: Tensor | None) -> Tensor:
    return rotate(states, rotation) if rotation is not None else states
