"""Transformer blocks: sublayers, each with a residual path and a norm."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from torch import Tensor, nn

from seq2see.layers.attention import KeysValues, MultiHeadAttention, Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.feedforward import Activation, FeedForward
from seq2see.layers.norms import NormKind, make_norm

__all__ = ["Block", "NormPlace", "Residual"]

NormPlace = Literal["before", "after"]


class Residual(nn.Module):
    """x + f(x) with a norm after the sum (as published) or before f (easier to train deep)."""

    def __init__(
        self,
        width: int,
        norm: NormPlace,
        dropout: float,
        kind: NormKind = "layer",
        epsilon: float = 1e-5,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.place = norm
        self.norm = make_norm(kind, width, epsilon, bias)
        self.dropout = Dropout(dropout)

    def forward(
        self, states: Tensor, sublayer: Callable[[Tensor], Tensor], first_only: bool = False
    ) -> Tensor:
        """New states of all positions, or of the first alone if that is all that the sublayer gives."""
        change = sublayer(self.norm(states) if self.place == "before" else states)
        after = self.dropout.add(states[:, :1] if first_only else states, change)
        return self.norm(after) if self.place == "after" else after


class Block(nn.Module):
    """Self-attention, then (in a block that `crosses`) attention on encoded sources, then feed-forward.

    `address` is the block's own, such as `encoder.0`. The same block serves training, where all positions
    are known, and decoding, where each step adds one (`extend`).
    """

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
        *,
        crosses: bool = False,
        norm_kind: NormKind = "layer",
        epsilon: float = 1e-5,
        bias: bool = True,
        groups: int | None = None,
    ) -> None:
        super().__init__()

        def residual() -> Residual:
            return Residual(width, norm, dropout, norm_kind, epsilon, bias)

        self.crosses = crosses
        self.attention = MultiHeadAttention(width, heads, f"{address}.self", attention_dropout, bias, groups)
        self.attention_residual = residual()
        if crosses:
            self.cross = MultiHeadAttention(width, heads, f"{address}.cross", attention_dropout, bias, groups)
            self.cross_residual = residual()
        self.feedforward = FeedForward(width, inner, activation, dropout, bias)
        self.feedforward_residual = residual()

    def forward(
        self,
        states: Tensor,
        mask: Tensor | None = None,
        rotation: Tensor | None = None,
        watch: Watch | None = None,
        memory: KeysValues | None = None,
        cross_rotation: Tensor | None = None,
        first_only: bool = False,
    ) -> Tensor:
        """New states of all positions (B, T, D), or of the first alone (B, 1, D), which is less work."""

        def attend(inner: Tensor) -> Tensor:
            return self.attention.among(inner, mask, rotation, watch, first_only)

        return self._through(states, attend, watch, memory, cross_rotation, first_only)

    def extend(
        self,
        states: Tensor,
        past: KeysValues | None,
        mask: Tensor | None = None,
        rotation: Tensor | None = None,
        watch: Watch | None = None,
        memory: KeysValues | None = None,
        cross_rotation: Tensor | None = None,
    ) -> tuple[Tensor, KeysValues]:
        """New states of further positions (B, T, D), and the keys and values of all positions so far.

        The mask says which positions, past ones first, each of the new ones may see.
        """

        def attend(inner: Tensor) -> Tensor:
            nonlocal past
            query, own = self.attention.project_all(inner, None, rotation)
            past = past.append(own) if past is not None else own
            return self.attention.read(query, replace(past, mask=mask), watch)

        states = self._through(states, attend, watch, memory, cross_rotation)
        assert past is not None
        return states, past

    def _through(
        self,
        states: Tensor,
        attend: Callable[[Tensor], Tensor],
        watch: Watch | None,
        memory: KeysValues | None,
        cross_rotation: Tensor | None,
        first_only: bool = False,
    ) -> Tensor:
        """All sublayers one after another, with this self-attention."""

        def attend_to_source(inner: Tensor) -> Tensor:
            assert memory is not None, "a block that crosses needs the keys and values of a source"
            read: Tensor = self.cross(inner, memory, cross_rotation, watch)
            return read

        states = self.attention_residual(states, attend, first_only)
        if self.crosses:
            states = self.cross_residual(states, attend_to_source)
        after: Tensor = self.feedforward_residual(states, self.feedforward)
        return after
