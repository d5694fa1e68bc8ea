"""A recurrent encoder ("Sequence to Sequence Learning with Neural Networks", Sutskever et al. 2014)."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field
from torch import Tensor, nn

from seq2see.layers.attention import Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.recurrence import Cell, RecurrentReader
from seq2see.models.contracts import Memory
from seq2see.models.parts import EncoderSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["RecurrentEncoder", "RecurrentEncoderSettings"]


class RecurrentEncoderSettings(EncoderSettings):
    """Layers of recurrence over the source."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "lstm"
    layers: int = Field(default=1, ge=1, le=100)
    bidirectional: bool = True
    """Half of the features of each layer read from the right."""
    hidden: int | None = Field(default=None, ge=1, le=65536)
    """The width of the states, both directions together; by default the model's."""

    def memory_width(self, width: int) -> int:
        return self.hidden or width

    def check(self, model: "ModelSettings") -> None:
        if self.bidirectional and model.memory_width % 2:
            raise ValueError(
                f"encoder.bidirectional halves the states, and {model.memory_width} is odd; choose an even "
                "encoder.hidden, or encoder.bidirectional=false"
            )


class RecurrentEncoder(nn.Module):
    """Layers of recurrence over the source; the summary is what the last layer has at its end."""

    def __init__(self, settings: "ModelSettings", part: RecurrentEncoderSettings) -> None:
        super().__init__()
        width = settings.memory_width
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(
            RecurrentReader(part.cell, width if layer else settings.width, width, part.bidirectional)
            for layer in range(part.layers)
        )

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        lengths = mask.sum(1)
        for layer in self.layers:
            states, summary = layer(states, lengths)
            # What goes on to the next layer, and at the end to the decoder, is dropped out alike.
            states = self.dropout(states)
        return Memory(states, mask, self.dropout(summary))
