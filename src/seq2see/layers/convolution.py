"""Convolution along a sequence."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["Convolution"]


class Convolution(nn.Module):
    """Each position sees its neighbours, and a gate decides what passes (Gehring et al. 2017)."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.convolve = nn.Conv1d(width, 2 * width, kernel, padding=kernel // 2)
        nn.init.xavier_uniform_(self.convolve.weight)
        nn.init.zeros_(self.convolve.bias)  # type: ignore[arg-type]

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """New states (B, S, D); padding counts as zeros, as do the positions beyond the ends."""
        inputs = torch.where(mask.unsqueeze(-1), states, 0.0)
        return F.glu(self.convolve(inputs.transpose(1, 2)).transpose(1, 2), -1)
