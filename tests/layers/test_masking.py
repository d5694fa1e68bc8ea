"""Which tokens are hidden: how many, never special ones, whole words and spans."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.layers.masking import Masking, MaskUnit

SIZE, SYMBOL, FIRST = 50, 4, 5
STARTS = [place % 3 != 0 for place in range(SIZE)]
"""Every third id goes on with a word."""


def texts(rows: int = 200, length: int = 60) -> torch.Tensor:
    torch.manual_seed(1)
    ids = torch.randint(FIRST, SIZE, (rows, length))
    ids[:, 0], ids[:, -1], ids[:, 7] = 1, 2, 3
    ids[::2, length // 2 :] = 0
    return ids


@pytest.mark.parametrize("unit", ["tokens", "words", "spans"])
def test_about_the_right_share_is_hidden_and_nothing_special(unit: MaskUnit) -> None:
    ids = texts()
    read, chosen = Masking(SYMBOL, FIRST, STARTS, unit=unit)(ids)
    usable = ids >= FIRST
    assert not (chosen & ~usable).any()
    assert chosen.any(1).all()
    assert float(chosen.sum() / usable.sum()) == pytest.approx(0.15, abs=0.03)
    assert torch.equal(read[~chosen], ids[~chosen])
    parts = [float(part.sum() / chosen.sum()) for part in (read == SYMBOL, chosen & (read == ids))]
    assert parts == [pytest.approx(0.8, abs=0.05), pytest.approx(0.1, abs=0.05)]
    assert (read[chosen] >= SYMBOL).all()


@given(st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=20), st.floats(0.01, 0.99), st.integers(0, 99))
def test_every_row_with_a_token_has_a_gap(row: list[int], share: float, seed: int) -> None:
    for unit in ("tokens", "words", "spans"):
        generator = torch.Generator().manual_seed(seed)
        masking = Masking(SYMBOL, FIRST, STARTS, share, unit=unit)
        chosen = masking.choose(torch.tensor([row]), generator)[0].tolist()
        assert any(chosen) == any(one >= FIRST for one in row)
        assert not any(hidden and one < FIRST for hidden, one in zip(chosen, row, strict=True))


def test_words_are_hidden_whole() -> None:
    ids = texts()
    chosen = Masking(SYMBOL, FIRST, STARTS, unit="words").choose(ids)
    goes_on = (ids[:, 1:] >= FIRST) & (ids[:, :-1] >= FIRST) & ~torch.tensor(STARTS)[ids[:, 1:]]
    assert goes_on.any()
    assert torch.equal(chosen[:, 1:][goes_on], chosen[:, :-1][goes_on])


def test_spans_are_longer_than_words_and_bounded() -> None:
    ids = torch.full((500, 100), 7)
    every = [True] * SIZE

    def runs(unit: MaskUnit, longest: int = 10) -> list[int]:
        masking = Masking(SYMBOL, FIRST, every, 0.05, unit=unit, longest=longest)
        found = []
        for row in masking.choose(ids).tolist():
            text = "".join("x" if one else " " for one in row)
            found += map(len, text.split())
        return found

    spans = runs("spans")
    assert 2 < sum(spans) / len(spans) < 4.5
    assert sum(runs("words")) / len(runs("words")) < 1.2
    assert max(runs("spans", longest=2)) <= 6  # two of them may stand side by side


def test_the_generator_decides() -> None:
    ids, masking = texts(4), Masking(SYMBOL, FIRST, STARTS, unit="spans")
    first, again, other = (masking(ids, torch.Generator().manual_seed(seed))[0] for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)
