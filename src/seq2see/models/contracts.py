"""What passes between the parts of a model, whatever they are made of."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor

from seq2see.layers.attention import Watch

__all__ = ["Decoder", "Encoder", "Memory", "State", "Written", "rows_of"]


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


class Encoder(Protocol):
    """Reads a source."""

    def __call__(self, source: Tensor, watch: Watch | None = None) -> Memory:
        """Encode ids (B, S)."""


class Decoder(Protocol):
    """Writes a target, all positions at once or one after another."""

    def __call__(self, tokens: Tensor, memory: Memory, watch: Watch | None = None) -> Written:
        """States of all positions of known targets, (B, T) -> (B, T, D)."""

    def begin(self, memory: Memory) -> State:
        """The state before the first step."""

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Written, State]:
        """Read one token for each row, (B,) -> (B, D), and go on."""
