"""Boolean masks; True means "may look"."""

import torch
from torch import Tensor

__all__ = ["causal", "present"]


def present(ids: Tensor, padding: int) -> Tensor:
    """Which positions hold a token, (B, S)."""
    return ids != padding


def causal(length: int, device: torch.device | None = None) -> Tensor:
    """Position l sees positions t <= l, (T, T)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()
