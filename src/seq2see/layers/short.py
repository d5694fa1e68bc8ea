"""Attention over short sequences on a CPU, with its gradient written out.

PyTorch's fused kernel is made for long sequences. Over those of ten or twenty tokens it spends its time on
overhead: several times longer than the matrix products around it. Here all heads of a batch go through a
few large operations, and the softmax is made of passes over all scores at once.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from seq2see.layers.dropout import kept

__all__ = ["LONGEST", "short_attention", "short_self_attention"]

LONGEST = 64
"""The most queries or keys; for longer sequences the fused kernel is faster and needs less memory."""


def short_attention(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """softmax(Q K^T / sqrt(K)) V with dropout on the weights, (B, H, T, K)."""
    read: Tensor = _Attend.apply(query, keys, values, mask, dropout)  # type: ignore[no-untyped-call]
    return read


def short_self_attention(
    projected: Tensor,
    heads: int,
    mask: Tensor | None,
    rotation: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """The same for states that attend to each other: of queries, keys and values side by side, (B, T, D).

    `projected` is (B, T, 3 D). That the heads are split, turned (rotary positions) and joined again here
    saves most of the copies that doing so step by step would take.
    """
    read: Tensor = _AttendAmong.apply(projected, heads, mask, rotation, dropout)  # type: ignore[no-untyped-call]
    return read


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
    ) -> Tensor:
        heads = query.shape[:2]
        parts = [states.flatten(0, 1) for states in (query, keys, values)]
        read, weights, dropout_mask = _read(parts, heads, mask, dropout)
        ctx.save_for_backward(*parts, weights, dropout_mask)
        parted: Tensor = read.unflatten(0, heads)
        return parted

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        *parts, weights, dropout_mask = ctx.saved_tensors
        found = [torch.empty_like(part) for part in parts]
        _gradients(gradients[0].flatten(0, 1), parts, weights, dropout_mask, found)
        query, keys, values = (part.unflatten(0, gradients[0].shape[:2]) for part in found)
        return query, keys, values, None, None


class _AttendAmong(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        heads: int,
        mask: Tensor | None,
        rotation: Tensor | None,
        dropout: float,
    ) -> Tensor:
        # (B, T, 3 D) -> (3, B, H, T, K); a copy always, since it is turned in place
        parts = projected.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
        parts = parts.clone(memory_format=torch.contiguous_format)
        if rotation is not None:
            _turn_(parts[:2], *rotation.to(parts.dtype))
        read, weights, dropout_mask = _read(parts.flatten(1, 2), parts.shape[1:3], mask, dropout)
        ctx.save_for_backward(parts, weights, dropout_mask, rotation)
        # (B H, T, K) -> (B, T, D)
        joined: Tensor = read.unflatten(0, parts.shape[1:3]).transpose(1, 2).flatten(2)
        return joined

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        parts, weights, dropout_mask, rotation = ctx.saved_tensors
        # (B, T, D) -> (B H, T, K)
        gradient = gradients[0].unflatten(-1, (parts.shape[2], -1)).transpose(1, 2).flatten(0, 1)
        found = torch.empty_like(parts)
        _gradients(gradient, parts.flatten(1, 2), weights, dropout_mask, found.flatten(1, 2))
        if rotation is not None:
            cos, sin = rotation.to(parts.dtype)
            _turn_(found[:2], cos, -sin)
        # (3, B, H, T, K) -> (B, T, 3 D)
        return found.permute(1, 3, 0, 2, 4).flatten(2), None, None, None, None


def _read(
    parts: Iterable[Tensor], heads: torch.Size, mask: Tensor | None, dropout: float
) -> tuple[Tensor, Tensor, Tensor | None]:
    """What is read (B H, T, K), the weights (B H, T, S), and what dropout multiplied those by."""
    query, keys, values = parts
    # A product with a transposed matrix is several times slower than with a copy that lies in its order.
    weights = torch.bmm(query, keys.transpose(1, 2).contiguous())
    weights *= query.shape[-1] ** -0.5
    softmax_(weights.unflatten(0, heads), mask)
    dropout_mask = kept(weights, dropout) if dropout else None
    used = weights * dropout_mask if dropout_mask is not None else weights
    return torch.bmm(used, values), weights, dropout_mask


def _gradients(
    gradient: Tensor,
    parts: Iterable[Tensor],
    weights: Tensor,
    dropout_mask: Tensor | None,
    into: Iterable[Tensor],
) -> None:
    """Write the gradients of queries, keys and values into tensors that are there."""
    (query, keys, values), (by_query, by_keys, by_values) = parts, into
    used = weights * dropout_mask if dropout_mask is not None else weights
    torch.bmm(used.transpose(1, 2), gradient, out=by_values)
    by_scores = torch.bmm(gradient, values.transpose(1, 2).contiguous())
    if dropout_mask is not None:
        by_scores *= dropout_mask
    by_scores *= weights
    by_scores -= weights * by_scores.sum(-1, keepdim=True)
    by_scores *= query.shape[-1] ** -0.5
    torch.bmm(by_scores, keys, out=by_query)
    torch.bmm(by_scores.transpose(1, 2), query, out=by_keys)


def _turn_(states: Tensor, cos: Tensor, sin: Tensor) -> None:
    """`rotate` in place."""
    left, right = states.chunk(2, -1)
    turned = (left * cos).addcmul_(right, sin, value=-1)
    right.mul_(cos).addcmul_(left, sin)
    left.copy_(turned)


def softmax_(scores: Tensor, mask: Tensor | None) -> None:
    """Softmax in place over the keys that may be seen; zeros for a query that may see none."""
    if mask is not None:
        scores += torch.zeros(mask.shape, dtype=scores.dtype, device=mask.device).masked_fill_(
            ~mask, -float("inf")
        )
    # For a query that may see nothing, the least number instead of minus infinity: exp(-inf - least) is 0.
    scores -= scores.amax(-1, keepdim=True).clamp_(min=torch.finfo(scores.dtype).min)
    scores.exp_()
    scores /= scores.sum(-1, keepdim=True).clamp_(min=torch.finfo(scores.dtype).tiny)
