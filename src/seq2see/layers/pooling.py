"""One vector out of many: ways to sum up the states of a sequence."""

from typing import Literal

import torch
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch, normalise

__all__ = ["AttentionPooling", "Pooling", "pool"]

Pooling = Literal["summary", "mean", "max", "first", "last", "attention"]
"""The encoder's own summary; the mean, the maximum, the first or the last state; or attention over all."""


def pool(kind: Pooling, states: Tensor, mask: Tensor, summary: Tensor) -> Tensor:
    """One vector for each row, (B, S, D), (B, S) -> (B, D); attention has weights of its own."""
    if kind == "summary":
        return summary
    if kind == "mean":
        return masks.mean(states, mask)
    if kind == "max":
        found: Tensor = states.masked_fill(~mask.unsqueeze(-1), -float("inf")).amax(1)
        return found
    if kind == "first":
        return states[:, 0]
    rows = torch.arange(len(states), device=states.device)
    return states[rows, mask.sum(1) - 1]


class AttentionPooling(nn.Module):
    """Each head weighs all positions by a learned query, softmax(v tanh(W h)), and reads its share."""

    def __init__(self, width: int, heads: int, address: str) -> None:
        super().__init__()
        self.address, self.heads = address, heads
        self.keys = nn.Linear(width, width)
        self.score = nn.Linear(width, heads, bias=False)

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Tensor:
        """(B, S, D) -> (B, D)."""
        scores = self.score(torch.tanh(self.keys(states)))  # (B, S, H)
        allowed = mask[:, None, None]
        weights = normalise(scores.transpose(1, 2).unsqueeze(2), allowed)  # (B, H, 1, S)
        if watch is not None:
            weights = watch(self.address, weights, allowed)
        parts = states.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, H, S, K)
        read: Tensor = (weights @ parts).flatten(1)
        return read
