"""Boolean masks; True means "may look"."""

import torch
from torch import Tensor

__all__ = ["before", "causal", "mean", "present"]


def present(ids: Tensor, padding: int) -> Tensor:
    """Which positions hold a token, (B, S)."""
    return ids != padding


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """Position l sees positions t <= l, (T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def before(length: int, device: torch.device | None = None) -> Tensor:
    """Position l sees positions t < l, (T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril(-1)


def mean(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of the states that may be looked at, (B, S, D), (B, S) -> (B, D)."""
    share = mask / mask.sum(1, keepdim=True).clamp(min=1)
    return (states * share.unsqueeze(-1)).sum(1)
