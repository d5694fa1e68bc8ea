"""What a Transformer decoder carries from step to step: a plain state, and a fast one that gives the same."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.blocks import Block
from seq2see.layers.cached import BeamMask
from seq2see.layers.fast_blocks import FastBlock
from seq2see.models.contracts import rows_of

__all__ = ["BlockPast", "FastState", "PlainState"]

_TIDY = 8
"""After so many steps, slots of the caches that no row of a beam can see any more are cleared away."""


class BlockPast(NamedTuple):
    """A block with its keys and values of a prefix, and of the sources."""

    block: Block
    past: KeysValues
    memory: KeysValues | None

    def select(self, rows: Tensor) -> Self:
        """Keep, repeat or drop rows."""
        memory = self.memory.select(rows) if self.memory is not None else None
        return self._replace(past=self.past.select(rows), memory=memory)

    def join(self, other: Self) -> Self:
        """The rows of both; which positions of the past each may see is for the state to say."""
        memory = self.memory
        if memory is not None and other.memory is not None:
            memory = memory.join(other.memory)
        return self._replace(past=replace(self.past.join(other.past), mask=None), memory=memory)


@dataclass(frozen=True)
class PlainState:
    """Keys and values of each row by itself, which grow by concatenation: nothing is written in place."""

    blocks: tuple[BlockPast, ...]
    positions: Tensor
    """Of the next token of each row, (rows,)."""
    mask: Tensor
    """Which positions of the keys and values are a row's own, (rows, T)."""
    sources: int

    @classmethod
    def begin(cls, blocks: Sequence[BlockPast], lengths: Sequence[int]) -> Self:
        """The state after prefixes of these lengths, one for each source."""
        keys = blocks[0].past.keys
        positions = torch.tensor(lengths, device=keys.device)
        mask = torch.arange(keys.shape[2], device=keys.device) < positions[:, None]
        return cls(tuple(blocks), positions, mask, len(lengths))

    def step(
        self,
        states: Tensor,
        rotation: Tensor | None,
        cross_rotation: Tensor | None,
        watches: Sequence[Watch | None],
    ) -> tuple[Tensor, Self]:
        """New states (rows, D) of one more position of each row, and the state after it."""
        mask = pad(self.mask, (0, 1), value=True)
        after, states = [], states.unsqueeze(1)
        for (block, past, memory), watch in zip(self.blocks, watches, strict=True):
            states, past = block.extend(
                states, past, mask[:, None, None], rotation, watch, memory, cross_rotation
            )
            after.append(BlockPast(block, past, memory))
        return states.squeeze(1), replace(self, blocks=tuple(after), positions=self.positions + 1, mask=mask)

    def keep(self, sources: Tensor) -> Self:
        moved = self.move(rows_of(sources, len(self.positions) // self.sources))
        return replace(moved, sources=len(sources))

    def move(self, rows: Tensor) -> Self:
        blocks = tuple(block.select(rows) for block in self.blocks)
        return replace(self, blocks=blocks, positions=self.positions[rows], mask=self.mask[rows])

    def join(self, other: Self) -> Self:
        longest = max(self.mask.shape[1], other.mask.shape[1])
        masks = [pad(part.mask, (0, longest - part.mask.shape[1]), value=False) for part in (self, other)]
        return replace(
            self,
            blocks=tuple(one.join(more) for one, more in zip(self.blocks, other.blocks, strict=True)),
            positions=torch.cat([self.positions, other.positions]),
            mask=torch.cat(masks),
            sources=self.sources + other.sources,
        )


@dataclass(frozen=True)
class FastState:
    """Caches that the rows of a source share, and where needed a mask of the slots that are a row's own."""

    blocks: tuple[FastBlock, ...]
    source_positions: int | Tensor
    """The position of the next token: one for all rows, or one for each source (B,)."""
    beam_mask: BeamMask | None = None
    steps: int = 0

    @classmethod
    def begin(cls, blocks: Sequence[BlockPast], lengths: Sequence[int]) -> Self:
        """The state after prefixes of these lengths, one for each source."""
        fast = tuple(FastBlock.begin(*one) for one in blocks)
        if len(set(lengths)) <= 1:
            return cls(fast, lengths[0] if lengths else 0)
        keys = blocks[0].past.keys
        positions = torch.tensor(lengths, device=keys.device)
        return cls(fast, positions, BeamMask.of_lengths(positions, keys.shape[2], keys))

    @property
    def positions(self) -> int | Tensor:
        """The position of the next token: one for all rows, or one for each row."""
        if isinstance(self.source_positions, int):
            return self.source_positions
        rows = self.beam_mask.bias.shape[1] if self.beam_mask is not None else 1
        return self.source_positions.repeat_interleave(rows)

    def step(
        self,
        states: Tensor,
        rotation: Tensor | None,
        cross_rotation: Tensor | None,
        watches: Sequence[Watch | None],
    ) -> tuple[Tensor, Self]:
        """New states (rows, D) of one more position of each row, and the state after it."""
        state = self._tidied() if self.steps % _TIDY == _TIDY - 1 else self
        mask = state.beam_mask.grow() if state.beam_mask is not None else None
        # Queries of single positions have no dimension of positions.
        cross_rotation = cross_rotation.squeeze(-2) if cross_rotation is not None else None
        after = []
        for block, watch in zip(state.blocks, watches, strict=True):
            states, block = block.step(states, mask, rotation, cross_rotation, watch)
            after.append(block)
        return states, type(self)(tuple(after), self.source_positions + 1, mask, self.steps + 1)

    def keep(self, sources: Tensor) -> Self:
        positions = self.source_positions
        return replace(
            self,
            blocks=tuple(block.keep(sources) for block in self.blocks),
            source_positions=positions if isinstance(positions, int) else positions[sources],
            beam_mask=self.beam_mask.keep(sources) if self.beam_mask is not None else None,
        )

    def move(self, rows: Tensor) -> Self:
        return replace(self, beam_mask=self._mask().move(rows))

    def join(self, other: Self) -> Self:
        blocks = tuple(one.join(more) for one, more in zip(self.blocks, other.blocks, strict=True))
        at, other_at = self.source_positions, other.source_positions
        together = isinstance(at, int) and isinstance(other_at, int) and at == other_at
        if together and self.beam_mask is None and other.beam_mask is None:
            return replace(self, blocks=blocks)
        positions = at if together else torch.cat([self._positions(), other._positions()])
        mask = self._mask().join(other._mask())
        return replace(self, blocks=blocks, source_positions=positions, beam_mask=mask)

    def _positions(self) -> Tensor:
        """The position of the next token of each source, (B,)."""
        if isinstance(self.source_positions, int):
            past = self.blocks[0].past
            return torch.full((past.sources,), self.source_positions, device=past.keys.device)
        return self.source_positions

    def _mask(self) -> BeamMask:
        past = self.blocks[0].past
        return self.beam_mask or BeamMask.everything(past.sources, past.length, past.keys)

    def _tidied(self) -> Self:
        """The same without the slots that no row can see, if those are at least half of all."""
        if self.beam_mask is None or (slots := self.beam_mask.used_slots()) is None:
            return self
        blocks = (block._replace(past=block.past.pick(slots)) for block in self.blocks)
        return replace(self, blocks=tuple(blocks), beam_mask=self.beam_mask.pick(slots))
