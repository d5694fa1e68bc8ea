"""A known target given to a network token by token: its attention, and how likely it finds the target."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from seq2see.layers.attention import Watch
from seq2see.lens.watchers import WeightCollector
from seq2see.models import DecoderOnly, EncoderDecoder

__all__ = ["Source", "TeacherForced", "as_batch", "teacher_force", "weights_and_logits"]

Source = Sequence[int] | Tensor
"""What a network reads of one source: the ids of a text, or the pixels (C, H, W) of an image."""


def as_batch(source: Source, device: torch.device) -> Tensor:
    """A batch of one source."""
    row = source if isinstance(source, Tensor) else torch.tensor(source)
    return row[None].to(device)


class TeacherForced(NamedTuple):
    """What a network gave while it was fed one source and one known target."""

    weights: dict[str, Tensor]
    """Attention weights by address, (H, T, S)."""
    log_probabilities: Tensor
    """Of every token at every step, (T, V)."""

    def of(self, target: Sequence[int]) -> list[float]:
        """The log-probability of each token of a target."""
        chosen = torch.tensor(target, device=self.log_probabilities.device)
        picked: list[float] = self.log_probabilities.gather(1, chosen[:, None])[:, 0].tolist()
        return picked


@torch.inference_mode()
def weights_and_logits(
    network: EncoderDecoder, source: Tensor, inputs: Tensor, watch: Watch | None = None
) -> tuple[dict[str, Tensor], Tensor]:
    """Attention weights by address (B, H, T, S), as the watcher leaves them, and logits (B, T, V)."""
    collector = WeightCollector(watch)
    logits = network.logits(source, inputs, collector)
    return collector.weights(), logits


@torch.inference_mode()
def teacher_force(
    network: EncoderDecoder | DecoderOnly,
    source: Source,
    target: Sequence[int],
    watch: Watch | None = None,
    first: int | None = None,
) -> TeacherForced:
    """Feed one target, its end symbol included, after one source, which a decoder alone does not read.

    `first` is read before the target; by default the begin symbol.
    """
    before = network.special.begin if first is None else first
    inputs = torch.tensor([[before, *target[:-1]]], device=network.device)
    if isinstance(network, DecoderOnly):
        collector = WeightCollector(watch)
        logits = network.logits(inputs, collector)
        weights = collector.weights()
    else:
        weights, logits = weights_and_logits(network, as_batch(source, network.device), inputs, watch)
    of_row = {address: found[0] for address, found in weights.items()}
    return TeacherForced(of_row, logits[0].float().log_softmax(-1))
