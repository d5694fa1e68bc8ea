"""The position-wise feed-forward network."""

from typing import Literal

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
            return F.relu(inner).square()
        if self.activation == "silu":
            return F.silu(inner)
        return F.gelu(inner, approximate="tanh" if self.activation == "gelu-tanh" else "none")
