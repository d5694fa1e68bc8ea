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
"""The most queries or keys; for longer sequences the fused kernel is faster and needs less memory."""


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
        dropout_mask = kept(weights, dropout) if dropout else None
        used = weights * dropout_mask if dropout_mask is not None else weights
        ctx.save_for_backward(query, keys, values, weights, dropout_mask)
        return torch.bmm(used, values).view(*shape[:3], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query, keys, values, weights, dropout_mask = ctx.saved_tensors
        heads = gradients[0].shape[:2]
        gradient = gradients[0].flatten(0, 1)
        used = weights * dropout_mask if dropout_mask is not None else weights
        by_values = torch.bmm(used.transpose(1, 2), gradient)
        by_scores = torch.bmm(gradient, values.transpose(1, 2).contiguous())
        if dropout_mask is not None:
            by_scores *= dropout_mask
        by_scores *= weights
        by_scores -= weights * by_scores.sum(-1, keepdim=True)
        by_scores *= query.shape[-1] ** -0.5
        by_query = torch.bmm(by_scores, keys)
        by_keys = torch.bmm(by_scores.transpose(1, 2), query)
        query, keys, values = (part.unflatten(0, heads) for part in (by_query, by_keys, by_values))
        return query, keys, values, None, None


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
