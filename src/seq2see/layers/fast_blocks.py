"""One step of a block on plain tensors: the fast twin of `Block.extend` for one new position per row."""

from collections.abc import Callable
from typing import NamedTuple, Self

from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.blocks import Block, Residual
from seq2see.layers.cached import BeamMask, KeyValueCache
from seq2see.layers.norms import norm_function
from seq2see.layers.positions import rotate

__all__ = ["FastBlock"]


class FastSublayer(NamedTuple):
    """A residual path as plain tensors: for one position, calling modules costs more than the arithmetic."""

    norm_before: bool
    norm: Callable[[Tensor], Tensor]
    weight: Tensor
    """Weight and bias of the projection into the sublayer (queries, or the first feed-forward layer)."""
    bias: Tensor | None
    output_weight: Tensor
    """Weight (transposed) and bias of the projection out of the sublayer."""
    output_bias: Tensor | None

    @classmethod
    def of(cls, residual: Residual, enter: tuple[Tensor, Tensor | None], leave: nn.Linear) -> Self:
        """Take the tensors out of modules; `enter` is weight and bias of the projection into the sublayer."""
        norm = norm_function(residual.norm)
        return cls(residual.place == "before", norm, *enter, leave.weight.t(), leave.bias)

    def __call__(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """States (B, D) after this path; `sublayer` is what happens between the two projections."""
        inner = self.norm(states) if self.norm_before else states
        inner = sublayer(F.linear(inner, self.weight, self.bias))
        if self.output_bias is not None:
            after = (states + self.output_bias).addmm_(inner, self.output_weight)
        else:
            after = states.addmm(inner, self.output_weight)
        return after if self.norm_before else self.norm(after)


class FastWeights(NamedTuple):
    """The weights of one block, laid out for steps of a single position."""

    block: Block
    attention: FastSublayer
    cross: FastSublayer | None
    feedforward: FastSublayer

    @classmethod
    def of(cls, block: Block) -> Self:
        """Take the weights of a block; make this anew after they have changed, since some are copies."""
        enter = block.attention.joined_weights("query", "key", "value")
        attention = FastSublayer.of(block.attention_residual, enter, block.attention.output)
        cross = None
        if block.crosses:
            query = block.cross.query
            cross = FastSublayer.of(block.cross_residual, (query.weight, query.bias), block.cross.output)
        inner = block.feedforward.enter
        feedforward = FastSublayer.of(
            block.feedforward_residual, (inner.weight, inner.bias), block.feedforward.leave
        )
        return cls(block, attention, cross, feedforward)


class FastBlock(NamedTuple):
    """A block while it decodes: its weights, its cached keys and values, and those of the sources."""

    weights: FastWeights
    past: KeyValueCache
    memory: KeyValueCache | None

    @classmethod
    def begin(cls, block: Block, past: KeysValues, memory: KeysValues | None) -> Self:
        """The block after a prefix with these keys and values, which may be none."""
        rows, heads, length, width = past.keys.shape
        return cls(
            FastWeights.of(block),
            KeyValueCache.filled(past) if length else KeyValueCache.empty(rows, heads, width, past.keys),
            KeyValueCache.of_memory(memory) if memory is not None else None,
        )

    def step(
        self,
        states: Tensor,
        beam_mask: BeamMask | None = None,
        rotation: Tensor | None = None,
        cross_rotation: Tensor | None = None,
        watch: Watch | None = None,
    ) -> tuple[Tensor, Self]:
        """New states (B, D) of one more position of each row, and what is carried on."""
        weights, past, memory = self
        block = weights.block
        count, heads, width = len(states), past.heads, past.keys.shape[1]

        def attend(inner: Tensor) -> Tensor:
            nonlocal past
            parts, turned = inner.view(count, 1, -1, width), heads + block.attention.groups
            first, value = parts[:, :, :turned], parts[:, 0, turned:]
            if rotation is not None:
                first = rotate(first, rotation)
            query, key = first[:, 0, :heads], first[:, 0, heads:]
            past = past.append(*(block.attention.for_all_heads(part, 1) for part in (key, value)))
            return past.read(query, block.attention.address, watch, beam_mask)

        def attend_to_source(inner: Tensor) -> Tensor:
            assert memory is not None, "a block that crosses needs the keys and values of a source"
            query = inner.view(count, heads, width)
            if cross_rotation is not None:
                query = rotate(query, cross_rotation)
            return memory.read(query, block.cross.address, watch)

        states = weights.attention(states, attend)
        if weights.cross is not None:
            states = weights.cross(states, attend_to_source)
        states = weights.feedforward(states, block.feedforward.activate)
        return states, type(self)(weights, past, memory)

    def keep(self, sources: Tensor) -> Self:
        """Only these sources, each as often as it is named."""
        memory = self.memory.keep(sources) if self.memory is not None else None
        return self._replace(past=self.past.keep(sources), memory=memory)

    def join(self, other: Self) -> Self:
        """The sources of both."""
        memory = self.memory
        if memory is not None and other.memory is not None:
            memory = memory.join(other.memory)
        return self._replace(past=self.past.join(other.past), memory=memory)
