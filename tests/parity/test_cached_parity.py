"""Decoding one position at a time against all positions at once."""

import pytest
import torch

from seq2see.text import BEGIN

POSITIONS = [
    ("sinusoidal", False),
    ("sinusoidal", True),
    ("learned", False),
    ("learned", True),
    ("one-hot", False),
    ("one-hot", True),
    ("rotary", False),
    ("rotary-self", False),
    ("none", False),
]
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
SOURCE = torch.tensor([[4, 5, 6, 7, 2], [9, 10, 2, 0, 0], [8, 2, 0, 0, 0]])
INPUTS = torch.tensor([[BEGIN, 4, 5, 6, 7, 8], [BEGIN, 8, 8, 4, 4, 5], [BEGIN, 7, 4, 8, 5, 6]])


@torch.inference_mode()
def stepwise(model, source, inputs):
    """Logits of each position, one step after another."""
    state = model.begin(model.encode_ids(source))
    found = []
    for tokens in inputs.T:
        logits, state = model.step(tokens, state)
        found.append(logits)
    return torch.stack(found, 1)


@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize(("positions", "join"), POSITIONS)
def test_cached_equals_uncached(make_model, positions, join, norm):
    """D9: steps with cached keys and values give the logits of one pass over everything."""
    model = make_model(positions, norm, join)
    torch.testing.assert_close(stepwise(model, SOURCE, INPUTS), model.logits(SOURCE, INPUTS), **CLOSE)


@pytest.mark.parametrize(("positions", "join"), POSITIONS)
def test_selected_rows_go_on_as_themselves(make_model, positions, join):
    """D9: after rows are dropped, repeated and reordered, each goes on with its own source and past."""
    model = make_model(positions, join=join)
    rows = torch.tensor([2, 0, 0])
    later = torch.tensor([[4, 5], [6, 7], [8, 4]])
    with torch.inference_mode():
        state = model.begin(model.encode_ids(SOURCE))
        for tokens in INPUTS[:, :3].T:
            _, state = model.step(tokens, state)
        state = state.keep(rows)
        found = []
        for tokens in later.T:
            logits, state = model.step(tokens, state)
            found.append(logits)
    expected = model.logits(SOURCE[rows], torch.cat([INPUTS[rows, :3], later], 1))[:, 3:]
    torch.testing.assert_close(torch.stack(found, 1), expected, **CLOSE)


def test_one_memory_serves_many_decodings(make_model):
    """D10: a memory whose rows are selected equals the encoding of those rows."""
    model = make_model()
    rows = torch.tensor([1, 1, 0])
    chosen, fresh = model.encode_ids(SOURCE).select(rows), model.encode_ids(SOURCE[rows])
    for own, other in (
        (chosen.states, fresh.states),
        (chosen.mask, fresh.mask),
        (chosen.summary, fresh.summary),
    ):
        torch.testing.assert_close(own, other, **CLOSE)
