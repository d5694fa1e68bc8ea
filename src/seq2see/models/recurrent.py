"""Recurrent encoders."""

from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.recurrence import RecurrentReader
from seq2see.models.contracts import Memory
from seq2see.models.settings import ModelSettings, RecurrentEncoderSettings
from seq2see.text import PAD

__all__ = ["RecurrentEncoder"]


class RecurrentEncoder(nn.Module):
    """Layers of recurrence over the source; the summary is what the last layer has at its end."""

    def __init__(self, embed: nn.Embedding, settings: ModelSettings, part: RecurrentEncoderSettings) -> None:
        super().__init__()
        width = settings.memory_width
        self.embed = embed
        self.scale = settings.width**0.5
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(
            RecurrentReader(part.cell, width if layer else settings.width, width, part.bidirectional)
            for layer in range(part.layers)
        )

    def forward(self, source: Tensor, watch: Watch | None = None) -> Memory:
        mask = masks.present(source, PAD)
        lengths = mask.sum(1)
        states = self.embed(source) * self.scale
        for layer in self.layers:
            states, summary = layer(self.dropout(states), lengths)
        return Memory(self.dropout(states), mask, self.dropout(summary))
