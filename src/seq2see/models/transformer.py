"""The Transformer's encoder and decoder ("Attention Is All You Need", Vaswani et al. 2017)."""

from dataclasses import dataclass
from typing import ClassVar, cast

import torch
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.blocks import DecoderBlock, EncoderBlock
from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import Positions, rotary
from seq2see.models.contracts import Memory, State, Written
from seq2see.models.settings import ModelSettings, TransformerSettings
from seq2see.text import PAD

__all__ = ["DecoderState", "TransformerDecoder", "TransformerEncoder"]


class _Stack(nn.Module):
    """What both sides have: an embedding with positions, blocks, and a norm at the end."""

    name: ClassVar[str]
    block: ClassVar[type[EncoderBlock] | type[DecoderBlock]]

    def __init__(self, embed: nn.Embedding, settings: ModelSettings, part: TransformerSettings) -> None:
        super().__init__()
        self.embed = embed
        self.positions = Positions(part.positions, settings.width, settings.max_length, part.join_positions)
        self.dropout = Dropout(settings.dropout)
        self.final_norm = nn.LayerNorm(settings.width) if part.norm == "before" else nn.Identity()
        self.head_width = settings.width // part.heads
        self.scale = settings.width**0.5
        self.points = settings.pointer
        self.blocks = nn.ModuleList(
            self.block(
                settings.width,
                part.heads,
                part.feedforward,
                f"{self.name}.{layer}",
                part.activation,
                part.norm,
                settings.dropout,
                settings.attention_dropout,
            )
            for layer in range(part.layers)
        )

    def read(self, tokens: Tensor, start: int = 0) -> Tensor:
        """Embedded tokens at their places, (B, T) -> (B, T, D)."""
        states: Tensor = self.dropout(self.positions(self.embed(tokens) * self.scale, start))
        return states

    def rotation(self, start: int, end: int, like: Tensor) -> Tensor | None:
        """The turn of each place, if positions are rotary."""
        if self.positions.kind != "rotary":
            return None
        return rotary(torch.arange(start, end, device=like.device), self.head_width)


class TransformerEncoder(_Stack):
    """Blocks of self-attention over the source."""

    name, block = "encoder", EncoderBlock

    def forward(self, source: Tensor, watch: Watch | None = None) -> Memory:
        mask = masks.present(source, PAD)
        states = self.read(source)
        rotation = self.rotation(0, source.shape[1], source)
        for block in self.blocks:
            states = block(states, mask[:, None, None], rotation, watch)
        states = self.final_norm(states)
        return Memory(states, mask, masks.mean(states, mask))


@dataclass(frozen=True)
class DecoderState:
    """Keys and values of the source and of what has been written, for each block."""

    memory: tuple[KeysValues, ...]
    past: tuple[KeysValues, ...] | None
    length: int

    def select(self, rows: Tensor) -> "DecoderState":
        past = tuple(seen.select(rows) for seen in self.past) if self.past is not None else None
        return DecoderState(tuple(seen.select(rows) for seen in self.memory), past, self.length)


class TransformerDecoder(_Stack):
    """Blocks of masked self-attention and attention on the source."""

    name, block = "decoder", DecoderBlock

    def begin(self, memory: Memory) -> DecoderState:
        rotation = self.rotation(0, memory.states.shape[1], memory.states)
        mask = memory.mask[:, None, None]
        crosses = [cast(DecoderBlock, block).cross for block in self.blocks]
        looked_at = tuple(cross.project(memory.states, mask, rotation) for cross in crosses)
        return DecoderState(looked_at, None, 0)

    def forward(self, tokens: Tensor, memory: Memory, watch: Watch | None = None) -> Written:
        mask = masks.causal(tokens.shape[1], tokens.device)
        return self._run(tokens, self.begin(memory), mask, watch)[0]

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Written, DecoderState]:
        assert isinstance(state, DecoderState)
        (states, looked), state = self._run(tokens[:, None], state, None, watch)
        return Written(states[:, 0], looked[:, 0] if looked is not None else None), state

    def _run(
        self, tokens: Tensor, state: DecoderState, mask: Tensor | None, watch: Watch | None
    ) -> tuple[Written, DecoderState]:
        start, end = state.length, state.length + tokens.shape[1]
        states = self.read(tokens, start)
        rotation = self.rotation(start, end, tokens)
        past = []
        pointing = _Pointing(watch) if self.points else None
        for layer, block in enumerate(self.blocks):
            before = state.past[layer] if state.past is not None else None
            last = layer == len(self.blocks) - 1
            look = pointing if pointing is not None and last else watch
            states, seen = block(states, state.memory[layer], before, mask, rotation, rotation, look)
            past.append(seen)
        looked = pointing.weights.mean(1) if pointing is not None else None
        return Written(self.final_norm(states), looked), DecoderState(state.memory, tuple(past), end)


class _Pointing:
    """Keeps the weights of the last attention that it saw, for one call of a decoder."""

    weights: Tensor

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch

    def __call__(self, address: str, weights: Tensor) -> Tensor:
        self.weights = self._watch(address, weights) if self._watch is not None else weights
        return self.weights
