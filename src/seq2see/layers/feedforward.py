"""The position-wise feed-forward network."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.dropout import Dropout

__all__ = ["Activation", "FeedForward"]

Activation = Literal["relu", "relu-squared", "gelu", "gelu-tanh", "silu", "swiglu"]
"""`relu-squared` is from Primer (So et al. 2021); `gelu-tanh` is the approximation of GPT-2."""


class FeedForward(nn.Module):
    """Linear, activation, Linear at each position; SwiGLU (Shazeer 2020) gates one half by the other."""

    def __init__(
        self,
        width: int,
        inner: int,
        activation: Activation = "relu",
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.enter = nn.Linear(width, inner * (2 if activation == "swiglu" else 1), bias)
        self.leave = nn.Linear(inner, width, bias)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor) -> Tensor:
        left: Tensor = self.leave(self.dropout(self.activate(self.enter(states))))
        return left

    def activate(self, inner: Tensor) -> Tensor:
        """What stands between the two linear layers."""
        if self.activation == "swiglu":
            gate, inner = inner.chunk(2, -1)
            return F.silu(gate) * inner
        if self.activation == "relu":
            return F.relu(inner, not torch.is_grad_enabled())
        if self.activation == "relu-squared":
            if torch.compiler.is_compiling():
                return F.relu(inner).square()
            squared: Tensor = _SquaredReLU.apply(inner)  # type: ignore[no-untyped-call]
            return squared
        if self.activation == "silu":
            return F.silu(inner)
        return F.gelu(inner, approximate="tanh" if self.activation == "gelu-tanh" else "none")


class _SquaredReLU(torch.autograd.Function):
    """`relu(x).square()`; its own derivative passes over the states half as often as that of the two."""

    @staticmethod
    def forward(ctx: Any, inner: Tensor) -> Tensor:
        positive = F.relu(inner)
        ctx.save_for_backward(positive)
        return positive.square()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (positive,) = ctx.saved_tensors
        gradient: Tensor = (gradients[0] * positive).mul_(2)
        return gradient
