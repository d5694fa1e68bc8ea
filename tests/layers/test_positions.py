"""Every way to say where a token stands."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.layers.positions import Positions, rotary, rotate, sinusoidal


def test_sinusoidal_is_the_formula():
    """D4: sines of t / 10000^(2i/d) in even columns, cosines in odd ones, for odd widths too."""
    for width in (6, 7):
        table = sinusoidal(torch.arange(4, 9), width)
        for row, place in enumerate(range(4, 9)):
            for column in range(width):
                angle = place / 10000 ** (column // 2 * 2 / width)
                expected = math.cos(angle) if column % 2 else math.sin(angle)
                assert table[row, column].item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "one-hot"])
def test_added_positions(kind):
    """D4: what is added is the place's own vector, the same for every state and sentence."""
    positions = Positions(kind, 6, 5)
    states = torch.randn(2, 4, 6)
    added = positions(states) - states
    torch.testing.assert_close(added[0], added[1])
    expected = {
        "sinusoidal": lambda: sinusoidal(torch.arange(4), 6),
        "learned": lambda: positions.table[:4],
        "one-hot": lambda: torch.eye(6)[:4],
    }[kind]()
    torch.testing.assert_close(added[0], expected)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "one-hot"])
def test_joined_positions(kind):
    """D4: joined positions are appended and mapped back to the width."""
    positions = Positions(kind, 6, 9, join=True)
    states = torch.randn(2, 4, 6)
    table = {
        "sinusoidal": lambda: sinusoidal(torch.arange(4), 6),
        "learned": lambda: positions.table[:4],
        "one-hot": lambda: torch.eye(9)[:4],
    }[kind]()
    expected = torch.stack([positions.join(torch.cat([row, table], 1)) for row in states])
    torch.testing.assert_close(positions(states), expected)


@pytest.mark.parametrize("kind", ["none", "rotary"])
def test_positions_outside_the_states(kind):
    """D4: nothing is added where the model has no positions or turns its queries and keys."""
    states = torch.randn(2, 4, 6)
    assert torch.equal(Positions(kind, 6, 2)(states), states)


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "one-hot"])
def test_positions_from_a_later_start(kind, join):
    """D4, D9: a part of a sequence gets the places that it has in the whole."""
    positions = Positions(kind, 8, 8, join)
    states = torch.randn(1, 7, 8)
    torch.testing.assert_close(positions(states[:, 3:], start=3), positions(states)[:, 3:])


@pytest.mark.parametrize("kind", ["learned", "one-hot"])
@pytest.mark.parametrize(("start", "length"), [(0, 6), (5, 1)])
def test_places_past_the_table(kind, start, length):
    """D4: past its length a table gives an error that names the place, the table and the way out."""
    positions = Positions(kind, 8, 5)
    assert positions(torch.zeros(1, 5, 8)).shape == (1, 5, 8)
    with pytest.raises(ValueError, match=rf"position 6 is past the 5 places .*{kind}.*model.max_length"):
        positions(torch.zeros(1, length, 8), start)


def test_sinusoidal_has_no_end():
    """D4: sine positions go past any length."""
    assert Positions("sinusoidal", 8, 5)(torch.zeros(1, 50, 8)).isfinite().all()


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.integers(0, 1000))
def test_rotary_sees_only_distances(query_place, key_place, shift, seed):
    """D4: the product of a rotated query and key depends on their distance alone."""
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, 8, dtype=torch.float64, generator=generator)

    def product(first: int, second: int) -> float:
        places = rotary(torch.tensor([first, second]), 8)
        turned = rotate(torch.stack([query, key]), places)
        return float(turned[0] @ turned[1])

    moved = product(query_place + shift, key_place + shift)
    assert moved == pytest.approx(product(query_place, key_place), abs=1e-3)


def test_rotary_sees_distances_at_all():
    """D4: another distance gives another product, and turning keeps the length."""
    torch.manual_seed(0)
    states = torch.randn(1, 8).expand(6, 8)
    turned = rotate(states, rotary(torch.arange(6), 8))
    torch.testing.assert_close(turned.norm(dim=1), states.norm(dim=1))
    assert (turned @ turned[0]).unique().numel() == 6
