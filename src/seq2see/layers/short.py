"""Attention over short sequences on a CPU, with its gradient written out.

PyTorch's fused kernel is made for long sequences. Over those of ten or twenty tokens it spends its time on
overhead: several times longer than the matrix products around it. Here all heads of a batch go through a
few large operations, and the softmax is made of passes over all scores at once.
"""

from typing import Any

import torch
from torch import Tensor

from seq2see.layers.dropout import kept

__all__ = ["LONGEST", "short_attention"]

LONGEST = 64
"""Of queries or keys; beyond it the fused kernel is faster and needs less memory."""


def short_attention(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """softmax(Q K^T / sqrt(K)) V with dropout on the weights, (B, H, T, K)."""
    read: Tensor = _Attend.apply(query, keys, values, mask, dropout)  # type: ignore[no-untyped-call]
    return read


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
    ) -> Tensor:
        shape = *query.shape[:3], keys.shape[2]
        query, keys, values = (states.flatten(0, 1) for states in (query, keys, values))
        # A product with a transposed matrix is several times slower than with a copy that lies in its order.
        weights = torch.bmm(query, keys.transpose(1, 2).contiguous()).view(shape)
        weights *= query.shape[-1] ** -0.5
        softmax_(weights, mask)
        weights = weights.flatten(0, 1)
        kept_weights = kept(weights, dropout) if dropout else None
        used = weights * kept_weights if kept_weights is not None else weights
        ctx.save_for_backward(query, keys, values, weights, kept_weights)
        return torch.bmm(used, values).view(*shape[:3], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query, keys, values, weights, kept_weights = ctx.saved_tensors
        heads = gradients[0].shape[:2]
        gradient = gradients[0].flatten(0, 1)
        used = weights * kept_weights if kept_weights is not None else weights
        by_values = torch.bmm(used.transpose(1, 2), gradient)
        by_scores = torch.bmm(gradient, values.transpose(1, 2).contiguous())
        if kept_weights is not None:
            by_scores *= kept_weights
        by_scores *= weights
        by_scores -= weights * by_scores.sum(-1, keepdim=True)
        by_scores *= query.shape[-1] ** -0.5
        by_query = torch.bmm(by_scores, keys)
        by_keys = torch.bmm(by_scores.transpose(1, 2), query)
        query, keys, values = (part.unflatten(0, heads) for part in (by_query, by_keys, by_values))
        return query, keys, values, None, None


def softmax_(scores: Tensor, mask: Tensor | None) -> None:
    """Softmax in place over the places where one may look; zeros where there is none."""
    if mask is not None:
        scores += torch.zeros(mask.shape, dtype=scores.dtype).masked_fill_(~mask, -float("inf"))
    # The least number instead of minus infinity where one may look nowhere: exp(-inf - least) is 0.
    scores -= scores.amax(-1, keepdim=True).clamp_(min=torch.finfo(scores.dtype).min)
    scores.exp_()
    scores /= scores.sum(-1, keepdim=True).clamp_(min=torch.finfo(scores.dtype).tiny)
