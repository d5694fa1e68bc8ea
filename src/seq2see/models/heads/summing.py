"""What heads for a class and for a number share: one vector for a source, joined with extra features."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.columns.counts import CountsSettings
from seq2see.layers.attention import Watch
from seq2see.layers.dropout import Dropout, kept
from seq2see.layers.pooling import AttentionPooling, Pooling, pool
from seq2see.models.contracts import Memory, Sides
from seq2see.models.heads.filling import TransformSettings
from seq2see.settings import Settings

__all__ = ["HeadSettings", "Summed", "members_of"]

_DENSE = 8192
"""Pieces up to which counts are multiplied as a dense matrix."""


class HeadSettings(Settings):
    """How a model that reads but does not write comes to its answer."""

    pooling: tuple[Pooling, ...] | Pooling = "mean"
    """What stands for the whole source; several are joined, and with none the counts must do."""
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
    counts: CountsSettings | None = None
    """Counts of short pieces of the text, which join the summary."""
    members: int = Field(default=1, ge=1, le=64)
    """Copies of the head, each with weights of its own, that learn apart and answer together."""
    class_weights: bool = False
    """Rare classes count as much as common ones."""
    transform: TransformSettings | None = None
    """Of a model that fills gaps: what stands before its output layer; nothing by default."""

    @property
    def poolings(self) -> tuple[Pooling, ...]:
        """All ways of pooling, in order."""
        return self.pooling if isinstance(self.pooling, tuple) else (self.pooling,)


class Counted(nn.Module):
    """A linear layer over the few pieces that a text has of the many that there are."""

    def __init__(self, pieces: int, width: int, dropout: float, straight: bool) -> None:
        super().__init__()
        self.weights = nn.Embedding(pieces, width)
        # What goes straight to the answer begins with saying nothing.
        nn.init.normal_(self.weights.weight, std=0.0 if straight else (2 / (pieces + width)) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(width))
        self.dropout = dropout

    def forward(self, counts: Tensor) -> Tensor:
        """Ids and weights (B, N, 2) -> (B, width)."""
        ids, weights = counts[..., 0].long(), counts[..., 1]
        if self.training and self.dropout:
            weights = weights * kept(weights, self.dropout)
        pieces = self.weights.num_embeddings
        if pieces > _DENSE:
            summed = F.embedding_bag(ids, self.weights.weight, per_sample_weights=weights, mode="sum")
            return summed + self.bias
        # Of few pieces a text has many: then one product over all of them is faster.
        all_pieces = weights.new_zeros(len(ids), pieces).scatter_add_(1, ids, weights)
        return all_pieces @ self.weights.weight + self.bias


class Summed(nn.Module):
    """States of a source to so many outputs.

    The summary, the extra features and (through a layer of their own) the counts are joined; without such a
    layer the counts are a linear model beside the rest, whose outputs are added.
    """

    def __init__(
        self,
        width: int,
        extras: int,
        outputs: int,
        settings: HeadSettings,
        pieces: int | None = None,
        address: str = "head.pool",
    ) -> None:
        super().__init__()
        self.poolings = settings.poolings
        self.attention = (
            AttentionPooling(width, settings.heads, address) if "attention" in self.poolings else None
        )
        self.counted, self.straight = None, False
        joined = width * len(self.poolings) + extras
        if settings.counts is not None and pieces is not None:
            inner = settings.counts.hidden
            self.straight = inner is None
            self.counted = Counted(pieces, inner or outputs, settings.counts.dropout, self.straight)
            joined += inner or 0
        self.hidden = nn.Linear(joined, settings.hidden) if settings.hidden and joined else None
        # Counts that go straight to the answer may be all there is.
        self.output = nn.Linear(settings.hidden or joined, outputs) if joined else None
        self.dropout = Dropout(settings.dropout)

    def forward(self, memory: Memory, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Outputs of each row, (B, outputs)."""
        parts = [self.dropout(self._pooled(kind, memory, watch)) for kind in self.poolings]
        counted = self.counted(sides["counts"].values) if self.counted is not None else None
        if counted is not None and not self.straight:
            parts.append(self.dropout(F.gelu(counted)))
        if "extras" in sides:
            parts.append(sides["extras"].values.to(memory.states.dtype))
        if self.output is None:
            assert isinstance(counted, Tensor)
            return counted
        states = torch.cat(parts, -1)
        if self.hidden is not None:
            states = self.dropout(F.gelu(self.hidden(states)))
        outputs: Tensor = self.output(states)
        return outputs + counted if counted is not None and self.straight else outputs

    def _pooled(self, kind: Pooling, memory: Memory, watch: Watch | None) -> Tensor:
        if kind == "attention":
            assert self.attention is not None
            pooled: Tensor = self.attention(memory.states, memory.mask, watch)
            return pooled
        return pool(kind, memory.states, memory.mask, memory.summary)


def members_of(
    width: int, extras: int, outputs: int, settings: HeadSettings, pieces: int | None
) -> nn.ModuleList:
    """The members of a head; each pools at an address of its own, where there are several."""
    count = settings.members
    addresses = ["head.pool"] if count == 1 else [f"head.{number}.pool" for number in range(count)]
    return nn.ModuleList(Summed(width, extras, outputs, settings, pieces, address) for address in addresses)
