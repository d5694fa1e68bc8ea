"""A decoder of its own for each of several targets, after one encoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from seq2see.layers.attention import Watch
from seq2see.models.contracts import Decoder, DecoderOutput, Memory, Prefix, State, rows_of
from seq2see.models.own_tokens import OwnTokens

__all__ = ["SeveralDecoders"]


class SeveralDecoders(nn.Module):
    """Gives every row to the decoder of its target, which the first token of the row names.

    Each decoder has vectors for the tokens of its own target alone.
    """

    def __init__(self, decoders: Sequence[Decoder], targets: Sequence[int], own: OwnTokens) -> None:
        super().__init__()
        self.decoders = nn.ModuleList(cast(Sequence[nn.Module], decoders))
        self.targets = list(targets)
        self.own = own

    @property
    def embed(self) -> nn.Embedding:
        """The vectors of tokens of the first decoder."""
        return self._of(0).embed

    def forward(self, tokens: Tensor, memory: Memory | None, watch: Watch | None = None) -> DecoderOutput:
        assert memory is not None, "a decoder for each target needs a source"
        states = memory.states.new_zeros(*tokens.shape, self.embed.embedding_dim)
        writers = self.sorted(tokens[:, 0])
        for number, rows in writers.items():
            own = self.own(number, tokens[rows])
            states[rows] = self._of(number)(own, memory.select(rows), watch).states
        return DecoderOutput(states, None, writers)

    def begin(
        self, memory: Memory | None, prefix: Prefix | None = None, watch: Watch | None = None
    ) -> "SeveralState":
        """The state before the first step; the decoders begin at that step, when every row has a token."""
        assert memory is not None, "a decoder for each target needs a source"
        rows = len(memory.mask)
        if prefix is None:
            prefix = Prefix.empty(rows, memory.mask.device)
        sources = torch.arange(rows, device=memory.mask.device)
        return SeveralState(rows, 1, {}, [Waiting(memory, prefix, sources)])

    def prefill(
        self, memory: Memory | None, prefix: Prefix, watch: Watch | None = None
    ) -> tuple[DecoderOutput, "SeveralState"]:
        """Outputs of rows without any token are zeros."""
        return self(prefix.tokens, memory, watch), self.begin(memory, prefix)

    def step(
        self, tokens: Tensor, state: State, watch: Watch | None = None
    ) -> tuple[DecoderOutput, "SeveralState"]:
        """One token for each row, by the decoder of that row."""
        assert isinstance(state, SeveralState)
        states = self.embed.weight.new_empty(len(tokens), self.embed.embedding_dim)
        writers, after = {}, {}
        for number, part in self._begun(tokens, state, watch).items():
            rows = writers[number] = rows_of(part.sources, state.each)
            output, going = self._of(number).step(self.own(number, tokens[rows]), part.state, watch)
            states[rows] = output.states
            after[number] = Running(going, part.sources)
        return DecoderOutput(states, None, writers), replace(state, running=after, waiting=[])

    def sorted(self, first: Tensor) -> dict[int, Tensor]:
        """The rows of each decoder that has any, by the first token of each row."""
        found = {number: (first == token).nonzero()[:, 0] for number, token in enumerate(self.targets)}
        return {number: rows for number, rows in found.items() if len(rows)}

    def _of(self, number: int) -> Decoder:
        return cast(Decoder, self.decoders[number])

    def _begun(self, tokens: Tensor, state: "SeveralState", watch: Watch | None) -> dict[int, "Running"]:
        """What the decoders carry, with that of the sources that have waited for their first token."""
        running = dict(state.running)
        for memory, prefix, sources in state.waiting:
            first = tokens[sources * state.each]
            if prefix.tokens.shape[1]:
                has = torch.tensor(prefix.lengths, device=tokens.device) > 0
                first = torch.where(has, prefix.tokens[:, 0], first)
            for number, rows in self.sorted(first).items():
                own = _chosen(prefix, rows)
                own = own._replace(tokens=self.own(number, own.tokens))
                begun = self._of(number).begin(memory.select(rows), own, watch)
                if state.each > 1:
                    begun = begun.move(
                        torch.arange(len(rows), device=rows.device).repeat_interleave(state.each)
                    )
                _add(running, number, Running(begun, sources[rows]))
        return running


class Running(NamedTuple):
    """The state of one decoder, and the numbers of its sources."""

    state: State
    sources: Tensor


class Waiting(NamedTuple):
    """Sources of which no step was made, by their numbers: nobody knows yet which decoder is theirs."""

    memory: Memory
    prefix: Prefix
    sources: Tensor


@dataclass(frozen=True)
class SeveralState:
    """What each decoder carries for its own of `count` sources, every one of which has `each` rows."""

    count: int
    each: int
    running: Mapping[int, Running]
    waiting: Sequence[Waiting]

    def keep(self, sources: Tensor) -> "SeveralState":
        running, waiting = {}, []
        for number, part in self.running.items():
            places, own = self._kept(part.sources, sources)
            if len(own):
                running[number] = Running(part.state.keep(places), own)
        for memory, prefix, before in self.waiting:
            places, own = self._kept(before, sources)
            if len(own):
                waiting.append(Waiting(memory.select(places), _chosen(prefix, places), own))
        return SeveralState(len(sources), self.each, running, waiting)

    def move(self, rows: Tensor) -> "SeveralState":
        each = len(rows) // self.count
        running = {}
        for number, (state, sources) in self.running.items():
            within = rows.view(self.count, each)[sources] - sources[:, None] * self.each
            places = torch.arange(len(sources), device=rows.device)[:, None] * self.each
            running[number] = Running(state.move((places + within).flatten()), sources)
        return replace(self, each=each, running=running)

    def join(self, other: "SeveralState") -> "SeveralState":
        running = dict(self.running)
        for number, (state, sources) in other.running.items():
            _add(running, number, Running(state, sources + self.count))
        waiting = [one._replace(sources=one.sources + self.count) for one in other.waiting]
        return SeveralState(self.count + other.count, self.each, running, [*self.waiting, *waiting])

    def _kept(self, own: Tensor, sources: Tensor) -> tuple[Tensor, Tensor]:
        """Where those of the sources stand that are among `own`, and their new numbers."""
        places = torch.full((self.count,), -1, device=own.device)
        places[own] = torch.arange(len(own), device=own.device)
        found = places[sources]
        return found[found >= 0], (found >= 0).nonzero()[:, 0]


def _add(running: dict[int, Running], number: int, part: Running) -> None:
    """Give a decoder further sources, behind those that it has."""
    if number in running:
        before = running[number]
        part = Running(before.state.join(part.state), torch.cat([before.sources, part.sources]))
    running[number] = part


def _chosen(prefix: Prefix, rows: Tensor) -> Prefix:
    """The prefixes of some rows."""
    lengths = tuple(prefix.lengths[row] for row in rows.tolist())
    return Prefix(prefix.tokens[rows, : max(lengths, default=0)], lengths)
