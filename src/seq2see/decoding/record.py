"""The attention of a model while it reads a source and says a given target."""

import torch
from torch import Tensor

from seq2see.models import Seq2Seq

__all__ = ["record"]


@torch.no_grad()
def record(model: Seq2Seq, source: Tensor, inputs: Tensor) -> dict[str, Tensor]:
    """Weights per head at every address, (B, H, T, S)."""
    seen: dict[str, Tensor] = {}

    def watch(address: str, weights: Tensor) -> Tensor:
        seen[address] = weights
        return weights

    model(source, inputs, watch)
    return seen
