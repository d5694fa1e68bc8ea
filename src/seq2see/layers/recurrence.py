"""Recurrent layers: one set of weights for every step of a sequence."""

from contextlib import nullcontext
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

__all__ = ["Cell", "RecurrentLayer", "RecurrentReader"]

Cell = Literal["tanh", "relu", "gru", "lstm"]

LAYERS: dict[Cell, Any] = {
    "tanh": partial(nn.RNN, nonlinearity="tanh"),
    "relu": partial(nn.RNN, nonlinearity="relu"),
    "gru": nn.GRU,
    "lstm": nn.LSTM,
}
STEPS: dict[Cell, Any] = {
    "tanh": torch.rnn_tanh_cell,
    "relu": torch.rnn_relu_cell,
    "gru": torch.gru_cell,
    "lstm": torch.lstm_cell,
}


class RecurrentLayer(nn.Module):
    """h_t = act(W [h_(t-1); x_t] + b), or a gated cell: GRU (Cho et al. 2014), LSTM (Hochreiter 1997).

    A state is (B, P, D): P is 2 for an LSTM, which carries its memory beside its output, and 1 otherwise.
    """

    def __init__(self, cell: Cell, inputs: int, width: int) -> None:
        super().__init__()
        self.cell = cell
        self.width = width
        self.parts = 2 if cell == "lstm" else 1
        self.weights = LAYERS[cell](inputs, width, batch_first=True)
        nn.init.xavier_uniform_(self.weights.weight_ih_l0)
        for gate in self.weights.weight_hh_l0.split(width):
            nn.init.orthogonal_(gate)
        nn.init.zeros_(self.weights.bias_ih_l0)
        nn.init.zeros_(self.weights.bias_hh_l0)
        if cell == "lstm":
            # An open forget gate: an untrained LSTM remembers (Jozefowicz et al. 2015).
            nn.init.ones_(self.weights.bias_ih_l0[width : 2 * width])

    def start(self, like: Tensor) -> Tensor:
        """The state of rows that have read nothing, (B, P, D)."""
        return like.new_zeros(len(like), self.parts, self.width)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """Outputs of all steps, in one fused call, (B, T, *), (B, P, D) -> (B, T, D)."""
        return self.read(inputs, state)[0]

    def read(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The same, and the state after the last step."""
        parts = state.transpose(0, 1).contiguous()  # (B, P, D) -> (P, B, D)
        # Not every CPU has recurrence in half precision: there it is computed in full.
        if inputs.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            inputs, parts = inputs.float(), parts.float()
        with torch.autocast("cpu", enabled=False) if inputs.device.type == "cpu" else nullcontext():
            outputs, after = self.weights(inputs, tuple(parts.split(1)) if self.cell == "lstm" else parts)
        return outputs, (torch.cat(after) if self.cell == "lstm" else after).transpose(0, 1)

    def step(self, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The same for one step: its output (B, D), and the state after it."""
        own = self.weights
        weights = own.weight_ih_l0, own.weight_hh_l0, own.bias_ih_l0, own.bias_hh_l0
        before = state.unbind(1) if self.cell == "lstm" else state[:, 0]
        after = STEPS[self.cell](inputs, before, *weights)
        parts = torch.stack(after, 1) if self.cell == "lstm" else after.unsqueeze(1)
        return parts[:, 0], parts


class RecurrentReader(nn.Module):
    """One layer that reads a source from the left and, if both ways, in half of its features from the right.

    Padding never changes a result: it stands after a row's tokens, and the way from the right begins
    at each row's own last token.
    """

    def __init__(self, cell: Cell, inputs: int, width: int, both_ways: bool) -> None:
        super().__init__()
        each = width // 2 if both_ways else width
        self.rightward = RecurrentLayer(cell, inputs, each)
        self.leftward = RecurrentLayer(cell, inputs, each) if both_ways else None

    def forward(self, states: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """New states (B, S, D), and the last state of each direction, joined, (B, D)."""
        rows = torch.arange(len(states), device=states.device)
        right = self.rightward(states, self.rightward.start(states))
        last = right[rows, lengths - 1]
        if self.leftward is None:
            return right, last
        positions = torch.arange(states.shape[1], device=states.device)
        back = lengths[:, None] - 1 - positions
        turned = rows[:, None], torch.where(back >= 0, back, positions)
        left = self.leftward(states[turned], self.leftward.start(states))[turned]
        return torch.cat([right, left], -1), torch.cat([last, left[:, 0]], -1)
