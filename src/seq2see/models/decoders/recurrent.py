"""Recurrent decoders, with any attention on the source or none.

"Sequence to Sequence Learning with Neural Networks" (Sutskever et al. 2014), with the attention of Bahdanau
et al. (2015) or Luong et al. (2015).
"""

from dataclasses import dataclass, replace
from math import prod
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from seq2see.layers import masks
from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.recurrence import RecurrentLayer
from seq2see.layers.scores import ScoredAttention
from seq2see.models.contracts import DecoderOutput, Memory, Prefix, State, rows_of
from seq2see.models.settings import ModelSettings, RecurrentDecoderSettings

__all__ = ["RecurrentDecoder", "RecurrentState"]


@dataclass(frozen=True)
class RecurrentState:
    """What a recurrent decoder carries from step to step, for all rows of each source."""

    layers: Tensor
    """The state of every layer, (rows, L, P, D)."""
    memory: KeysValues | None
    """Keys and values of each source."""
    past: KeysValues | None
    """Keys and values of each row's own states before this one."""
    fed: Tensor | None
    """What the last step gives to the next one's input, (rows, D)."""
    sources: int

    def keep(self, sources: Tensor) -> "RecurrentState":
        moved = self.move(rows_of(sources, len(self.layers) // self.sources))
        memory = self.memory.select(sources) if self.memory is not None else None
        return replace(moved, memory=memory, sources=len(sources))

    def move(self, rows: Tensor) -> "RecurrentState":
        return replace(
            self,
            layers=self.layers[rows],
            past=self.past.select(rows) if self.past is not None else None,
            fed=self.fed[rows] if self.fed is not None else None,
        )

    def join(self, other: "RecurrentState") -> "RecurrentState":
        memory, past, fed = self.memory, self.past, self.fed
        if memory is not None and other.memory is not None:
            memory = memory.join(other.memory)
        if past is not None and other.past is not None:
            past = past.join(other.past)
        if fed is not None and other.fed is not None:
            fed = torch.cat([fed, other.fed])
        layers = torch.cat([self.layers, other.layers])
        return RecurrentState(layers, memory, past, fed, self.sources + other.sources)

    def where(self, active: Tensor, before: "RecurrentState") -> "RecurrentState":
        """This state for the rows where `active` (rows,) is True, and `before` for the others."""
        past, fed = self.past, self.fed
        if past is not None and before.past is not None:
            mask = pad(_own(before.past), (0, 1)) | pad(active.view(-1, 1, 1, 1), (past.keys.shape[2] - 1, 0))
            past = replace(past, mask=mask)
        if fed is not None and before.fed is not None:
            fed = torch.where(active[:, None], fed, before.fed)
        layers = torch.where(active[:, None, None, None], self.layers, before.layers)
        return replace(self, layers=layers, past=past, fed=fed)


def _own(past: KeysValues) -> Tensor:
    """Which positions of keys and values are a row's own, (rows, 1, 1, T)."""
    if past.mask is not None:
        return past.mask
    rows, _, length, _ = past.keys.shape
    return torch.ones(rows, 1, 1, length, dtype=torch.bool, device=past.keys.device)


class RecurrentDecoder(nn.Module):
    """Layers of recurrence over the target, which start from the source's summary.

    With attention, y = f(s, a): the last layer's state and what it reads from the source. With input
    feeding, what was read (or with Luong's output layer, y) is also part of the next step's input. One that
    does not `cross` knows no source and starts from zeros.
    """

    def __init__(
        self,
        embed: nn.Embedding,
        settings: ModelSettings,
        part: RecurrentDecoderSettings,
        *,
        crosses: bool = True,
    ) -> None:
        super().__init__()
        width, memory_width = part.hidden or settings.width, settings.memory_width
        self.embed = embed
        self.scale, self.norm = (
            settings.front.embedding_scale(settings.width),
            settings.front.embedding_norm(settings.width),
        )
        self.dropout = Dropout(settings.dropout)
        self.luong = part.output == "luong"
        self.feeds = part.input_feeding
        self.cross = (
            ScoredAttention(
                part.attention,
                width,
                memory_width,
                "decoder.cross",
                part.heads,
                activation=part.activation,
                learned_values=part.learned_values,
                max_length=settings.max_length,
                dropout_rate=settings.attention_dropout,
            )
            if part.attention != "none" and crosses
            else None
        )
        self.own = (
            ScoredAttention(
                part.self_attention,
                width,
                width,
                "decoder.self",
                part.heads,
                activation=part.activation,
                dropout_rate=settings.attention_dropout,
            )
            if part.self_attention != "none"
            else None
        )
        self.fed_width = (settings.width if self.luong else memory_width) if self.feeds else 0
        layers = [
            RecurrentLayer(part.cell, width if layer else settings.width + self.fed_width, width)
            for layer in range(part.layers)
        ]
        self.layers = nn.ModuleList(layers)
        self.parts = part.layers, layers[0].parts, width
        self.crosses = crosses
        self.bridge = nn.Linear(memory_width, prod(self.parts)) if crosses and part.bridge == "tanh" else None
        read = width + (memory_width if self.cross else 0) + (width if self.own else 0)
        self.combine = nn.Linear(read, settings.width)

    def begin(
        self, memory: Memory | None, prefix: Prefix | None = None, watch: Watch | None = None
    ) -> RecurrentState:
        """The state before the first step, or after a prefix, which without a memory has the rows."""
        if prefix is not None:
            return self.prefill(memory, prefix, watch)[1]
        assert memory is not None, "without a source, give a prefix: it says how many rows there are"
        return self._start(memory, len(memory.mask))

    def prefill(
        self, memory: Memory | None, prefix: Prefix, watch: Watch | None = None
    ) -> tuple[DecoderOutput, RecurrentState]:
        """Read the prefix of each row: outputs at its positions (B, T, D), and the state after it.

        What all rows have is read at once, where no step needs what the step before it read; the rest of
        longer rows comes step by step.
        """
        state = self._start(memory, len(prefix.tokens))
        common = min(prefix.lengths, default=0) if not self.feeds and self.own is None else 0
        if common < 2:
            return self._step_through(prefix.tokens, state, watch, prefix.lengths)
        first, state = self._read(prefix.tokens[:, :common], state, watch)
        if common == prefix.tokens.shape[1]:
            return first, state
        lengths = tuple(length - common for length in prefix.lengths)
        rest, state = self._step_through(prefix.tokens[:, common:], state, watch, lengths)
        weights = None
        if first.cross_weights is not None and rest.cross_weights is not None:
            weights = torch.cat([first.cross_weights, rest.cross_weights], 1)
        return DecoderOutput(torch.cat([first.states, rest.states], 1), weights), state

    def forward(self, tokens: Tensor, memory: Memory | None, watch: Watch | None = None) -> DecoderOutput:
        """Without input feeding the recurrence runs fused, then all positions attend at once."""
        state = self._start(memory, len(tokens))
        if self.feeds:
            return self._step_through(tokens, state, watch)[0]
        return self._read(tokens, state, watch)[0]

    def _read(
        self, tokens: Tensor, state: RecurrentState, watch: Watch | None
    ) -> tuple[DecoderOutput, RecurrentState]:
        """All positions at once; the state after them lacks keys of the decoder's own attention."""
        states, layers = self._embedded(tokens), []
        for number, layer in enumerate(self.layers):
            states, after = cast(RecurrentLayer, layer).read(self.dropout(states), state.layers[:, number])
            layers.append(after)
        past = self.own.project(states, masks.before(tokens.shape[1], tokens.device)) if self.own else None
        output = self._attend(states, state.memory, past, watch)[0]
        return output, replace(state, layers=torch.stack(layers, 1))

    def step(
        self, tokens: Tensor, state: State, watch: Watch | None = None
    ) -> tuple[DecoderOutput, RecurrentState]:
        assert isinstance(state, RecurrentState)
        inputs = self._embedded(tokens)
        if state.fed is not None:
            inputs = torch.cat([inputs, state.fed], -1)
        after = []
        for number, layer in enumerate(self.layers):
            inputs, layer_state = cast(RecurrentLayer, layer).step(
                self.dropout(inputs), state.layers[:, number]
            )
            after.append(layer_state)
        states = inputs.unsqueeze(1)
        past, visible = self._extended(state.past, states)
        (states, weights, _), context = self._attend(states, state.memory, visible, watch)
        output = DecoderOutput(states[:, 0], weights[:, 0] if weights is not None else None)
        fed = (output.states if self.luong else context) if self.feeds else None
        return output, replace(state, layers=torch.stack(after, 1), past=past, fed=fed)

    def _embedded(self, tokens: Tensor) -> Tensor:
        states: Tensor = self.embed(tokens) * self.scale
        if self.norm is not None:
            states = self.norm(states)
        return states

    def _start(self, memory: Memory | None, rows: int) -> RecurrentState:
        """The state before the first step."""
        if not self.crosses:
            layers = self.embed.weight.new_zeros(rows, *self.parts)
        else:
            assert memory is not None, "a decoder that starts from a source needs one"
            summary = memory.summary
            if self.bridge is not None:
                summary = torch.tanh(self.bridge(summary))
            layers = summary.unflatten(-1, self.parts)  # (B, L, P, D)
        source = None
        if self.cross is not None and memory is not None:
            source = self.cross.project(memory.states, memory.mask[:, None, None])
        past = self.own.project(layers[:, 0, :0]) if self.own else None
        fed = layers.new_zeros(rows, self.fed_width) if self.feeds else None
        return RecurrentState(layers, source, past, fed, rows)

    def _extended(
        self, past: KeysValues | None, states: Tensor
    ) -> tuple[KeysValues | None, KeysValues | None]:
        """The past with the newest states (rows, 1, D), and what those may see of it: all but themselves."""
        if self.own is None or past is None:
            return None, None
        longer = past.append(self.own.project(states))
        if past.mask is None:
            return longer, replace(longer, mask=masks.before(longer.keys.shape[2], states.device)[-1:])
        visible = replace(longer, mask=pad(past.mask, (0, 1), value=False))
        return replace(longer, mask=pad(past.mask, (0, 1), value=True)), visible

    def _step_through(
        self,
        tokens: Tensor,
        state: RecurrentState,
        watch: Watch | None,
        lengths: tuple[int, ...] | None = None,
    ) -> tuple[DecoderOutput, RecurrentState]:
        """One position after another; rows stop at their own lengths."""
        outputs = []
        ends = torch.tensor(lengths, device=tokens.device) if lengths and len(set(lengths)) > 1 else None
        for number, token in enumerate(tokens.unbind(1)):
            output, after = self.step(token, state, watch)
            state = after.where(number < ends, state) if ends is not None else after
            outputs.append(output)
        if not outputs:
            return DecoderOutput(
                self.embed.weight.new_empty(*tokens.shape, self.combine.out_features), None
            ), state
        weights = [output.cross_weights for output in outputs if output.cross_weights is not None]
        states = torch.stack([output.states for output in outputs], 1)
        return DecoderOutput(states, torch.stack(weights, 1) if weights else None), state

    def _attend(
        self, states: Tensor, memory: KeysValues | None, past: KeysValues | None, watch: Watch | None
    ) -> tuple[DecoderOutput, Tensor | None]:
        """y = f(s, a) of these positions (B, T, D), weights on the source, what the last position read."""
        read, weights, last = [states], None, None
        if self.own:
            read.append(self.own(states, past, watch)[0])
        if self.cross and memory is not None:
            # In a search there may be several rows for each source: they attend to it side by side.
            side_by_side = states.reshape(len(memory.keys), -1, states.shape[2])
            context, by_head = self.cross(side_by_side, memory, watch)
            context = context.reshape(*states.shape[:2], -1)
            read.append(context)
            weights, last = by_head.mean(1).reshape(*states.shape[:2], -1), context[:, -1]
        combined = self.combine(torch.cat(read, -1))
        combined = torch.tanh(combined) if self.luong else combined
        return DecoderOutput(self.dropout(combined), weights), last
