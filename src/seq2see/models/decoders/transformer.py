"""The Transformer's decoder ("Attention Is All You Need", Vaswani et al. 2017)."""

from typing import cast

import torch
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.blocks import Block
from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import Positions, rotations
from seq2see.models.contracts import DecoderOutput, Memory, Prefix, State
from seq2see.models.decoders.transformer_states import BlockPast, FastState, PlainState
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["TransformerDecoder"]


class TransformerDecoder(nn.Module):
    """Blocks of masked self-attention and, if it `crosses`, attention on the source."""

    def __init__(
        self,
        embed: nn.Embedding,
        settings: ModelSettings,
        part: TransformerSettings,
        *,
        crosses: bool = True,
    ) -> None:
        super().__init__()
        width = settings.width
        self.embed = embed
        self.positions = Positions(part.positions, width, settings.max_length, part.join_positions)
        self.dropout = Dropout(settings.dropout)
        self.final_norm = part.final_norm(width)
        self.head_width, self.rotary_base = width // part.heads, part.rotary_base
        self.scale, self.norm = settings.front.embedding_scale(width), settings.front.embedding_norm(width)
        self.crosses = crosses
        self.copies = settings.pointer
        self.blocks = nn.ModuleList(
            part.block(settings, f"decoder.{layer}", crosses) for layer in range(part.layers)
        )

    def forward(self, tokens: Tensor, memory: Memory | None, watch: Watch | None = None) -> DecoderOutput:
        return self._read(tokens, memory, watch, keep=False)[0]

    def begin(
        self,
        memory: Memory | None,
        prefix: Prefix | None = None,
        watch: Watch | None = None,
        plain: bool = False,
    ) -> PlainState | FastState:
        """The state before the first step, or after a prefix, which without a memory has the rows."""
        if prefix is None:
            assert memory is not None, "without a source, give a prefix: it says how many rows there are"
            prefix = Prefix.empty(len(memory.mask), memory.mask.device)
        return self.prefill(memory, prefix, watch, plain)[1]

    def prefill(
        self, memory: Memory | None, prefix: Prefix, watch: Watch | None = None, plain: bool = False
    ) -> tuple[DecoderOutput, PlainState | FastState]:
        """Read the prefix of each row at once: outputs at its positions (B, T, D), and the state after it.

        A plain state writes nothing in place, as gradients, automatic precision and exported graphs need it.
        """
        tokens = prefix.tokens
        output, blocks = self._read(tokens, memory, watch) if tokens.shape[1] else self._empty(tokens, memory)
        plain = plain or torch.is_grad_enabled() or torch.is_autocast_enabled(tokens.device.type)
        kind = PlainState if plain else FastState
        return output, kind.begin(blocks, prefix.lengths)

    def step(
        self, tokens: Tensor, state: State, watch: Watch | None = None
    ) -> tuple[DecoderOutput, PlainState | FastState]:
        assert isinstance(state, PlainState | FastState)
        positions = state.positions
        states = self.read(tokens[:, None], positions)[:, 0]
        rotation, cross_rotation = self._rotations(positions, 1, tokens.device)
        noted, watches = self._watches(watch)
        states, after = state.step(states, rotation, cross_rotation, watches)
        weights = noted.weights.mean(1).reshape(tokens.shape[0], -1) if noted is not None else None
        return DecoderOutput(self.final_norm(states), weights), after

    def read(self, tokens: Tensor, start: int | Tensor = 0) -> Tensor:
        """Embedded tokens at their positions, (B, T) -> (B, T, D)."""
        states = self.positions(self.embed(tokens) * self.scale, start)
        if self.norm is not None:
            states = self.norm(states)
        dropped: Tensor = self.dropout(states)
        return dropped

    def _read(
        self, tokens: Tensor, memory: Memory | None, watch: Watch | None, keep: bool = True
    ) -> tuple[DecoderOutput, list[BlockPast]]:
        """All positions at once; without `keep`, nothing is kept for further ones."""
        mask = masks.causal(tokens.shape[1], tokens.device)
        states = self.read(tokens)
        rotation, cross_rotation = self._rotations(0, tokens.shape[1], tokens.device)
        noted, watches = self._watches(watch)
        blocks = []
        for block, seen, look in zip(self.blocks, self._memory(memory), watches, strict=True):
            block = cast(Block, block)
            if keep:
                states, past = block.extend(states, None, mask, rotation, look, seen, cross_rotation)
                blocks.append(BlockPast(block, past, seen))
            else:
                states = block(states, mask, rotation, look, seen, cross_rotation)
        weights = noted.weights.mean(1) if noted is not None else None
        return DecoderOutput(self.final_norm(states), weights), blocks

    def _empty(self, tokens: Tensor, memory: Memory | None) -> tuple[DecoderOutput, list[BlockPast]]:
        """The output and the caches of a prefix without any token."""
        blocks = [cast(Block, block) for block in self.blocks]
        width = self.embed.embedding_dim
        states = self.embed.weight.new_empty(len(tokens), 0, width)
        keys = states.view(len(tokens), blocks[0].attention.heads, 0, self.head_width)
        past = KeysValues(keys, keys)
        memories = self._memory(memory)
        return DecoderOutput(states, None), [
            BlockPast(block, past, seen) for block, seen in zip(blocks, memories, strict=True)
        ]

    def _memory(self, memory: Memory | None) -> list[KeysValues] | list[None]:
        """Keys and values of the source for each block."""
        if not self.crosses:
            return [None] * len(self.blocks)
        assert memory is not None, "a decoder that attends to a source needs one"
        length, device = memory.states.shape[1], memory.states.device
        _, rotation = self._rotations(0, length, device)
        mask = memory.mask[:, None, None]
        crosses = [cast(Block, block).cross for block in self.blocks]
        return [cross.project(memory.states, mask, rotation) for cross in crosses]

    def _rotations(
        self, start: int | Tensor, count: int, device: torch.device
    ) -> tuple[Tensor | None, Tensor | None]:
        """Angles of positions in self-attention and in attention on the source, if they are rotary there."""
        if not self.positions.kind.startswith("rotary"):
            return None, None
        rotation = rotations(start, count, self.head_width, device, self.rotary_base)
        return rotation, rotation if self.positions.kind == "rotary" else None

    def _watches(self, watch: Watch | None) -> tuple["_NotedWeights | None", list[Watch | None]]:
        """The watcher of each block; for copying, that of the last block keeps its cross-attention."""
        noted = _NotedWeights(watch) if self.copies else None
        return noted, [*[watch] * (len(self.blocks) - 1), noted or watch]


class _NotedWeights:
    """Keeps the weights that it was given last, after another watcher has changed them."""

    weights: Tensor

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch

    def __call__(self, address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        self.weights = self._watch(address, weights, mask) if self._watch is not None else weights
        return self.weights
