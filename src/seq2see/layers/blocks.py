"""Transformer blocks: sublayers, each with a residual path and a layer norm."""

from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.attention import KeysValues, MultiHeadAttention, Watch
from seq2see.layers.cached import Shelf, Trail
from seq2see.layers.dropout import Dropout
from seq2see.layers.feedforward import Activation, FeedForward
from seq2see.layers.positions import rotate

__all__ = ["BlockState", "DecoderBlock", "EncoderBlock", "NormPlace", "Residual"]

NormPlace = Literal["before", "after"]


class Residual(nn.Module):
    """x + f(x) with a layer norm after the sum (as published) or before f (easier to train deep)."""

    def __init__(self, width: int, norm: NormPlace, dropout: float) -> None:
        super().__init__()
        self.place = norm
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.place == "before":
            return self.dropout.add(states, sublayer(self.norm(states)))
        normed: Tensor = self.norm(self.dropout.add(states, sublayer(states)))
        return normed


class _Block(nn.Module):
    """The sublayers of a block; `address` is the block's own, such as `encoder.0`."""

    crosses: ClassVar[bool]

    def __init__(
        self,
        width: int,
        heads: int,
        inner: int,
        address: str,
        activation: Activation = "relu",
        norm: NormPlace = "before",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, heads, f"{address}.self", attention_dropout)
        self.attention_residual = Residual(width, norm, dropout)
        if self.crosses:
            self.cross = MultiHeadAttention(width, heads, f"{address}.cross", attention_dropout)
            self.cross_residual = Residual(width, norm, dropout)
        self.feedforward = FeedForward(width, inner, activation, dropout)
        self.feedforward_residual = Residual(width, norm, dropout)


class EncoderBlock(_Block):
    """Self-attention, then feed-forward."""

    crosses = False

    def forward(
        self, states: Tensor, mask: Tensor | None, rotation: Tensor | None = None, watch: Watch | None = None
    ) -> Tensor:
        def look(states: Tensor) -> Tensor:
            query, seen = self.attention.project_all(states, mask, rotation)
            return self.attention.read(query, seen, watch)

        states = self.attention_residual(states, look)
        changed: Tensor = self.feedforward_residual(states, self.feedforward)
        return changed


class DecoderBlock(_Block):
    """Masked self-attention, cross-attention on the encoder's states, then feed-forward."""

    crosses = True

    def forward(
        self,
        states: Tensor,
        memory: KeysValues,
        mask: Tensor | None = None,
        rotation: Tensor | None = None,
        cross_rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> Tensor:
        """New states of all positions, (B, T, D)."""

        def look_back(states: Tensor) -> Tensor:
            query, seen = self.attention.project_all(states, mask, rotation)
            return self.attention.read(query, seen, watch)

        states = self.attention_residual(states, look_back)
        states = self.cross_residual(states, lambda states: self.cross(states, memory, cross_rotation, watch))
        changed: Tensor = self.feedforward_residual(states, self.feedforward)
        return changed

    def begin(self, memory: KeysValues) -> "BlockState":
        """The state before the first step."""
        rows, heads, _, width = memory.keys.shape
        past = Shelf.empty(rows, heads, width, memory.keys)
        return BlockState(
            past,
            Shelf.of(memory),
            Sublayer.of(
                self.attention_residual,
                self.attention.projection("query", "key", "value", scale=width**-0.5),
                self.attention.output,
            ),
            Sublayer.of(
                self.cross_residual, self.cross.projection("query", scale=width**-0.5), self.cross.output
            ),
            Sublayer.of(self.feedforward_residual, _parts(self.feedforward.enter), self.feedforward.leave),
        )

    def step(
        self,
        states: Tensor,
        state: "BlockState",
        trail: Trail | None = None,
        rotation: Tensor | None = None,
        cross_rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> tuple[Tensor, "BlockState"]:
        """New states of one position of all rows, (B, D), and the state after it; nothing is dropped out."""
        past, memory, own, cross, feedforward = state
        shape = len(states), -1, self.attention.heads, past.keys.shape[1]

        def look_back(inside: Tensor) -> Tensor:
            nonlocal past
            parts = inside.view(shape)
            query, key, value = parts.unbind(1)
            if rotation is not None:
                query, key = rotate(parts[:, :2], rotation).unbind(1)
            past = past.put(key, value)
            return past.read(query, self.attention.address, watch, trail)

        def look_at_source(inside: Tensor) -> Tensor:
            query = inside.view(len(inside), *shape[2:])
            if cross_rotation is not None:
                query = rotate(query, cross_rotation)
            return memory.read(query, self.cross.address, watch)

        states = own(states, look_back)
        states = cross(states, look_at_source)
        states = feedforward(states, self.feedforward.activate)
        return states, BlockState(past, memory, own, cross, feedforward)


class Sublayer(NamedTuple):
    """A residual path as plain tensors: what it does to one position costs less than calls of modules."""

    before: bool
    norm: tuple[Tensor, Tensor, float]
    enter: tuple[Tensor, Tensor]
    leave: Tensor
    """Transposed."""
    bias: Tensor

    @classmethod
    def of(cls, residual: Residual, enter: tuple[Tensor, Tensor], leave: nn.Linear) -> Self:
        """Of modules and the weights that states enter by."""
        norm = residual.norm
        parts = (norm.weight, norm.bias, norm.eps)
        return cls(residual.place == "before", parts, enter, leave.weight.t(), leave.bias)

    def __call__(self, states: Tensor, inner: Callable[[Tensor], Tensor]) -> Tensor:
        """States (B, D) after this sublayer, whose own part works on what has entered."""
        width = states.shape[1:]
        inside = torch.layer_norm(states, width, *self.norm) if self.before else states
        inside = inner(F.linear(inside, *self.enter))
        after = states + self.bias
        # In place, which automatic precision does not know of: there it would not fit.
        after = (
            after.addmm_(inside, self.leave) if inside.dtype == after.dtype else after + inside @ self.leave
        )
        return after if self.before else torch.layer_norm(after, width, *self.norm)


class BlockState(NamedTuple):
    """What a decoder block carries from step to step: what it has written, what it has read, its weights."""

    past: Shelf
    memory: Shelf
    own: Sublayer
    cross: Sublayer
    feedforward: Sublayer


def _parts(layer: nn.Linear) -> tuple[Tensor, Tensor]:
    return layer.weight, layer.bias
