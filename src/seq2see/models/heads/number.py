"""A head that guesses a number."""

import torch
from torch import Tensor, nn

from seq2see.data.sides import Batch
from seq2see.layers.attention import Watch
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Sides
from seq2see.models.heads.summing import HeadSettings, members_of

__all__ = ["NumberHead"]


class NumberHead(nn.Module):
    """One number for each row, standardised as the column has it."""

    def __init__(self, width: int, extras: int, settings: HeadSettings, pieces: int | None = None) -> None:
        super().__init__()
        self.members = members_of(width, extras, 1, settings, pieces)
        self.squared = settings.loss == "squared"

    def outputs(self, memory: Memory, sides: Sides, watch: Watch | None = None) -> Tensor:
        """The number of each row, (B,): the mean over the members."""
        return torch.stack([member(memory, sides, watch) for member in self.members]).mean(0)[:, 0]

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Errors, squared or not, summed over the examples; members learn apart."""
        truth = batch["target"].values
        if self.training:
            guesses = [member(memory, batch.sides)[:, 0] for member in self.members]
        else:
            guesses = [self.outputs(memory, batch.sides)]
        errors = torch.stack(guesses).float() - truth
        total = (errors.square() if self.squared else errors.abs()).sum()
        return Loss(total, torch.tensor(len(truth), device=truth.device))
