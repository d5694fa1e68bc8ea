"""The feed-forward network and the residual path around it."""

import pytest
import torch
from torch.nn import functional as F

from seq2see.layers.blocks import Residual
from seq2see.layers.feedforward import FeedForward

ACTIVATIONS = {
    "relu": lambda x: x.clamp(min=0),
    "relu-squared": lambda x: x.clamp(min=0) ** 2,
    "gelu": lambda x: x * 0.5 * (1 + torch.erf(x / 2**0.5)),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feedforward_is_the_formula(activation):
    """D5: Linear, activation, Linear; and its gradient."""
    torch.manual_seed(0)
    layer = FeedForward(6, 10, activation)
    states = torch.randn(2, 3, 6)
    inner = ACTIVATIONS[activation](states @ layer.enter.weight.T + layer.enter.bias)
    expected = inner @ layer.leave.weight.T + layer.leave.bias
    torch.testing.assert_close(layer(states), expected)
    gradients = [
        torch.autograd.grad(made.square().sum(), layer.enter.weight) for made in (layer(states), expected)
    ]
    torch.testing.assert_close(*gradients)


def test_swiglu_gates_one_half_by_the_other():
    """D5: (silu(gate) * inner) between two linear maps, with the inner width kept."""
    torch.manual_seed(0)
    layer = FeedForward(6, 10, "swiglu")
    states = torch.randn(2, 3, 6)
    gate, inner = (states @ layer.enter.weight.T + layer.enter.bias).split(10, -1)
    expected = (gate * gate.sigmoid() * inner) @ layer.leave.weight.T + layer.leave.bias
    torch.testing.assert_close(layer(states), expected)


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_feedforward_looks_at_one_position(activation):
    """D5: a change at one position changes that position only."""
    layer = FeedForward(6, 10, activation)
    states = torch.randn(1, 4, 6)
    changed = states.clone()
    changed[0, 2] += 1
    differs = (layer(changed) - layer(states)).abs().sum(-1)[0] > 1e-6
    assert differs.tolist() == [False, False, True, False]


def test_residual_norm_places():
    """D6: after the sum as published, or before the sublayer with an untouched path beside it."""
    states = torch.randn(2, 3, 6)
    normed = F.layer_norm(states, (6,))
    torch.testing.assert_close(Residual(6, "before", 0.0)(states, torch.sin), states + normed.sin())
    torch.testing.assert_close(
        Residual(6, "after", 0.0)(states, torch.sin), F.layer_norm(states + states.sin(), (6,))
    )


def test_residual_drops_the_sublayer_only():
    """D6: dropout falls on the sublayer's output, never on the path beside it."""
    states = torch.full((1, 50, 6), 3.0)
    left = Residual(6, "before", 0.5)(states, torch.ones_like)
    assert set(left.unique().tolist()) == {3.0, 5.0}
