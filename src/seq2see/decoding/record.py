"""The attention of a model while it reads a source and says a given target."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.models import Seq2Seq

__all__ = ["record"]


@torch.no_grad()
def record(model: Seq2Seq, source: Tensor, inputs: Tensor) -> dict[str, Tensor]:
    """Weights per head at every address, (B, H, T, S)."""
    seen: dict[str, list[Tensor]] = {}

    def watch(address: str, weights: Tensor) -> Tensor:
        seen.setdefault(address, []).append(weights)
        return weights

    model(source, inputs, watch)
    return {address: _joined(parts) for address, parts in seen.items()}


def _joined(parts: list[Tensor]) -> Tensor:
    """Weights that came step by step, one under another; steps that saw less are filled up with zeros."""
    widest = max(part.shape[-1] for part in parts)
    return torch.cat([pad(part, (0, widest - part.shape[-1])) for part in parts], 2)
