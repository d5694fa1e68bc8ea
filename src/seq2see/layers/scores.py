"""Attention of recurrent decoders: how well a position of the source fits a state, and what is read there.

Letters of the lectures: h are the source's states (B, S, M), s the decoder's (B, T, D). Every score can be
split among heads. Luong et al. 2015 ("Effective Approaches"), Bahdanau et al. 2015 ("Jointly Learning to
Align").
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.additive import added
from seq2see.layers.attention import KeysValues, Watch, normalise, split
from seq2see.layers.dropout import dropout

__all__ = ["KeyActivation", "ScoreKind", "ScoredAttention"]

ScoreKind = Literal["dot", "scaled-dot", "general", "factored", "nonlinear", "additive", "concat", "location"]
KeyActivation = Literal["tanh", "relu"]


class Score(nn.Module, ABC):
    """A score function of attention: keys are made of the source once, then scored against every state."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads

    @abstractmethod
    def keys(self, memory: Tensor) -> Tensor:
        """(B, S, M) -> (B, H, S, K)."""


class Dot(Score):
    """h . s, or h . s / sqrt(d), of states as they are."""

    def __init__(self, heads: int, scaled: bool) -> None:
        super().__init__(heads)
        self.scaled = scaled

    def keys(self, memory: Tensor) -> Tensor:
        return split(memory, self.heads)

    def forward(self, states: Tensor, keys: Tensor) -> Tensor:
        query = split(states, self.heads)
        scores = query @ keys.transpose(-2, -1)
        return scores / query.shape[-1] ** 0.5 if self.scaled else scores


class General(Score):
    """s^T W h; W is applied to the source once.

    At first W is as small as if scores were divided by the root of the width. Otherwise states of a hundred
    features give a softmax that looks at single places from the start and learns little (docs/lab-notes.md).
    """

    def __init__(self, width: int, memory_width: int, heads: int) -> None:
        super().__init__(heads)
        self.between = nn.Parameter(torch.empty(heads, width // heads, memory_width // heads))
        for head in self.between:
            nn.init.xavier_uniform_(head, gain=(width // heads) ** -0.5)

    def keys(self, memory: Tensor) -> Tensor:
        return split(memory, self.heads) @ self.between.transpose(-2, -1)

    def forward(self, states: Tensor, keys: Tensor) -> Tensor:
        return split(states, self.heads) @ keys.transpose(-2, -1)


class Factored(Score):
    """(W_q s) . (W_k h); with an activation, act(W_q s + b_q) . act(W_k h + b_k)."""

    def __init__(
        self, width: int, memory_width: int, heads: int, activation: KeyActivation | None = None
    ) -> None:
        super().__init__(heads)
        act: dict[KeyActivation | None, Callable[[Tensor], Tensor]]
        act = {None: lambda x: x, "tanh": torch.tanh, "relu": F.relu}
        self.activation = act[activation]
        self.query = nn.Linear(width, width, bias=activation is not None)
        self.key = nn.Linear(memory_width, width, bias=activation is not None)

    def keys(self, memory: Tensor) -> Tensor:
        return split(self.activation(self.key(memory)), self.heads)

    def forward(self, states: Tensor, keys: Tensor) -> Tensor:
        return split(self.activation(self.query(states)), self.heads) @ keys.transpose(-2, -1)


class Additive(Score):
    """v^T tanh(W_h h + W_s s)."""

    def __init__(self, width: int, memory_width: int, heads: int) -> None:
        super().__init__(heads)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(memory_width, width, bias=False)
        self.weigh = nn.Parameter(torch.empty(heads, width // heads))
        nn.init.xavier_uniform_(self.weigh)

    def keys(self, memory: Tensor) -> Tensor:
        return split(self.key(memory), self.heads)

    def forward(self, states: Tensor, keys: Tensor) -> Tensor:
        return added(split(self.query(states), self.heads), keys, self.weigh)


class Concat(Score):
    """v^T tanh(W [s; h]): one matrix over both, whose halves are applied apart."""

    def __init__(self, width: int, memory_width: int, heads: int) -> None:
        super().__init__(heads)
        self.width = width
        self.join = nn.Linear(width + memory_width, width, bias=False)
        self.weigh = nn.Parameter(torch.empty(heads, width // heads))
        nn.init.xavier_uniform_(self.weigh)

    def keys(self, memory: Tensor) -> Tensor:
        return split(F.linear(memory, self.join.weight[:, self.width :]), self.heads)

    def forward(self, states: Tensor, keys: Tensor) -> Tensor:
        query = split(F.linear(states, self.join.weight[:, : self.width]), self.heads)
        return added(query, keys, self.weigh)


class Location(Score):
    """W_a s: a score for each position of the source, whatever token stands there."""

    def __init__(self, width: int, heads: int, max_length: int) -> None:
        super().__init__(heads)
        self.max_length = max_length
        self.place = nn.Parameter(torch.empty(heads, max_length, width // heads))
        for head in self.place:
            nn.init.xavier_uniform_(head)

    def keys(self, memory: Tensor) -> Tensor:
        length = memory.shape[1]
        if length > self.max_length:
            raise ValueError(
                f"position {length} is past the {self.max_length} positions of location attention; "
                "shorten the input, or train with a larger model.max_length or another attention"
            )
        return self.place[:, :length].expand(len(memory), -1, -1, -1)

    def forward(self, states: Tensor, keys: Tensor) -> Tensor:
        return split(states, self.heads) @ keys.transpose(-2, -1)


class ScoredAttention(nn.Module):
    """Attention by a named score; what is read are the source's states, or a learned map of them."""

    def __init__(
        self,
        kind: ScoreKind,
        width: int,
        memory_width: int,
        address: str,
        heads: int = 1,
        *,
        activation: KeyActivation = "tanh",
        learned_values: bool = False,
        max_length: int = 0,
        dropout_rate: float = 0.0,
    ) -> None:
        super().__init__()
        self.address, self.heads, self.dropout = address, heads, dropout_rate
        makers: dict[ScoreKind, Callable[[], Score]] = {
            "dot": lambda: Dot(heads, scaled=False),
            "scaled-dot": lambda: Dot(heads, scaled=True),
            "general": lambda: General(width, memory_width, heads),
            "factored": lambda: Factored(width, memory_width, heads),
            "nonlinear": lambda: Factored(width, memory_width, heads, activation),
            "additive": lambda: Additive(width, memory_width, heads),
            "concat": lambda: Concat(width, memory_width, heads),
            "location": lambda: Location(width, heads, max_length),
        }
        self.score = makers[kind]()
        self.value = nn.Linear(memory_width, memory_width, bias=False) if learned_values else None

    def project(self, memory: Tensor, mask: Tensor | None = None) -> KeysValues:
        """Keys and values of what will be looked at; computed once, used for every query."""
        values = memory if self.value is None else self.value(memory)
        return KeysValues(self.score.keys(memory), split(values, self.heads), mask)

    def forward(self, states: Tensor, seen: KeysValues, watch: Watch | None = None) -> tuple[Tensor, Tensor]:
        """What each state reads (B, T, M), and the weights per head (B, H, T, S)."""
        weights = normalise(self.score(states, seen.keys), seen.mask)
        if watch is not None:
            weights = watch(self.address, weights, seen.mask)
        read = dropout(weights, self.dropout if self.training else 0.0) @ seen.values
        return read.transpose(1, 2).flatten(2), weights  # (B, H, T, K) -> (B, T, M)
