"""What heads for a class and for a number share: one vector for a source, joined with extra features."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from seq2see.layers.attention import Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.pooling import AttentionPooling, Pooling, pool
from seq2see.models.contracts import Memory, Sides
from seq2see.settings import Settings

__all__ = ["HeadSettings", "Summed"]

ADDRESS = "head.pool"
"""Where attention pooling is found by whoever watches or changes it."""


class HeadSettings(Settings):
    """How a model that reads but does not write comes to its answer."""

    pooling: tuple[Pooling, ...] | Pooling = "mean"
    """What stands for the whole source; several are joined."""
    heads: int = Field(default=1, ge=1, le=256)
    """Of attention pooling."""
    hidden: int | None = Field(default=None, ge=1, le=65536)
    """The width of a layer between the summary and the answer; none by default."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Of the summary."""
    loss: Literal["squared", "absolute"] = "squared"
    """Of numbers: errors squared, or as they are, which outliers move less."""
    several_labels: bool = False
    """A text may have any number of labels, written with | between them."""
    class_weights: bool = False
    """Rare classes count as much as common ones."""

    @property
    def poolings(self) -> tuple[Pooling, ...]:
        """All ways of pooling, in order."""
        return self.pooling if isinstance(self.pooling, tuple) else (self.pooling,)


class Summed(nn.Module):
    """States of a source to so many outputs."""

    def __init__(self, width: int, extras: int, outputs: int, settings: HeadSettings) -> None:
        super().__init__()
        self.poolings = settings.poolings
        self.attention = (
            AttentionPooling(width, settings.heads, ADDRESS) if "attention" in self.poolings else None
        )
        joined = width * len(self.poolings) + extras
        self.hidden = nn.Linear(joined, settings.hidden) if settings.hidden else None
        self.output = nn.Linear(settings.hidden or joined, outputs)
        self.dropout = Dropout(settings.dropout)

    def forward(self, memory: Memory, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Outputs of each row, (B, outputs)."""
        parts = [self._pooled(kind, memory, watch) for kind in self.poolings]
        states = self.dropout(torch.cat(parts, -1))
        if "extras" in sides:
            states = torch.cat([states, sides["extras"].values.to(states.dtype)], -1)
        if self.hidden is not None:
            states = self.dropout(torch.relu(self.hidden(states)))
        outputs: Tensor = self.output(states)
        return outputs

    def _pooled(self, kind: Pooling, memory: Memory, watch: Watch | None) -> Tensor:
        if kind == "attention":
            assert self.attention is not None
            pooled: Tensor = self.attention(memory.states, memory.mask, watch)
            return pooled
        return pool(kind, memory.states, memory.mask, memory.summary)
