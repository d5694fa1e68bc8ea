"""A head that chooses one class, or any number of them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.sides import Batch
from seq2see.layers.attention import Watch
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Sides
from seq2see.models.heads.summing import HeadSettings, members_of

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
        self.members = members_of(width, extras, classes, settings, pieces)
        self.several, self.smoothing = several, smoothing
        self.register_buffer("weights", torch.tensor(list(weights or [1.0] * classes)), persistent=False)

    def outputs(self, memory: Memory, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Scores of the classes, (B, C): the mean over the members."""
        return torch.stack([member(memory, sides, watch) for member in self.members]).mean(0)

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Cross-entropy summed over the examples, each weighed by its class; members learn apart."""
        truth, known = batch["target"]
        if self.training:
            scores = [member(memory, batch.sides) for member in self.members]
        else:
            scores = [self.outputs(memory, batch.sides)]
        if known is not None:  # a label that training never showed has no score
            scores, truth = [one[known] for one in scores], truth[known]
        count = torch.tensor(len(truth), device=truth.device) if self.several else self.weights[truth].sum()
        return Loss(torch.stack([self._cross_entropy(one, truth) for one in scores]).sum(), count)

    def _cross_entropy(self, scores: Tensor, truth: Tensor) -> Tensor:
        smoothing = self.smoothing if self.training else 0.0
        if not self.several:
            return F.cross_entropy(
                scores.float(), truth, self.weights, label_smoothing=smoothing, reduction="sum"
            )
        soft = truth * (1 - smoothing) + smoothing / 2
        return F.binary_cross_entropy_with_logits(scores.float(), soft, self.weights, reduction="sum")
