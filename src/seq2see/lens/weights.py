"""What edits do to attention weights, (..., T, S) -> (..., T, S); rows sum to 1, or to 0 if all is hidden."""

import torch
from torch import Tensor

__all__ = ["blocked", "first", "fitted", "highest", "pinned", "shared_out", "tempered", "uniform"]


def shared_out(weights: Tensor) -> Tensor:
    """Made to sum to 1 again; rows without any weight stay empty."""
    return weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)


def uniform(weights: Tensor, mask: Tensor | None) -> Tensor:
    """Every place that may be looked at, alike."""
    allowed = torch.ones_like(weights)
    return shared_out(allowed * mask if mask is not None else allowed)


def first(weights: Tensor, mask: Tensor | None) -> Tensor:
    """The first place that may be looked at."""
    allowed = uniform(weights, mask) > 0
    return (allowed & (allowed.cumsum(-1) == 1)).to(weights.dtype)


def highest(weights: Tensor, count: int) -> Tensor:
    """The places with the most weight."""
    if count >= weights.shape[-1]:
        return weights
    found = weights.topk(count, -1)
    return shared_out(torch.zeros_like(weights).scatter_(-1, found.indices, found.values))


def tempered(weights: Tensor, value: float) -> Tensor:
    """Sharper below 1, flatter above."""
    if value == 1:
        return weights
    # By logarithms, so that powers of small weights do not all vanish; empty rows have none.
    return (weights.log() / value).softmax(-1).nan_to_num(0.0)


def blocked(weights: Tensor, places: list[int]) -> Tensor:
    """Without these places."""
    kept = weights.clone()
    inside = [place for place in places if place < weights.shape[-1]]
    kept[..., inside] = 0
    return shared_out(kept) if inside else weights


def pinned(weights: Tensor, places: list[int], mask: Tensor | None) -> Tensor:
    """These places alike, as far as they may be looked at; as before if none of them may."""
    wanted = torch.zeros(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    wanted[[place for place in places if place < len(wanted)]] = 1
    return fitted(wanted, weights, mask)


def fitted(pattern: Tensor, weights: Tensor, mask: Tensor | None) -> Tensor:
    """A pattern (..., S) in the place of weights that see more or fewer places; as before if it is empty."""
    columns = weights.shape[-1]
    pattern = torch.nn.functional.pad(pattern[..., :columns], (0, max(0, columns - pattern.shape[-1])))
    pattern = (pattern * mask if mask is not None else pattern).expand_as(weights)
    return torch.where(pattern.sum(-1, keepdim=True) > 0, shared_out(pattern), weights)
