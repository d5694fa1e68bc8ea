"""What must never change what a model says."""

import sys
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seq2see.layers.positions import rotary
from seq2see.text import BEGIN, END, PAD

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
every_model = pytest.mark.parametrize(
    ("positions", "join", "norm"),
    [(kind, join, norm) for kind, join in POSITIONS for norm in ("before", "after")],
)
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
sources = st.lists(st.integers(4, 10), min_size=0, max_size=7).map(lambda ids: [*ids, END])
targets = st.lists(st.integers(4, 8), min_size=0, max_size=7).map(lambda ids: [BEGIN, *ids])


@every_model
@settings(max_examples=8)
@given(data=st.data())
def test_the_future_never_changes_the_past(make_model, positions, join, norm, data):
    """D3: logits up to a position do not depend on any later token."""
    model = make_model(positions, norm, join)
    source, inputs = torch.tensor([data.draw(sources)]), data.draw(targets)
    here = data.draw(st.integers(1, len(inputs)))
    later = data.draw(st.lists(st.integers(0, 8), max_size=5))
    past = model.logits(source, torch.tensor([inputs]))[:, :here]
    changed = model.logits(source, torch.tensor([inputs[:here] + later]))[:, :here]
    torch.testing.assert_close(changed, past, **CLOSE)


@every_model
def test_the_past_does_change_the_future(make_model, positions, join, norm):
    """D3: the same comparison sees a difference where there should be one."""
    model = make_model(positions, norm, join)
    source = torch.tensor([[4, 5, END]])
    first, second = (model.logits(source, torch.tensor([[BEGIN, token, 5, 6]])) for token in (4, 8))
    assert (first - second)[0].abs().amax(-1).gt(1e-4).tolist() == [False, True, True, True]


@every_model
@settings(max_examples=8)
@given(data=st.data())
def test_padding_never_changes_a_result(make_model, positions, join, norm, data):
    """D3, A1: padding on either side leaves the logits, the states and the summary as they were."""
    model = make_model(positions, norm, join)
    source, inputs = data.draw(sources), data.draw(targets)
    more, later = data.draw(st.integers(0, 8)), data.draw(st.integers(0, 8))
    alone = model.encode_ids(torch.tensor([source]))
    padded = model.encode_ids(torch.tensor([source + [PAD] * more]))
    torch.testing.assert_close(padded.states[:, : len(source)], alone.states, **CLOSE)
    torch.testing.assert_close(padded.summary, alone.summary, **CLOSE)
    plain = model.logits(torch.tensor([source]), torch.tensor([inputs]))
    filled = model.logits(torch.tensor([source + [PAD] * more]), torch.tensor([inputs + [PAD] * later]))
    torch.testing.assert_close(filled[:, : len(inputs)], plain, **CLOSE)


@every_model
@settings(max_examples=8)
@given(data=st.data())
def test_the_order_of_the_batch_is_irrelevant(make_model, positions, join, norm, data):
    """D3: each sentence gets the same logits wherever it stands, and whoever stands beside it."""
    model = make_model(positions, norm, join)
    pairs = data.draw(st.lists(st.tuples(sources, targets), min_size=1, max_size=4))
    order = data.draw(st.permutations(range(len(pairs))))

    def logits(rows):
        sides = [[pairs[row][side] for row in rows] for side in (0, 1)]
        longest = [max(map(len, side)) for side in sides]
        return model.logits(
            *(
                torch.tensor([ids + [PAD] * (width - len(ids)) for ids in side])
                for side, width in zip(sides, longest, strict=True)
            )
        )

    torch.testing.assert_close(logits(order), logits(range(len(pairs)))[list(order)], **CLOSE)
    first = logits(order[:1])[0]
    torch.testing.assert_close(logits(order)[0, : len(first)], first, **CLOSE)


@pytest.mark.parametrize("norm", ["before", "after"])
@settings(max_examples=8)
@given(data=st.data())
def test_without_positions_the_encoder_is_permutation_equivariant(make_model, norm, data):
    """D11: permuted tokens have permuted states, and the decoder cannot tell."""
    model = make_model("none", norm)
    ids = data.draw(st.lists(st.integers(4, 10), min_size=1, max_size=8))
    order = list(data.draw(st.permutations(range(len(ids)))))
    source, inputs = torch.tensor([ids]), torch.tensor([[BEGIN, 4, 5]])
    states = model.encode_ids(source).states
    torch.testing.assert_close(model.encode_ids(source[:, order]).states, states[:, order], **CLOSE)
    torch.testing.assert_close(model.logits(source[:, order], inputs), model.logits(source, inputs), **CLOSE)


@pytest.mark.parametrize(("positions", "join"), POSITIONS[:-1])
def test_with_positions_order_matters(make_model, positions, join):
    """D4, D11: each kind of positions ends the equivariance."""
    model = make_model(positions, join=join)
    first, second = (model.encode_ids(torch.tensor([ids])).states for ids in ([4, 5, 6], [6, 5, 4]))
    assert (first - second.flip(1)).abs().max() > 1e-3


def test_a_source_of_padding_alone_stays_finite(make_model):
    """D3: a source with nothing to see gives no NaN."""
    model = make_model()
    assert model.logits(torch.tensor([[PAD, PAD]]), torch.tensor([[BEGIN, 4]])).isfinite().all()


@pytest.mark.parametrize("norm", ["before", "after"])
def test_a_rotary_model_sees_only_distances(make_model, monkeypatch, norm):
    """D4: with every place of both sides moved by the same number, a rotary model says the same."""
    model = make_model("rotary", norm)
    source, inputs = (
        torch.tensor([[4, 5, 6, 7, END], [8, 9, END, PAD, PAD]]),
        torch.tensor([[BEGIN, 4, 5]] * 2),
    )
    plain = model.logits(source, inputs)

    def move(moved: Callable[[Tensor], Tensor]) -> None:
        for part in (model.encoder, model.decoder):
            monkeypatch.setattr(
                sys.modules[type(part).__module__],
                "rotations",
                lambda start, count, width, *_: rotary(moved(torch.arange(start, start + count)), width),
            )

    move(lambda positions: positions + 7)
    torch.testing.assert_close(model.logits(source, inputs), plain, rtol=1e-3, atol=1e-4)
    move(lambda positions: positions * 2)
    assert (model.logits(source, inputs) - plain).abs().max() > 1e-3
