"""A head that chooses one class, or any number of them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.sides import Batch
from seq2see.layers.attention import Watch
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Sides
from seq2see.models.heads.summing import HeadSettings, Summed

__all__ = ["ClassHead"]


class ClassHead(nn.Module):
    """A score for each class; with `several`, each class is a question of its own."""

    weights: Tensor

    def __init__(
        self,
        width: int,
        extras: int,
        classes: int,
        settings: HeadSettings,
        several: bool = False,
        weights: Sequence[float] | None = None,
        smoothing: float = 0.0,
        pieces: int | None = None,
    ) -> None:
        super().__init__()
        self.summed = Summed(width, extras, classes, settings, pieces)
        self.several, self.smoothing = several, smoothing
        self.register_buffer("weights", torch.tensor(list(weights or [1.0] * classes)), persistent=False)

    def outputs(self, memory: Memory, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Scores of the classes, (B, C)."""
        scores: Tensor = self.summed(memory, sides, watch)
        return scores

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Cross-entropy summed over the examples, each weighed by its class."""
        scores, truth = self.outputs(memory, batch.sides).float(), batch["target"].values
        smoothing = self.smoothing if self.training else 0.0
        if self.several:
            soft = truth * (1 - smoothing) + smoothing / 2
            total = F.binary_cross_entropy_with_logits(scores, soft, self.weights, reduction="sum")
            return Loss(total, torch.tensor(len(truth), device=scores.device))
        total = F.cross_entropy(scores, truth, self.weights, label_smoothing=smoothing, reduction="sum")
        return Loss(total, self.weights[truth].sum())
