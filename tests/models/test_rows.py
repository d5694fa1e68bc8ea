"""Rows of different lengths share a step: alone, together or joined midway, each says the same."""

import pytest
import torch
from combinations import COMBINATIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seq2see.models import EncoderDecoder
from seq2see.models.contracts import Prefix
from seq2see.text import BEGIN, END, PAD

CLOSE = {"rtol": 1e-4, "atol": 2e-5}
SOURCES = [[4, 5, 6, 7, 8, END], [9, 10, END], [8, END], [5, 5, 5, END]]
TARGETS = torch.randint(4, 9, (4, 20), generator=torch.Generator().manual_seed(1))
TARGETS[:, 0] = BEGIN
STEPS = 4
POSITIONS = ["sinusoidal", "learned", "one-hot", "rotary", "rotary-self", "none"]


def encode(network: EncoderDecoder, rows: list[int]):
    """Some of the sources, padded as far as they need."""
    longest = max(len(SOURCES[row]) for row in rows)
    return network.encode_ids(
        torch.tensor([SOURCES[row] + [PAD] * (longest - len(SOURCES[row])) for row in rows])
    )


def begun(network: EncoderDecoder, rows: list[int], lengths: list[int]):
    """The state after so many target tokens of each source."""
    prefix = [TARGETS[row, : lengths[row]].tolist() for row in rows]
    return network.begin(encode(network, rows), Prefix.of(prefix, PAD, torch.device("cpu")))


def expected(network: EncoderDecoder, row: int) -> Tensor:
    """The logits after each target token, from one pass over the row alone."""
    return network.logits(torch.tensor([SOURCES[row]]), TARGETS[row : row + 1])[0]


@torch.inference_mode()
def check(network: EncoderDecoder, lengths: list[int], join_after: list[int]) -> None:
    """Rows that begin with some tokens and join at some time go on as if each were alone."""
    wanted = [expected(network, row) for row in range(len(SOURCES))]
    read = list(lengths)
    state, here = None, []
    for now in range(max(join_after) + STEPS):
        if new := [row for row, time in enumerate(join_after) if time == now]:
            other = begun(network, new, lengths)
            state = other if state is None else state.join(other)
            here = [*here, *new]
        if state is None:
            continue
        if leaving := [row for row in here if read[row] >= TARGETS.shape[1]]:
            state = state.keep(torch.tensor([here.index(row) for row in here if row not in leaving]))
            here = [row for row in here if row not in leaving]
        logits, state = network.step(torch.tensor([TARGETS[row, read[row]] for row in here]), state)
        for row, found in zip(here, logits, strict=True):
            torch.testing.assert_close(found, wanted[row][read[row]], **CLOSE)
            read[row] += 1


@pytest.mark.parametrize("name", COMBINATIONS)
def test_rows_join_in_every_model(make_model, name):
    """D9: with prefixes of different lengths, joined midway, for every encoder with every decoder."""
    network = make_model(**COMBINATIONS[name] | {"max_length": 24})
    check(network, lengths=[3, 1, 0, 5], join_after=[0, 0, 2, 3])


@pytest.mark.parametrize("join", [False, True])
@pytest.mark.parametrize("positions", POSITIONS)
def test_rows_join_with_any_positions(make_model, positions, join):
    """D4, D9: each row has the positions that it would have alone."""
    if join and positions in ("rotary", "rotary-self", "none"):
        pytest.skip("these positions are not vectors that could be joined on")
    network = make_model(positions, join=join, width=24, max_length=24)
    check(network, lengths=[3, 1, 0, 5], join_after=[0, 0, 2, 3])


@settings(max_examples=15)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=4, max_size=4),
    times=st.lists(st.integers(0, 9), min_size=4, max_size=4),
    name=st.sampled_from(["rotary", "own past fed"]),
)
def test_rows_join_at_any_time(make_model, lengths, times, name):
    """D9: alone, together or joined midway, rows have equal outputs."""
    network = make_model(max_length=24) if name == "rotary" else make_model(**COMBINATIONS[name])
    check(network, lengths, [time - min(times) for time in times])


@pytest.mark.parametrize("name", [None, "luong", "own past of other widths", "pointing transformer"])
def test_a_prefix_is_read_as_it_would_be_stepped_through(make_model, name):
    """D9: logits of all positions of prefixes of different lengths, and what follows them."""
    network = make_model(**COMBINATIONS[name] if name else {})
    rows, lengths = [0, 1, 2, 3], [4, 0, 2, 1]
    prefix = Prefix.of([TARGETS[row, : lengths[row]].tolist() for row in rows], PAD, torch.device("cpu"))
    with torch.inference_mode():
        logits, state = network.prefill(encode(network, rows), prefix)
        after, _ = network.step(TARGETS[torch.arange(4), torch.tensor(lengths)], state)
    for row in rows:
        wanted = expected(network, row)
        torch.testing.assert_close(logits[row, : lengths[row]], wanted[: lengths[row]], **CLOSE)
        torch.testing.assert_close(after[row], wanted[lengths[row]], **CLOSE)


def test_watchers_see_each_row_with_its_own_past(make_model):
    """D1, D9: rows of different lengths are told apart by a mask, and weights sum to one over their own."""
    network, seen = make_model(), {}

    def watch(address, weights, mask):
        seen[address] = weights, mask
        return weights

    with torch.inference_mode():
        watched, _ = network.step(TARGETS[:2, 6], begun(network, [0, 1], [5, 2]), watch)
        plain, _ = network.step(TARGETS[:2, 6], begun(network, [0, 1], [5, 2]))
    torch.testing.assert_close(watched, plain, **CLOSE)
    weights, mask = seen["decoder.1.self"]
    assert mask.sum(-1).flatten().tolist() == [6, 3]
    assert torch.all(weights.masked_select(~mask) == 0)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
