"""What passes between the parts of a network, whatever they are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn

from seq2see.data.columns.contract import Vocabulary
from seq2see.data.sides import Batch, Side
from seq2see.layers.attention import Watch
from seq2see.layers.dropout import dropout
from seq2see.text.special import Special

__all__ = [
    "Decoder",
    "DecoderOutput",
    "Encoder",
    "Front",
    "Generator",
    "Head",
    "Loss",
    "Memory",
    "Prefix",
    "Sides",
    "State",
    "States",
    "Vocabulary",
    "rows_of",
]

Sides = Mapping[str, Side]


@dataclass(frozen=True)
class Loss:
    """A loss summed over `count` tokens, words or examples, so that several batches can be added up."""

    total: Tensor
    count: Tensor


class States(NamedTuple):
    """States (B, S, D), and a mask (B, S) that is False where there is padding.

    Of an image they may also be a map (B, D, H, W), for an encoder that reads maps.
    """

    states: Tensor
    mask: Tensor


@dataclass(frozen=True)
class Memory:
    """An encoded source: states (B, S, D), a mask (B, S) that is False at padding, one summary (B, D)."""

    states: Tensor
    mask: Tensor
    summary: Tensor
    tokens: Tensor | None = None
    """The source as ids of the target's vocabulary (B, S), for models that can copy tokens."""

    def select(self, rows: Tensor) -> "Memory":
        """Keep, repeat or drop rows of the batch."""
        tokens = self.tokens[rows] if self.tokens is not None else None
        return Memory(self.states[rows], self.mask[rows], self.summary[rows], tokens)

    def drop(self, rate: float) -> "Memory":
        """Set a share of the features to zero, as dropout does."""
        return replace(self, summary=dropout(self.summary, rate), states=dropout(self.states, rate))


class DecoderOutput(NamedTuple):
    """What a decoder gives for each position: a state (..., D), and its weights on the source (..., S)."""

    states: Tensor
    cross_weights: Tensor | None
    writers: Mapping[int, Tensor] | None = None
    """The rows of each of several decoders, by its number."""


class Prefix(NamedTuple):
    """Tokens (B, T) that rows begin with; row b has `lengths[b]` of them, and padding after those."""

    tokens: Tensor
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]], padding: int, device: torch.device) -> Self:
        """The tokens of each row, padded to one length."""
        lengths = tuple(map(len, rows))
        longest = max(lengths, default=0)
        padded = [[*row, *[padding] * (longest - len(row))] for row in rows]
        return cls(torch.tensor(padded, dtype=torch.long, device=device).view(len(rows), longest), lengths)

    @classmethod
    def empty(cls, rows: int, device: torch.device) -> Self:
        """No tokens for any of so many rows."""
        return cls(torch.empty(rows, 0, dtype=torch.long, device=device), (0,) * rows)


def rows_of(sources: Tensor, each: int) -> Tensor:
    """The numbers of the rows of some sources, where every source has `each` rows."""
    return (sources[:, None] * each + torch.arange(each, device=sources.device)).flatten()


class State(Protocol):
    """What a decoder carries from one step to the next, for the same number of rows of every source.

    Rows may be at different positions. A state that has been used for a step, kept, moved or joined is not
    to be used again.
    """

    def keep(self, sources: Tensor) -> Self:
        """Keep, repeat or drop sources, with all of their rows."""

    def move(self, rows: Tensor) -> Self:
        """Let the rows of each source continue `rows` of the same source, listed source by source."""

    def join(self, other: Self) -> Self:
        """Add the sources of another state of the same decoder, with as many rows for each."""


class Front(Protocol):
    """Turns what is read into states, one for each position."""

    @property
    def embed(self) -> nn.Embedding:
        """The vectors of tokens."""

    def __call__(self, sides: Sides) -> States:
        """States of the source, one for each of its positions."""


class Encoder(Protocol):
    """Reads a source."""

    def __call__(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        """Encode states (B, S, D) where the mask (B, S) is True."""


class Head(Protocol):
    """The end of a network: what it gives, and how wrong that is."""

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        """The loss of the network's outputs against the batch's target."""


class Decoder(Protocol):
    """Writes a target, all positions at once or one after another."""

    @property
    def embed(self) -> nn.Embedding:
        """The vectors of tokens."""

    def __call__(self, tokens: Tensor, memory: Memory | None, watch: Watch | None = None) -> DecoderOutput:
        """States of all positions of known targets, (B, T) -> (B, T, D)."""

    def begin(self, memory: Memory | None, prefix: Prefix | None = None, watch: Watch | None = None) -> State:
        """The state before the first step, or after a prefix, which without a memory has the rows."""

    def prefill(
        self, memory: Memory | None, prefix: Prefix, watch: Watch | None = None
    ) -> tuple[DecoderOutput, State]:
        """Read the prefix of each row at once: outputs at its positions (B, T, D), and the state after it."""

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[DecoderOutput, State]:
        """Read one token for each row, (B,) -> (B, D), and go on."""


class Generator(Protocol):
    """A model that outputs can be searched with: all that decoding knows of a model."""

    @property
    def special(self) -> Special:
        """The ids of the special symbols."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    def encode(self, sides: Sides, watch: Watch | None = None) -> Memory:
        """Read sources once, for any number of decodings."""

    def begin(self, memory: Memory | None, prefix: Prefix | None = None, watch: Watch | None = None) -> State:
        """The state before the first step, or after a prefix."""

    def prefill(
        self, memory: Memory | None, prefix: Prefix, watch: Watch | None = None
    ) -> tuple[Tensor, State]:
        """Logits after each position of a prefix (B, T, V), and the state after it."""

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Tensor, State]:
        """Logits of what follows one more token of each row, (B,) -> (B, V), and the state after it."""
