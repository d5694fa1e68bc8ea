"""Dropout whose random numbers cost little on a CPU."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["Dropout", "dropout"]


def dropout(states: Tensor, rate: float) -> Tensor:
    """Set a share of the features to zero and scale the rest up, so that the mean stays.

    PyTorch draws one random number for each feature, one after another, which on a CPU takes longer
    than the matrix products around it. Here each feature gets one random byte, eight to a draw; the
    rate is rounded to the nearest 1/256, and the scale is that of the rounded rate.
    """
    if rate == 0:
        return states
    if states.device.type != "cpu":
        return F.dropout(states, rate)
    lost = min(255, max(1, round(rate * 256)))
    draws = torch.empty(-(-states.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    kept = draws.view(torch.uint8)[: states.numel()].view(states.shape) >= lost
    return states * kept.to(states.dtype).mul_(256 / (256 - lost))


class Dropout(nn.Module):
    """Dropout while training, nothing otherwise."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, states: Tensor) -> Tensor:
        return dropout(states, self.rate) if self.training else states
