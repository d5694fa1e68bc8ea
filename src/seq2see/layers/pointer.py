"""Copying from the source through attention (pointer-generator, See et al. 2017)."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = ["Pointer"]


class Pointer(nn.Module):
    """p = g softmax(logits) + (1 - g) copies: a gate g shares out between writing and copying."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, 1)

    def forward(self, logits: Tensor, states: Tensor, looked: Tensor, tokens: Tensor, none: int) -> Tensor:
        """Log-probabilities (..., V), up to a constant where some of the source cannot be copied.

        `looked` (..., S) are the weights on the source, whose positions hold `tokens` (B, S) as ids of the
        target; positions that hold `none` have no such id.
        """
        gate = self.gate(states).float()
        if looked.dim() == 3:
            tokens = tokens.unsqueeze(1).expand_as(looked)
        weights = torch.where(tokens == none, 0.0, looked.float())
        copies = torch.zeros_like(logits, dtype=torch.float).scatter_add(-1, tokens, weights)
        # The least weight stands for none, so that the logarithm and its gradient stay finite.
        copied = copies.clamp(min=torch.finfo(torch.float).tiny).log()
        return torch.logaddexp(
            F.logsigmoid(gate) + logits.float().log_softmax(-1), F.logsigmoid(-gate) + copied
        )
