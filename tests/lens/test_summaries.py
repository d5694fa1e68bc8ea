"""What is said of weights in a few numbers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.lens.summaries import SUMMARIES, alignments, merged, rollout, summarise

DIAGONAL = torch.eye(4)[None]
EVEN = torch.full((1, 4, 4), 0.25)
FIRST = torch.zeros(1, 4, 4).index_fill_(2, torch.tensor([0]), 1)
CROSSED = torch.eye(4).flip(1)[None]


@pytest.mark.parametrize(
    ("name", "diagonal", "even", "first", "crossed"),
    [
        ("entropy", 0, 1, 0, 0),
        ("first", 0.25, 0.25, 1, 0.25),
        ("last", 0.25, 0.25, 0, 0.25),
        ("distance", 0, 1.25, 1.5, 2),
        ("coverage", 1, 1, 0.25, 1),
    ],
)
def test_plain_patterns(name, diagonal, even, first, crossed):
    found = [SUMMARIES[name](weights).item() for weights in (DIAGONAL, EVEN, FIRST, CROSSED)]
    assert found == pytest.approx([diagonal, even, first, crossed], abs=1e-6)


def test_diagonality_ranks_patterns():
    found = [SUMMARIES["diagonality"](weights).item() for weights in (DIAGONAL, EVEN, CROSSED)]
    assert found[0] == 1
    assert found[0] > found[1] > found[2]


def test_rows_that_see_nothing_do_not_count():
    """C11: the first state of a recurrent decoder has no state before it."""
    weights = torch.cat([torch.zeros(1, 1, 4), FIRST[:, 1:]], 1)
    assert summarise(weights)[0]["first"] == 1
    assert summarise(torch.zeros(2, 3, 4))[1]["entropy"] == 0


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 1000))
def test_rollout_is_a_share_of_each_position(layers, size, seed):
    generator = torch.Generator().manual_seed(seed)
    weights = {
        f"encoder.{layer}.self": torch.randn(3, size, size, generator=generator).softmax(-1)
        for layer in range(layers)
    }
    flow = rollout(weights)
    torch.testing.assert_close(flow.sum(-1), torch.ones(size))
    assert flow.min() >= 0


def test_rollout_by_hand():
    """One layer: half of a state is its own, half comes by attention; two layers multiply."""
    layer = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]])
    half = torch.full((2, 2), 0.5)
    torch.testing.assert_close(rollout({"encoder.0.self": layer}), half)
    torch.testing.assert_close(rollout({"encoder.0.self": layer, "encoder.1.self": layer}), half)
    with pytest.raises(ValueError, match="no self-attention in the decoder"):
        rollout({"encoder.0.self": layer}, "decoder")


def test_alignments_are_read_as_a_list():
    assert alignments([[0.1, 0.9], [1.0, 0.0]], ["a", "b"], ["x", "y"]) == ["a <- y .90", "b <- x 1.00"]


def test_merged_columns_add_up_and_rows_are_averaged():
    weights = torch.tensor([[[0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [1.0, 0.0, 0.0]]])
    found = merged(weights, [range(2), range(2, 3)], [range(1), range(1, 3)])
    torch.testing.assert_close(found, torch.tensor([[[0.1, 0.9], [1.0, 0.0]]]))
