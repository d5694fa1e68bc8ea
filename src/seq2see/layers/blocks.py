"""Transformer blocks: sublayers, each with a residual path and a layer norm."""

from collections.abc import Callable
from typing import ClassVar, Literal

from torch import Tensor, nn

from seq2see.layers.attention import KeysValues, MultiHeadAttention, Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.feedforward import Activation, FeedForward

__all__ = ["DecoderBlock", "EncoderBlock", "NormPlace", "Residual"]

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
        past: KeysValues | None = None,
        mask: Tensor | None = None,
        rotation: Tensor | None = None,
        cross_rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> tuple[Tensor, KeysValues]:
        """New states, and the keys and values of all positions so far for the next step."""
        seen: KeysValues

        def look_back(states: Tensor) -> Tensor:
            nonlocal seen
            query, here = self.attention.project_all(states, mask, rotation)
            seen = past.append(here) if past is not None else here
            return self.attention.read(query, seen, watch)

        states = self.attention_residual(states, look_back)
        states = self.cross_residual(states, lambda states: self.cross(states, memory, cross_rotation, watch))
        return self.feedforward_residual(states, self.feedforward), seen
