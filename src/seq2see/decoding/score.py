"""The log-probability of given targets."""

import torch
from torch import Tensor

from seq2see.data.sides import Batch
from seq2see.models import EncoderDecoder

__all__ = ["score"]


@torch.inference_mode()
def score(model: EncoderDecoder, batch: Batch) -> Tensor:
    """Log-probability of each target given its source, the end symbol counted, (B,)."""
    target, mask = batch["target"]
    assert mask is not None
    memory = model.encode(batch.sides)
    logits = model.head.logits(model.decoder(target[:, :-1], memory), memory.tokens)
    steps = logits.float().log_softmax(-1).gather(2, target[:, 1:].unsqueeze(2))[..., 0]
    total: Tensor = steps.masked_fill(~mask[:, 1:], 0.0).sum(1)
    return total
