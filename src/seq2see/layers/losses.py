"""Training losses."""

from torch import Tensor
from torch.nn import functional as F

__all__ = ["cross_entropy"]


def cross_entropy(logits: Tensor, labels: Tensor, padding: int, smoothing: float = 0.0) -> Tensor:
    """Cross-entropy summed over the tokens that are not padding; smoothing as in Szegedy et al. 2016."""
    return F.cross_entropy(
        logits.flatten(0, 1).float(),
        labels.flatten(),
        ignore_index=padding,
        label_smoothing=smoothing,
        reduction="sum",
    )
