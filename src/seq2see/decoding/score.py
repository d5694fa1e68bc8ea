"""The log-probability of given targets."""

import torch
from torch import Tensor

from seq2see.data.batches import Batch
from seq2see.models import Seq2Seq

__all__ = ["score"]


@torch.inference_mode()
def score(model: Seq2Seq, batch: Batch) -> Tensor:
    """Log-probability of each target given its source, the end symbol counted, (B,)."""
    logits = model(batch.source, batch.inputs)
    steps = logits.float().log_softmax(-1).gather(2, batch.labels.unsqueeze(2))[..., 0]
    total: Tensor = steps.masked_fill(batch.labels == model.special.pad, 0.0).sum(1)
    return total
