"""A head that tags every word."""

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.sides import Batch
from seq2see.layers.dropout import Dropout
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Sides
from seq2see.models.heads.summing import HeadSettings

__all__ = ["TagHead"]


class TagHead(nn.Module):
    """For each column of tags, a score for every tag at every word."""

    def __init__(
        self, width: int, sizes: Sequence[int], settings: HeadSettings, smoothing: float = 0.0
    ) -> None:
        super().__init__()
        self.columns = nn.ModuleList(nn.Linear(width, size) for size in sizes)
        self.dropout = Dropout(settings.dropout)
        self.smoothing = smoothing

    def outputs(self, memory: Memory, sides: Sides) -> list[Tensor]:
        """Scores of the tags of each column, (B, words, tags).

        Where words are cut into tokens, the side `words` has the place of each word's last token.
        """
        states = self.dropout(memory.states)
        if "words" in sides:
            ends = sides["words"].values.unsqueeze(-1).expand(-1, -1, states.shape[-1])
            states = states.gather(1, ends)
        return [column(states) for column in self.columns]

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Cross-entropy summed over the words and columns."""
        tags, known = batch["target"]
        assert known is not None
        smoothing = self.smoothing if self.training else 0.0
        total = memory.states.new_zeros(())
        for place, scores in enumerate(self.outputs(memory, batch.sides)):
            here = known[..., place]
            total = total + F.cross_entropy(
                scores[here].float(), tags[..., place][here], label_smoothing=smoothing, reduction="sum"
            )
        return Loss(total, known.sum())
