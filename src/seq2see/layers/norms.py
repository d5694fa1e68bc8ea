"""Normalisation over the features of one position."""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

__all__ = ["Norm", "NormKind", "make_norm", "norm_function"]

NormKind = Literal["layer", "rms"]
"""Layer norm (Ba et al. 2016), or root mean square norm (Zhang and Sennrich 2019), without mean and bias."""
Norm = nn.LayerNorm | nn.RMSNorm


def make_norm(kind: NormKind, width: int, epsilon: float = 1e-5, bias: bool = True) -> Norm:
    """A norm over states of this width."""
    return nn.LayerNorm(width, epsilon, bias=bias) if kind == "layer" else nn.RMSNorm(width, epsilon)


def norm_function(norm: Norm) -> Callable[[Tensor], Tensor]:
    """The norm as a function of tensors, without the cost of calling a module."""
    shape, weight = list(norm.normalized_shape), norm.weight
    if isinstance(norm, nn.RMSNorm):
        return lambda states: torch.rms_norm(states, shape, weight, norm.eps)
    bias, epsilon = norm.bias, norm.eps
    return lambda states: torch.layer_norm(states, shape, weight, bias, epsilon)
