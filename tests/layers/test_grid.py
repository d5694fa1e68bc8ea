"""Rotary positions in two directions."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data.columns.contract import ImageShape, Vocabulary
from seq2see.data.sides import Side
from seq2see.layers.positions import Grid, rotate
from seq2see.models import ModelSettings
from seq2see.models.heads import ClassHead
from seq2see.models.network import make_reader
from seq2see.text.special import STANDARD

ROWS, COLUMNS, WIDTH = 7, 9, 16


def _scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """What a query says of a key at all pairs of places of a grid, (rows, columns, rows, columns)."""
    turns = Grid(ROWS, COLUMNS).rotations(WIDTH, torch.device("cpu")).double()
    places = ROWS * COLUMNS
    queries, keys = (rotate(one.expand(places, -1), turns) for one in (query, key))
    return (queries @ keys.T).view(ROWS, COLUMNS, ROWS, COLUMNS)


@given(down=st.integers(0, ROWS - 1), across=st.integers(0, COLUMNS - 1), seed=st.integers(0, 99))
def test_scores_see_only_distances_in_both_directions(down: int, across: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, WIDTH, generator=random, dtype=torch.double)
    found = _scores(query, key)
    kept, moved = (
        (slice(0, ROWS - down), slice(0, COLUMNS - across)),
        (slice(down, None), slice(across, None)),
    )
    torch.testing.assert_close(found[(*kept, *kept)], found[(*moved, *moved)], atol=1e-5, rtol=0)


def test_each_direction_is_seen() -> None:
    query, key = torch.randn(2, WIDTH, dtype=torch.double)
    found = _scores(query, key)
    for other in (found[3, 4, 4, 4], found[3, 4, 3, 5], found[4, 4, 3, 4]):
        assert (found[3, 4, 3, 4] - other).abs() > 1e-3
    torch.testing.assert_close(found[3, 4, 3, 4], query @ key, atol=1e-5, rtol=0)


def test_what_lies_nowhere_is_not_turned() -> None:
    turns = Grid(2, 3, before=2).rotations(WIDTH, torch.device("cpu"))
    states = torch.randn(8, WIDTH)
    assert turns.shape == (2, 8, WIDTH // 2)
    assert torch.equal(rotate(states, turns)[:2], states[:2])


def _reader(positions: str, encoder: dict[str, Any] | None = None) -> Any:
    torch.manual_seed(1)
    part = {"kind": "transformer", "layers": 1, "heads": 2, "feedforward": 8, "positions": "none"}
    front = {"kind": "patches", "patch": 2, "positions": positions}
    settings = ModelSettings(width=16, front=front, encoder=part | (encoder or {}), decoder=None, dropout=0.0)
    image = Vocabulary(256, STANDARD, image=ImageShape(1, 6, 8, (0.5,), (0.2,)))
    network = make_reader(settings, {"source": image}, lambda width: ClassHead(width, 0, 2, settings.head))
    return network.eval()


def test_a_network_reads_where_patches_lie() -> None:
    pixels = torch.randint(0, 256, (1, 1, 6, 8), dtype=torch.uint8)
    swapped = pixels.flip(3).view(1, 1, 6, 4, 2).flip(4).reshape(1, 1, 6, 8)  # patches the other way round
    for positions, same in (("none", True), ("rotary", False)):
        network = _reader(positions)
        means = [network.encode({"source": Side(one)}).states[:, 0] for one in (pixels, swapped)]
        assert torch.allclose(*means, atol=1e-5) is same
    assert _reader("rotary").state_dict().keys() == _reader("none").state_dict().keys()


@pytest.mark.parametrize(
    ("encoder", "said"),
    [({"positions": "rotary"}, "encoder.positions=none"), ({"heads": 8}, "a multiple of 4")],
)
def test_what_does_not_fit_is_refused(encoder: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _reader("rotary", encoder)
