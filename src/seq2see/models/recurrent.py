"""Recurrent encoders and decoders, with any attention between them or none.

"Sequence to Sequence Learning with Neural Networks" (Sutskever et al. 2014), with the attention of Bahdanau
et al. (2015) or Luong et al. (2015).
"""

from dataclasses import dataclass, replace
from math import prod
from typing import cast

import torch
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import KeysValues, Watch
from seq2see.layers.dropout import Dropout
from seq2see.layers.recurrence import RecurrentLayer
from seq2see.layers.scores import ScoredAttention
from seq2see.models.contracts import Memory, State, Written, rows_of
from seq2see.models.settings import ModelSettings, RecurrentDecoderSettings

__all__ = ["RecurrentDecoder", "RecurrentState"]


@dataclass(frozen=True)
class RecurrentState:
    """The state of every layer (B, L, P, D), what can be looked at, and what the next step is fed."""

    layers: Tensor
    memory: KeysValues | None
    past: KeysValues | None
    fed: Tensor | None

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


class RecurrentDecoder(nn.Module):
    """Layers of recurrence over the target, which start from the source's summary.

    With attention, y = f(s, a): the last layer's state and what it reads from the source. With input
    feeding, what was read (or with Luong's output layer, f) is also part of the next step's input.
    """

    def __init__(self, embed: nn.Embedding, settings: ModelSettings, part: RecurrentDecoderSettings) -> None:
        super().__init__()
        width, memory_width = part.hidden or settings.width, settings.memory_width
        self.embed = embed
        self.scale = settings.width**0.5
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
                places=settings.max_length,
                dropout_rate=settings.attention_dropout,
            )
            if part.attention != "none"
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
        self.bridge = nn.Linear(memory_width, prod(self.parts))
        read = width + (memory_width if self.cross else 0) + (width if self.own else 0)
        self.combine = nn.Linear(read, settings.width)

    def begin(self, memory: Memory) -> RecurrentState:
        layers = torch.tanh(self.bridge(memory.summary)).unflatten(-1, self.parts)  # (B, L, P, D)
        return RecurrentState(
            layers,
            self.cross.project(memory.states, memory.mask[:, None, None]) if self.cross else None,
            self.own.project(layers[:, 0, :0]) if self.own else None,
            memory.summary.new_zeros(len(layers), self.fed_width) if self.feeds else None,
            len(layers),
        )

    def forward(self, tokens: Tensor, memory: Memory, watch: Watch | None = None) -> Written:
        """Without input feeding the recurrence runs fused, then all positions look at once."""
        state = self.begin(memory)
        if self.feeds:
            return self._one_by_one(tokens, state, watch)
        states = self.embed(tokens) * self.scale
        for place, layer in enumerate(self.layers):
            states = layer(self.dropout(states), state.layers[:, place])
        past = self.own.project(states, masks.before(tokens.shape[1], tokens.device)) if self.own else None
        return self._look(states, state.memory, past, watch)[0]

    def step(
        self, tokens: Tensor, state: State, watch: Watch | None = None
    ) -> tuple[Written, RecurrentState]:
        assert isinstance(state, RecurrentState)
        inputs = self.embed(tokens) * self.scale
        if state.fed is not None:
            inputs = torch.cat([inputs, state.fed], -1)
        after = []
        for place, layer in enumerate(self.layers):
            inputs, kept = cast(RecurrentLayer, layer).step(self.dropout(inputs), state.layers[:, place])
            after.append(kept)
        states = inputs.unsqueeze(1)
        past = visible = None
        if self.own and state.past is not None:
            past = state.past.append(self.own.project(states))
            visible = replace(past, mask=masks.before(past.keys.shape[2], states.device)[-1:])
        (states, looked), context = self._look(states, state.memory, visible, watch)
        written = Written(states[:, 0], looked[:, 0] if looked is not None else None)
        fed = (written.states if self.luong else context) if self.feeds else None
        return written, replace(state, layers=torch.stack(after, 1), past=past, fed=fed)

    def _one_by_one(self, tokens: Tensor, state: RecurrentState, watch: Watch | None) -> Written:
        written = []
        for token in tokens.unbind(1):
            here, state = self.step(token, state, watch)
            written.append(here)
        looked = [here.looked for here in written if here.looked is not None]
        return Written(
            torch.stack([here.states for here in written], 1), torch.stack(looked, 1) if looked else None
        )

    def _look(
        self, states: Tensor, memory: KeysValues | None, past: KeysValues | None, watch: Watch | None
    ) -> tuple[Written, Tensor | None]:
        """y = f(s, a) of these positions (B, T, D), where they looked, and what the last one read there."""
        read, looked, last = [states], None, None
        if self.own:
            read.append(self.own(states, past, watch)[0])
        if self.cross and memory is not None:
            # In a search there may be several rows for each source: they look at it side by side.
            side_by_side = states.reshape(len(memory.keys), -1, states.shape[2])
            context, weights = self.cross(side_by_side, memory, watch)
            context = context.reshape(*states.shape[:2], -1)
            read.append(context)
            looked, last = weights.mean(1).reshape(*states.shape[:2], -1), context[:, -1]
        combined = self.combine(torch.cat(read, -1))
        combined = torch.tanh(combined) if self.luong else combined
        return Written(self.dropout(combined), looked), last
