"""A head that says which token comes next."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.sides import Batch
from seq2see.layers.losses import cross_entropy, output_cross_entropy
from seq2see.layers.pointer import Pointer
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Vocabulary

__all__ = ["VocabularyHead"]


class VocabularyHead(nn.Module):
    """A score for every token of the target, from an output layer or from the target's embedding.

    `copies` gives the target id of each source id that can be copied, and that of padding for the others.
    """

    copies: Tensor

    def __init__(
        self,
        width: int,
        vocabulary: Vocabulary,
        tied: nn.Embedding | None,
        copies: Sequence[int] | None = None,
        smoothing: float = 0.0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.size, self.padding = vocabulary.size, vocabulary.special.pad
        self.smoothing = smoothing
        self._tied = (tied,)  # in a tuple, so that its weights are not counted as this head's own
        self.output = nn.Linear(width, vocabulary.size) if tied is None else None
        # A layer of its own has a bias anyway.
        self.bias = nn.Parameter(torch.zeros(vocabulary.size)) if bias and tied is not None else None
        self.pointer = Pointer(width) if copies is not None else None
        self.register_buffer("copies", torch.tensor(list(copies or ())), persistent=False)

    def copied(self, source: Tensor) -> Tensor | None:
        """The source as ids of the target, where tokens may be copied, (B, S)."""
        return self.copies[source] if self.pointer is not None else None

    def loss(self, memory: Memory | None, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Cross-entropy summed over the tokens of the target; smoothed while training."""
        assert output is not None
        target = batch["target"]
        labels = target.values[:, 1:]
        return Loss(self.cross_entropy(memory, output, labels), (labels != self.padding).sum())

    def cross_entropy(self, memory: Memory | None, output: DecoderOutput, labels: Tensor) -> Tensor:
        """Summed over all labels but padding."""
        smoothing = self.smoothing if self.training else 0.0
        if self.pointer is not None or torch.is_autocast_enabled(labels.device.type):
            copied = memory.tokens if memory is not None else None
            return cross_entropy(self.logits(output, copied), labels, self.padding, smoothing)
        return output_cross_entropy(output.states, *self._layer(), labels, self.padding, smoothing)

    def logits(self, output: DecoderOutput, tokens: Tensor | None) -> Tensor:
        """Scores of the vocabulary; `tokens` is what can be copied."""
        scores = F.linear(output.states, *self._layer())
        if self.pointer is None:
            return scores
        pointed: Tensor = self.pointer(scores, output.states, output.cross_weights, tokens, self.padding)
        return pointed

    def _layer(self) -> tuple[Tensor, Tensor | None]:
        """Weight and bias of the output layer."""
        if self.output is not None:
            return self.output.weight, self.output.bias
        (tied,) = self._tied
        assert tied is not None
        # With shared embeddings the source may have further rows (features) after the common vocabulary.
        return tied.weight[: self.size], self.bias
