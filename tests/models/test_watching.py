"""Every attention can be watched and changed."""

import pytest
import torch

from seq2see.lens.teacher_forcing import weights_and_logits
from seq2see.text import BEGIN

SOURCE = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]])
INPUTS = torch.tensor([[BEGIN, 4, 5], [BEGIN, 6, 0]])
ADDRESSES = {
    "encoder.0.self": (2, 2, 4, 4),
    "encoder.1.self": (2, 2, 4, 4),
    "decoder.0.self": (2, 2, 3, 3),
    "decoder.0.cross": (2, 2, 3, 4),
    "decoder.1.self": (2, 2, 3, 3),
    "decoder.1.cross": (2, 2, 3, 4),
}


@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("positions", ["rotary", "sinusoidal"])
def test_watched_equals_unwatched(make_model, positions, norm):
    """D1: the plain way that is watched says what the fused one says."""
    model = make_model(positions, norm)
    watched = model.logits(SOURCE, INPUTS, lambda address, weights, mask: weights)
    torch.testing.assert_close(watched, model.logits(SOURCE, INPUTS), rtol=1e-5, atol=1e-5)


def test_every_address_is_seen_once_in_order(make_model):
    """D2: weights come per head from every attention, by its address."""
    seen = []

    def watch(address, weights, mask):
        seen.append((address, tuple(weights.shape)))
        return weights

    make_model().logits(SOURCE, INPUTS, watch)
    assert seen == list(ADDRESSES.items())


def test_weights_sum_to_one(make_model):
    """D1, D3: weights are shares, none of them on padding or on the future."""
    for address, weights in weights_and_logits(make_model(), SOURCE, INPUTS)[0].items():
        assert weights.min() >= 0
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
        if address.endswith("decoder.0.self"):
            assert torch.all(weights.triu(1) == 0)
        elif not address.startswith("decoder") or address.endswith("cross"):
            assert torch.all(weights[1, ..., 2:] == 0)


def test_weights_of_an_empty_source_are_zero(make_model):
    """D3: where there is nothing to see, the weights are zero."""
    weights = weights_and_logits(make_model(), torch.zeros_like(SOURCE), INPUTS)[0]
    assert torch.all(weights["encoder.0.self"] == 0)
    assert torch.all(weights["decoder.1.cross"] == 0)


@pytest.mark.parametrize("address", ADDRESSES)
def test_changed_weights_change_the_output(make_model, address):
    """C10: what a watcher gives back is what the model reads with."""
    model = make_model()

    def to_the_first(place, weights, mask):
        if place != address:
            return weights
        changed = torch.zeros_like(weights)
        changed[..., 0] = 1
        return changed

    changed, plain = model.logits(SOURCE, INPUTS, to_the_first), model.logits(SOURCE, INPUTS)
    assert (changed - plain)[0].abs().max() > 1e-3


def test_changing_one_head_equals_reading_without_it(make_model):
    """D2: an emptied head contributes nothing but the output layer's bias."""
    model = make_model()
    attention = model.encoder.blocks[0].attention
    states = torch.randn(1, 3, 16)

    def empty_second(address, weights, mask):
        return weights * torch.tensor([1.0, 0.0]).view(1, 2, 1, 1)

    seen = attention.project(states)
    read = attention(states, seen, watch=empty_second)
    first_head = {}
    attention(states, seen, watch=lambda address, weights, mask: first_head.setdefault(address, weights))
    value = seen.values[:, 0]
    expected = first_head["encoder.0.self"][:, 0] @ value @ attention.output.weight[:, :8].T
    torch.testing.assert_close(read, expected + attention.output.bias, rtol=1e-5, atol=1e-5)


def test_steps_are_watched_too(make_model):
    """D9: one step sees one row of weights over everything written so far."""
    model, seen = make_model(), {}

    def watch(address, weights, mask):
        seen[address] = weights
        return weights

    with torch.inference_mode():
        state = model.begin(model.encode_ids(SOURCE))
        for tokens in INPUTS.T:
            _, state = model.step(tokens, state, watch)
    whole = weights_and_logits(model, SOURCE, INPUTS)[0]
    for address in ("decoder.0.self", "decoder.1.cross"):
        torch.testing.assert_close(seen[address], whole[address][:, :, -1:], rtol=1e-5, atol=1e-5)
