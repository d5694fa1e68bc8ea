"""Dropout whose random numbers cost little on a CPU."""

import torch
from torch import Tensor, nn

__all__ = ["Dropout", "dropout", "kept"]


def kept(like: Tensor, rate: float) -> Tensor:
    """What to multiply features by: 0 for those that are lost, and for the rest what keeps the mean.

    PyTorch draws one random number for each feature, one after another, which on a CPU takes longer
    than the matrix products around it. Here each feature gets one random byte, eight to a draw; the
    rate is rounded to the nearest 1/256, and the scale is that of the rounded rate.
    """
    if like.device.type != "cpu":
        return torch.empty_like(like).bernoulli_(1 - rate).div_(1 - rate)
    lost = min(255, max(1, round(rate * 256)))
    draws = torch.empty(-(-like.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    # Comparing numbers of the states' own type is faster than making booleans and converting those.
    mask = draws.view(torch.uint8)[: like.numel()].view(like.shape).to(like.dtype)
    return mask.ge_(lost).mul_(256 / (256 - lost))


def dropout(states: Tensor, rate: float) -> Tensor:
    """Set a share of the features to zero and scale the rest up, so that the mean stays."""
    return states * kept(states, rate) if rate else states


class Dropout(nn.Module):
    """Dropout while training, nothing otherwise."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, states: Tensor) -> Tensor:
        return dropout(states, self.rate) if self.training else states

    def add(self, states: Tensor, change: Tensor) -> Tensor:
        """A residual path: states and what is left of a change."""
        if not self.training or not self.rate:
            return states + change
        return torch.addcmul(states, change, kept(change, self.rate))
