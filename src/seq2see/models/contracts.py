"""What passes between the parts of a network, whatever they are made of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor

from seq2see.data.sides import Batch, Side
from seq2see.layers.attention import Watch
from seq2see.text.special import Special

__all__ = [
    "Decoder",
    "Encoder",
    "Front",
    "Head",
    "Loss",
    "Memory",
    "Sides",
    "State",
    "States",
    "Vocabulary",
    "Written",
    "rows_of",
]

Sides = Mapping[str, Side]


class Vocabulary(NamedTuple):
    """How many ids a column has, and which of them are special."""

    size: int
    special: Special


class Loss(NamedTuple):
    """What training makes smaller: a sum over so many tokens, words or examples."""

    total: Tensor
    count: Tensor


class States(NamedTuple):
    """States (B, S, D), and where they stand for something (B, S)."""

    states: Tensor
    mask: Tensor


@dataclass(frozen=True)
class Memory:
    """An encoded source: states (B, S, D), where they hold a token (B, S), and one summary (B, D)."""

    states: Tensor
    mask: Tensor
    summary: Tensor
    tokens: Tensor | None = None
    """The source as ids of the target (B, S), where tokens may be copied."""

    def select(self, rows: Tensor) -> "Memory":
        """Keep, repeat or drop rows of the batch."""
        tokens = self.tokens[rows] if self.tokens is not None else None
        return Memory(self.states[rows], self.mask[rows], self.summary[rows], tokens)


class Written(NamedTuple):
    """What a decoder gives for each position: a state (..., D), and where it looked (..., S) if it did."""

    states: Tensor
    looked: Tensor | None


def rows_of(sources: Tensor, each: int) -> Tensor:
    """The rows of some sources, where each has so many."""
    return (sources[:, None] * each + torch.arange(each, device=sources.device)).flatten()


class State(Protocol):
    """What a decoder carries from one step to the next: some rows for each source, as many for all.

    A state that has been used for a step, kept or moved is not to be used again.
    """

    def keep(self, sources: Tensor) -> Self:
        """Keep, repeat or drop sources, with all of their rows."""

    def move(self, rows: Tensor) -> Self:
        """Go on from other rows of the same sources: those of the first source, then of the second."""


class Front(Protocol):
    """Makes states of what is read: token ids now, patches of images later."""

    def __call__(self, sides: Sides) -> States:
        """States of the source, one for each of its positions."""


class Encoder(Protocol):
    """Reads a source."""

    def __call__(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        """Encode states (B, S, D) where the mask (B, S) is True."""


class Decoder(Protocol):
    """Writes a target, all positions at once or one after another."""

    def __call__(self, tokens: Tensor, memory: Memory, watch: Watch | None = None) -> Written:
        """States of all positions of known targets, (B, T) -> (B, T, D)."""

    def begin(self, memory: Memory) -> State:
        """The state before the first step."""

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Written, State]:
        """Read one token for each row, (B,) -> (B, D), and go on."""


class Head(Protocol):
    """The end of a network: what it gives, and how wrong that is."""

    def loss(self, memory: Memory, written: Written | None, batch: Batch) -> Loss:
        """How far what the network gives is from what the batch says."""
