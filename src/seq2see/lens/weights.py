"""What edits do to attention weights, (..., T, S) -> (..., T, S); rows sum to 1, or to 0 if all is masked."""

import torch
from torch import Tensor

__all__ = ["blocked", "first", "fitted", "highest", "pinned", "shared_out", "tempered", "uniform"]


def shared_out(weights: Tensor) -> Tensor:
    """Scale rows to sum to 1 again; rows of zeros stay so."""
    return weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)


def uniform(weights: Tensor, mask: Tensor | None) -> Tensor:
    """The same weight on every position that is not masked."""
    allowed = torch.ones_like(weights)
    return shared_out(allowed * mask if mask is not None else allowed)


def first(weights: Tensor, mask: Tensor | None) -> Tensor:
    """All weight on the first position that is not masked."""
    allowed = uniform(weights, mask) > 0
    return (allowed & (allowed.cumsum(-1) == 1)).to(weights.dtype)


def highest(weights: Tensor, count: int) -> Tensor:
    """Only the positions with the most weight."""
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
    """No weight on these positions."""
    kept = weights.clone()
    inside = [place for place in places if place < weights.shape[-1]]
    kept[..., inside] = 0
    return shared_out(kept) if inside else weights


def pinned(weights: Tensor, places: list[int], mask: Tensor | None) -> Tensor:
    """The same weight on each of these positions; rows where all of them are masked stay as they were."""
    wanted = torch.zeros(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    wanted[[place for place in places if place < len(wanted)]] = 1
    return fitted(wanted, weights, mask)


def fitted(pattern: Tensor, weights: Tensor, mask: Tensor | None) -> Tensor:
    """A pattern, cut or padded to the width of the weights, in their place; rows of zeros change nothing."""
    columns = weights.shape[-1]
    pattern = torch.nn.functional.pad(pattern[..., :columns], (0, max(0, columns - pattern.shape[-1])))
    pattern = (pattern * mask if mask is not None else pattern).expand_as(weights)
    return torch.where(pattern.sum(-1, keepdim=True) > 0, shared_out(pattern), weights)
