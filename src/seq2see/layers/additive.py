"""v^T tanh(q + k) for every query and key: a plain way, and one that never holds all the sums at once."""

from typing import Any

import torch
from torch import Tensor

__all__ = ["added", "plain_added"]

_CHUNK = {"cpu": 1 << 18}
"""Sums that are worked on together: what stays in a processor's cache. Elsewhere, what fits the memory."""
_OTHERWISE = 1 << 26


def plain_added(query: Tensor, keys: Tensor, weigh: Tensor) -> Tensor:
    """(B, H, T, K), (B, H, S, K), (H, K) -> (B, H, T, S)."""
    return (_tanh(query, keys) @ weigh[:, None, :, None]).squeeze(-1)


def added(query: Tensor, keys: Tensor, weigh: Tensor) -> Tensor:
    """The same for a few rows at a time; the gradient computes the (T, S, K) sums again, so none are kept."""
    each = query.shape[1:].numel() * keys.shape[2]
    rows = max(1, _CHUNK.get(query.device.type, _OTHERWISE) // max(1, each))
    if rows >= len(query) or query.shape[2] == 1:  # one query for each row: there is little to hold
        return plain_added(query, keys, weigh)
    scores: Tensor = _Added.apply(query, keys, weigh, rows)  # type: ignore[no-untyped-call]
    return scores


def _tanh(query: Tensor, keys: Tensor) -> Tensor:
    return (query.unsqueeze(3) + keys.unsqueeze(2)).tanh()  # (B, H, T, S, K)


class _Added(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, keys: Tensor, weigh: Tensor, rows: int) -> Tensor:
        ctx.save_for_backward(query, keys, weigh)
        ctx.rows = rows
        parts = zip(query.split(rows), keys.split(rows), strict=True)
        return torch.cat([plain_added(some, seen, weigh) for some, seen in parts])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        query, keys, weigh = ctx.saved_tensors
        for_query, for_keys = torch.empty_like(query), torch.empty_like(keys)
        for_weigh = torch.zeros_like(weigh)
        for start in range(0, len(query), ctx.rows):
            rows = slice(start, start + ctx.rows)
            above = gradients[0][rows]  # (B, H, T, S)
            joined = _tanh(query[rows], keys[rows])
            flat = above.flatten(2).unsqueeze(2) @ joined.flatten(2, 3)  # (B, H, 1, K)
            for_weigh += flat.sum(0).squeeze(1)
            slope = 1 - joined.square_()
            for_query[rows] = (above.unsqueeze(3) @ slope).squeeze(3) * weigh[:, None]
            for_keys[rows] = slope.mul_(above.unsqueeze(4)).sum(2) * weigh[:, None]
        return for_query, for_keys, for_weigh, None
