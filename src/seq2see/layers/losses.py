"""Training losses."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["cross_entropy", "output_cross_entropy"]

_CHUNK = 1 << 21
"""How many scores are held at once: 8 MB, which the processor's cache can keep."""


def cross_entropy(logits: Tensor, labels: Tensor, padding: int, smoothing: float = 0.0) -> Tensor:
    """Cross-entropy summed over the tokens that are not padding; smoothing as in Szegedy et al. 2016."""
    return F.cross_entropy(
        logits.flatten(0, 1).float(),
        labels.flatten(),
        ignore_index=padding,
        label_smoothing=smoothing,
        reduction="sum",
    )


def output_cross_entropy(
    states: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, padding: int, smoothing: float = 0.0
) -> Tensor:
    """The same from the states before the output layer, (B, T, D), without ever holding all the scores.

    The scores of some rows are made, used for the loss and its gradient, and forgotten before the next.
    """
    rows = (labels != padding).flatten().nonzero()[:, 0]
    states, labels = states.flatten(0, 1), labels.flatten()
    if len(rows) < len(labels):
        states, labels = states.index_select(0, rows), labels[rows]
    loss: Tensor = _OutputCrossEntropy.apply(  # type: ignore[no-untyped-call]
        states, weight, bias, labels, smoothing, torch.is_grad_enabled()
    )
    return loss


class _OutputCrossEntropy(torch.autograd.Function):
    """With e = exp(s - max s): the loss is log sum e + max s - t s, its gradient by s is e / sum e - t.

    The target t has smoothing / V everywhere and the rest on the label. Both of its parts, and the division,
    are left out of the passes over all the scores and made up for on the side of the states.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        smoothing: float,
        learning: bool,
    ) -> Tensor:
        share, rest = smoothing / len(weight), 1 - smoothing
        evenly = weight.sum(0)
        right = weight.index_select(0, labels)
        # s of the label is its row times the state; the sum of all s is the sum of all rows times the state.
        said = (states * (right * rest + evenly * share)).sum()
        if bias is not None:
            said = said + rest * bias[labels].sum() + share * len(states) * bias.sum()
        total = -said
        by_states, by_weight = torch.empty_like(states), torch.zeros_like(weight)
        by_bias = torch.zeros_like(bias) if bias is not None else None
        count = max(1, _CHUNK // len(weight))
        for start in range(0, len(states), count):
            here = states[start : start + count]
            scores = F.linear(here, weight, bias)
            most = scores.amax(1, keepdim=True)
            scores.sub_(most).exp_()
            sums = scores.sum(1, keepdim=True)
            total += (sums.log() + most).sum()
            if learning:
                torch.mm(scores, weight, out=by_states[start : start + count]).div_(sums)
                by_weight.addmm_(scores.t(), here / sums)
                if by_bias is not None:
                    by_bias.addmv_(scores.t(), 1 / sums[:, 0])
        if learning:
            by_states -= right.mul_(rest).add_(evenly, alpha=share)
            by_weight.index_add_(0, labels, states, alpha=-rest).sub_(states.sum(0), alpha=share)
            if by_bias is not None:
                by_bias.index_add_(0, labels, by_bias.new_full(labels.shape, -rest)).sub_(len(states) * share)
        ctx.save_for_backward(by_states, by_weight, by_bias)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        by_states, by_weight, by_bias = ctx.saved_tensors
        by_bias = by_bias * gradient if by_bias is not None else None
        return by_states * gradient, by_weight * gradient, by_bias, None, None, None
