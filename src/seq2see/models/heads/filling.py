"""A head that says which tokens were hidden."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.sides import Batch
from seq2see.layers.losses import cross_entropy, output_cross_entropy
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Vocabulary
from seq2see.settings import Settings

__all__ = ["FillingHead", "TransformSettings"]

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
}


class TransformSettings(Settings):
    """A linear layer, an activation and a norm between the encoder and the output layer, as BERT has them."""

    activation: Literal["gelu", "gelu-tanh", "relu", "silu"] = "gelu"
    epsilon: float = Field(default=1e-5, gt=0, le=1)
    """What the norm adds to the variance."""


class FillingHead(nn.Module):
    """A score for every token at every place: those that were hidden are told from it.

    The output layer is the embedding of the source, transposed, with a bias; or a layer of its own.
    """

    def __init__(
        self,
        width: int,
        vocabulary: Vocabulary,
        tied: nn.Embedding | None,
        transform: TransformSettings | None = None,
        smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        self.size, self.padding, self.smoothing = vocabulary.size, vocabulary.special.pad, smoothing
        self._tied = (tied,)  # in a tuple, so that its weights are not counted as this head's own
        inner = tied.embedding_dim if tied is not None else width
        self.activation = _ACTIVATIONS[transform.activation] if transform is not None else None
        self.transform = nn.Linear(width, inner) if transform is not None else None
        self.norm = nn.LayerNorm(inner, transform.epsilon) if transform is not None else None
        self.output = nn.Linear(inner, self.size, bias=False) if tied is None else None
        self.bias = nn.Parameter(torch.zeros(self.size))

    def logits(self, states: Tensor) -> Tensor:
        """Scores of the vocabulary, (..., D) -> (..., V)."""
        return F.linear(self._transformed(states), self._weight(), self.bias)

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Cross-entropy summed over the places that are to be told: those where the target's mask is True."""
        ids, told = batch["target"]
        assert told is not None
        states, labels = self._transformed(memory.states[told])[None], ids[told][None]
        smoothing = self.smoothing if self.training else 0.0
        if torch.is_autocast_enabled(labels.device.type):
            scores = F.linear(states, self._weight(), self.bias)
            total = cross_entropy(scores, labels, self.padding, smoothing)
        else:
            total = output_cross_entropy(states, self._weight(), self.bias, labels, self.padding, smoothing)
        return Loss(total, told.sum().clamp(min=1))  # a text of unknown symbols has nothing to tell

    def _transformed(self, states: Tensor) -> Tensor:
        if self.transform is None or self.activation is None or self.norm is None:
            return states
        found: Tensor = self.norm(self.activation(self.transform(states)))
        return found

    def _weight(self) -> Tensor:
        """The weight of the output layer."""
        (tied,) = self._tied
        if tied is not None:
            return tied.weight
        assert self.output is not None
        return self.output.weight
