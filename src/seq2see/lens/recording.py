"""A network while it reads a source and says a given target: its weights and what it thinks of the target."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from seq2see.layers.attention import Watch
from seq2see.lens.watching import Recorder
from seq2see.models import EncoderDecoder

__all__ = ["Recorded", "record", "say"]


class Recorded(NamedTuple):
    """Of one source and one target."""

    weights: dict[str, Tensor]
    """By address, (H, T, S)."""
    log_probabilities: Tensor
    """Of every token at every step, (T, V)."""

    def of(self, said: Sequence[int]) -> list[float]:
        """The log-probability of each token of a target."""
        chosen = torch.tensor(said, device=self.log_probabilities.device)
        picked: list[float] = self.log_probabilities.gather(1, chosen[:, None])[:, 0].tolist()
        return picked


@torch.inference_mode()
def record(
    network: EncoderDecoder, source: Tensor, inputs: Tensor, watch: Watch | None = None
) -> tuple[dict[str, Tensor], Tensor]:
    """Weights by address, (B, H, T, S), after whoever watches has changed them, and logits, (B, T, V)."""
    recorder = Recorder(watch)
    logits = network.logits(source, inputs, recorder)
    return recorder.weights(), logits


@torch.inference_mode()
def say(
    network: EncoderDecoder, source: Sequence[int], said: Sequence[int], watch: Watch | None = None
) -> Recorded:
    """One target, the end symbol included, from one source."""
    device = next(network.parameters()).device
    inputs = torch.tensor([[network.special.begin, *said[:-1]]], device=device)
    weights, logits = record(network, torch.tensor([source], device=device), inputs, watch)
    first = {address: found[0] for address, found in weights.items()}
    return Recorded(first, logits[0].float().log_softmax(-1))
