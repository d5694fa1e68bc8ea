"""Transformer blocks: sublayers, each with a residual path and a layer norm."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.attention import KeysValues, MultiHeadAttention, Watch
from seq2see.layers.cached import Shelf
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
        own = self.attention.projection(self.attention.key, self.attention.value)
        return BlockState(past, Shelf.of(memory), own, self.cross.projection())

    def step(
        self,
        states: Tensor,
        state: "BlockState",
        rotation: Tensor | None = None,
        cross_rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> tuple[Tensor, "BlockState"]:
        """New states of one position, (B, D), and the state after it."""
        past = state.past
        heads = self.attention.heads

        def look_back(states: Tensor) -> Tensor:
            nonlocal past
            query, key, value = F.linear(states, *state.own).view(len(states), 3, heads, -1).unbind(1)
            if rotation is not None:
                query, key = (rotate(part.unsqueeze(2), rotation).squeeze(2) for part in (query, key))
            past = past.put(key, value)
            read: Tensor = self.attention.output(past.read(query, self.attention.address, watch))
            return read

        def look_at_source(states: Tensor) -> Tensor:
            query = F.linear(states, *state.cross).view(len(states), heads, -1)
            if cross_rotation is not None:
                query = rotate(query.unsqueeze(2), cross_rotation).squeeze(2)
            read: Tensor = self.cross.output(state.memory.read(query, self.cross.address, watch))
            return read

        states = self.attention_residual(states, look_back)
        states = self.cross_residual(states, look_at_source)
        states = self.feedforward_residual(states, self.feedforward)
        return states, BlockState(past, state.memory, state.own, state.cross)


@dataclass(frozen=True)
class BlockState:
    """What a decoder block carries from step to step: what it has written and what it has read.

    The weights of its projections, put together once, go along.
    """

    past: Shelf
    memory: Shelf
    own: tuple[Tensor, Tensor]
    cross: tuple[Tensor, Tensor]
