"""The Transformer's encoder and decoder ("Attention Is All You Need", Vaswani et al. 2017)."""

from dataclasses import dataclass, replace
from typing import ClassVar, cast

from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.blocks import BlockState, DecoderBlock, EncoderBlock
from seq2see.layers.cached import Trail
from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import Positions, turns
from seq2see.models.contracts import Memory, State, Written
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["DecoderState", "TransformerDecoder"]

_TIDY = 8
"""After so many steps, what the rows of a beam have left behind is cleared away if it is much."""


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
        if not self.positions.kind.startswith("rotary"):
            return None
        return turns(start, end, self.head_width, like.device)


@dataclass(frozen=True)
class DecoderState:
    """What each block carries along, and the trail of each row where a source has several."""

    blocks: tuple[BlockState, ...]
    length: int
    trail: Trail | None = None

    def keep(self, sources: Tensor) -> "DecoderState":
        blocks = (
            block._replace(past=block.past.keep(sources), memory=block.memory.keep(sources))
            for block in self.blocks
        )
        trail = self.trail.keep(sources) if self.trail is not None else None
        return replace(self, blocks=tuple(blocks), trail=trail)

    def move(self, rows: Tensor) -> "DecoderState":
        past = self.blocks[0].past
        trail = self.trail or Trail.common(len(past.keys) // past.heads, past.length, past.keys)
        return replace(self, trail=trail.move(rows))

    def tidied(self) -> "DecoderState":
        """Without what no row has come by, if that is much."""
        if self.trail is None or (places := self.trail.busy()) is None:
            return self
        blocks = (block._replace(past=block.past.pick(places)) for block in self.blocks)
        return replace(self, blocks=tuple(blocks), trail=self.trail.pick(places))


class TransformerDecoder(_Stack):
    """Blocks of masked self-attention and attention on the source."""

    name, block = "decoder", DecoderBlock

    @property
    def turns_sources(self) -> bool:
        """Whether queries and keys are turned between the two sides too."""
        return self.positions.kind == "rotary"

    def begin(self, memory: Memory) -> DecoderState:
        seen = self._seen(memory)
        blocks = zip(self.blocks, seen, strict=True)
        return DecoderState(tuple(cast(DecoderBlock, block).begin(there) for block, there in blocks), 0)

    def forward(self, tokens: Tensor, memory: Memory, watch: Watch | None = None) -> Written:
        mask = masks.causal(tokens.shape[1], tokens.device)
        states = self.read(tokens)
        rotation = self.rotation(0, tokens.shape[1], tokens)
        looks = self._looks(watch)
        for block, seen, look in zip(self.blocks, self._seen(memory), looks, strict=True):
            states = block(states, seen, mask, rotation, rotation if self.turns_sources else None, look)
        return self._written(states, looks)

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Written, DecoderState]:
        assert isinstance(state, DecoderState)
        states = self.read(tokens[:, None], state.length)[:, 0]
        rotation = self.rotation(state.length, state.length + 1, tokens)
        state = state.tidied() if state.length % _TIDY == _TIDY - 1 else state
        trail = state.trail.grow() if state.trail is not None else None
        looks = self._looks(watch)
        after = []
        for block, here, look in zip(self.blocks, state.blocks, looks, strict=True):
            turn = rotation if self.turns_sources else None
            states, there = cast(DecoderBlock, block).step(states, here, trail, rotation, turn, look)
            after.append(there)
        (states, looked) = self._written(states, looks)
        # Those who look from one source stand side by side: (B, W, S) -> (B * W, S).
        looked = looked.flatten(0, 1) if looked is not None else None
        return Written(states, looked), DecoderState(tuple(after), state.length + 1, trail)

    def _seen(self, memory: Memory) -> list[KeysValues]:
        """Keys and values of the source for each block."""
        places = memory.states.shape[1]
        rotation = self.rotation(0, places, memory.states) if self.turns_sources else None
        mask = memory.mask[:, None, None]
        crosses = [cast(DecoderBlock, block).cross for block in self.blocks]
        return [cross.project(memory.states, mask, rotation) for cross in crosses]

    def _looks(self, watch: Watch | None) -> list[Watch | None]:
        """Who watches each block; where tokens are copied, the last one is always watched."""
        last = _Pointing(watch) if self.points else watch
        return [*[watch] * (len(self.blocks) - 1), last]

    def _written(self, states: Tensor, looks: list[Watch | None]) -> Written:
        pointing = looks[-1]
        looked = pointing.weights.mean(1) if isinstance(pointing, _Pointing) else None
        return Written(self.final_norm(states), looked)


class _Pointing:
    """Keeps the weights of the last attention that it saw, for one call of a decoder."""

    weights: Tensor

    def __init__(self, watch: Watch | None) -> None:
        self._watch = watch

    def __call__(self, address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        self.weights = self._watch(address, weights, mask) if self._watch is not None else weights
        return self.weights
