"""Projections that are used as one: without copies where weights lie side by side, and never out of date."""

from copy import deepcopy

import pytest
import torch

from seq2see.layers.attention import MultiHeadAttention


@pytest.mark.parametrize("names", [("query", "key", "value"), ("key", "value"), ("query",)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("groups", [None, 1])
def test_a_view_where_weights_lie_side_by_side(names, bias, groups):
    """D2: what is used as one is the projections' own memory, so a change of theirs is seen at once."""
    attention = MultiHeadAttention(8, 2, "here", bias=bias, groups=groups)
    layers = [getattr(attention, name) for name in names]
    with torch.inference_mode():
        weight, joined_bias = attention.joined_weights(*names)
    assert weight.equal(torch.cat([layer.weight for layer in layers]))
    assert weight.data_ptr() == layers[0].weight.data_ptr()
    assert (joined_bias is not None) == bias
    with torch.no_grad():
        attention.value.weight.mul_(2)
        layers[-1].weight.add_(1)
    assert weight.equal(torch.cat([layer.weight for layer in layers]))


@pytest.mark.parametrize("change", ["copied", "converted", "replaced"])
def test_a_copy_where_they_do_not(change):
    """D2: after anything that takes the weights apart, they are put together anew."""
    attention = MultiHeadAttention(8, 2, "here")
    if change == "copied":
        attention = deepcopy(attention)
    elif change == "converted":
        attention = attention.double()
    else:
        attention.key.weight = torch.nn.Parameter(torch.randn(8, 8))
    with torch.inference_mode():
        weight, bias = attention.joined_weights("query", "key", "value")
        layers = [attention.query, attention.key, attention.value]
        assert weight.equal(torch.cat([layer.weight for layer in layers]))
        assert bias.equal(torch.cat([layer.bias for layer in layers]))


def test_gradients_reach_each_projection():
    """D2: with gradients, each projection gets its own."""
    attention = MultiHeadAttention(8, 2, "here")
    states = torch.randn(2, 3, 8)
    attention(states, attention.project(states)).square().sum().backward()
    assert all(layer.weight.grad.abs().sum() > 0 for layer in (attention.key, attention.value))
