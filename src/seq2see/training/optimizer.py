"""What turns gradients into new weights."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from seq2see.layers.scores import General
from seq2see.training.settings import TrainingSettings

__all__ = ["Muon", "make_optimizer", "orthogonal"]

_MOMENTUM = 0.95
_STEP_SIZE = 0.2
"""The root mean square of an AdamW step, as a share of the learning rate, that Muon's steps have too."""
_TURNING = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.RNNBase, General)
"""What turns states into states."""
_ROUNDS = 5
_FACTORS = (3.4445, -4.7750, 2.0315)
"""Of the polynomial that brings all strengths from 0 to 1 near to 1 in so few rounds."""


def make_optimizer(
    model: nn.Module, settings: TrainingSettings, scales: Mapping[str, float] | None = None
) -> torch.optim.Optimizer:
    """Adam, AdamW or Muon over all weights; decay is for matrices, not for norms and biases.

    `scales` multiply the learning rate of each weight. Muon is for the matrices of encoder and decoder that
    turn states into states; embeddings, heads and vectors are left to AdamW.
    """
    kinds: dict[str, type[torch.optim.Adam]] = {
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
        "muon": Muon,
    }
    between = _between_states(model) if settings.optimizer == "muon" else {}
    grouped: dict[tuple[float, float, bool, bool], list[nn.Parameter]] = {}
    for name, one in model.named_parameters():
        matrix = one.dim() > 1
        key = (
            settings.weight_decay if matrix else 0.0,
            scales[name] if scales is not None else 1.0,
            one in between,
            between.get(one, False),
        )
        grouped.setdefault(key, []).append(one)
    ordered = sorted(grouped.items(), key=lambda item: (-item[0][0], -item[0][1], *item[0][2:]))
    groups = [
        {"params": some, "weight_decay": decay, "scale": scale, "orthogonal": turned, "by_head": by_head}
        for (decay, scale, turned, by_head), some in ordered
    ]
    return kinds[settings.optimizer](
        groups,
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        fused=next(model.parameters()).device.type in ("cpu", "cuda"),
    )


def _between_states(model: nn.Module) -> dict[nn.Parameter, bool]:
    """The matrices of encoder and decoder that turn states into states, and which come head by head."""
    found = {}
    for name, part in model.named_modules():
        if name.startswith(("encoder.", "decoder.")) and isinstance(part, _TURNING):
            for weight in part.parameters(recurse=False):
                if weight.dim() > 1:
                    found[weight] = isinstance(part, General)
    return found


class Muon(torch.optim.AdamW):
    """AdamW, but groups with `orthogonal` set take Muon's steps (Jordan et al. 2024).

    The gradient of a matrix has a few strong directions and many weak ones. Muon moves the matrix along its
    momentum with all directions made equally strong, so that the weak ones are learnt as fast. Its steps are
    as large as those of AdamW (Liu et al. 2025), so that one learning rate and one decay serve for both.
    A filter of a convolution is a row of one matrix; what comes `by_head`, (H, K, M), is the rows of all
    heads.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        assert closure is None, "gradients are there already"
        for group in self.param_groups:
            if group["orthogonal"]:
                self._move(group)
        return super().step()

    def _move(self, group: dict[str, Any]) -> None:
        """Move the matrices of a group; those of one shape are made orthogonal together."""
        alike: dict[torch.Size, list[Tensor]] = {}
        for weight in group["params"]:
            if weight.grad is not None:
                alike.setdefault(weight.shape, []).append(weight)
        ends = (0, 1) if group.get("by_head") else (1, -1)
        for weights in alike.values():
            updates = orthogonal(torch.stack([self._ahead(weight).flatten(*ends) for weight in weights]))
            size = _STEP_SIZE * max(updates.shape[1:]) ** 0.5
            for weight, update in zip(weights, updates, strict=True):
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update.view_as(weight), alpha=-group["lr"] * size)
                weight.grad = None  # AdamW passes over weights that have no gradient

    def _ahead(self, weight: Tensor) -> Tensor:
        """The momentum of a weight with this gradient in it, looked at one step ahead (Nesterov)."""
        state = self.state[weight]
        if not state:
            # AdamW's own loading of a saved state asks each weight for its number of steps.
            state.update(step=torch.zeros(()), momentum=torch.zeros_like(weight))
        assert weight.grad is not None
        state["momentum"].lerp_(weight.grad, 1 - _MOMENTUM)
        ahead: Tensor = weight.grad.lerp(state["momentum"], _MOMENTUM)
        return ahead


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices (N, rows, columns) with singular values near 1, and singular vectors as they were.

    Newton and Schulz's iteration: an odd polynomial of a matrix is that polynomial of its singular values.
    """
    kind = torch.bfloat16 if matrices.device.type == "cuda" else matrices.dtype
    tall = matrices.shape[1] > matrices.shape[2]
    found: Tensor = (matrices.mT if tall else matrices).to(kind)
    found = found / found.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)
    first, third, fifth = _FACTORS
    for _ in range(_ROUNDS):
        square = found @ found.mT
        found = first * found + (third * square + fifth * square @ square) @ found
    turned: Tensor = found.mT if tall else found
    return turned.to(matrices.dtype)
