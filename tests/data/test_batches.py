"""Batches: everything once an epoch, within the budget, and resumable anywhere."""

from itertools import islice

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import batches as batches_module
from seq2see.data.batches import Batch, Batches
from seq2see.data.columns.contract import fill
from seq2see.data.encoded import Encoded, Ragged
from seq2see.data.sides import Side
from seq2see.text import BEGIN, END, PAD


def corpus(source: list[int], target: list[int]) -> Encoded:
    """Random ids of given lengths; line numbers tell the pairs apart."""
    random = np.random.default_rng(0)
    columns = {}
    for name, lengths in (("source", source), ("target", target)):
        sides = [[*random.integers(4, 50, length - 1), END] for length in lengths]
        columns[name] = Ragged(
            np.array([token for ids in sides for token in ids], "uint16"),
            np.concatenate([[0], np.cumsum(lengths)]).astype("int64"),
        )
    return Encoded(columns, lines=np.arange(len(source)) * 10 + 1, left_out=0, unknown={})


class Ids:
    """A column of ids as they are, behind an optional first one."""

    def __init__(self, before: int | None = None) -> None:
        self._before = before

    def collate(self, rows) -> Side:
        return Side(*fill(rows, PAD, self._before))


def batches_of(data: Encoded, *options) -> Batches:
    """Batches of ids, targets behind the begin symbol."""
    return Batches(data, {"source": Ids(), "target": Ids(BEGIN)}, *options)


def ids(batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sources, what a decoder reads and what it should say."""
    target = batch["target"].values
    return batch["source"].values, target[:, :-1], target[:, 1:]


def realistic(count: int) -> Encoded:
    """Lengths such as words and their pronunciations have."""
    random = np.random.default_rng(1)
    source = np.clip(random.lognormal(2.1, 0.35, count).astype(int), 2, 40)
    target = np.clip(source + random.integers(-2, 3, count), 2, 40)
    return corpus(source.tolist(), target.tolist())


def epoch(batches: Batches) -> list[Batch]:
    """The batches up to the end of the epoch."""
    found, stream, start = [], iter(batches), batches.epoch
    while True:
        batch = next(stream)
        if batches.epoch > start:
            return found
        found.append(batch)


def lines(found) -> list[list[int]]:
    """Which pairs stand in each batch."""
    return [batch.lines.tolist() for batch in found]


DATA = realistic(300)


@pytest.mark.parametrize("pool", [64, 1 << 17])
@pytest.mark.parametrize("number", [0, 3])
def test_every_pair_once_an_epoch(monkeypatch, pool, number):
    """H: an epoch holds each pair exactly once, also over several pools."""
    monkeypatch.setattr(batches_module, "_POOL", pool)
    batches = batches_of(DATA, 200, 1)
    batches.restore({"epoch": number, "taken": 0})
    seen = sorted(line for batch in lines(epoch(batches)) for line in batch)
    assert seen == DATA.lines.tolist()


@given(
    lengths=st.lists(st.tuples(st.integers(2, 30), st.integers(2, 30)), min_size=1, max_size=40),
    budget=st.integers(1, 120),
    most=st.none() | st.integers(1, 5),
)
def test_the_budget_is_kept(lengths, budget, most):
    """H: rows times the longer side, padding counted, fit the budget; a pair too long for it comes alone."""
    data = corpus(*map(list, zip(*lengths, strict=True)))
    found = list(batches_of(data, budget, 1, most).in_order())
    for batch in found:
        rows = len(batch.lines)
        assert rows == 1 or rows * max(ids(batch)[0].shape[1], ids(batch)[2].shape[1]) <= budget
        assert most is None or rows <= most
    assert sorted(line for batch in lines(found) for line in batch) == data.lines.tolist()


def test_batches_are_filled():
    """H: no batch could take the next pair as well; there are about as few batches as can be."""
    found = epoch(batches_of(DATA, 400, 1))
    tokens = np.maximum(DATA["source"].lengths, DATA["target"].lengths).sum()
    assert len(found) <= 1.25 * tokens / 400 + 1
    assert max(len(one) for one in lines(epoch(batches_of(DATA, 10_000, 1, 8)))) == 8


def test_the_ids_are_those_of_the_pairs():
    """A5: sources padded behind, targets shifted by the begin symbol."""
    for batch in epoch(batches_of(DATA, 200, 1)):
        sources, inputs, labels = ids(batch)
        for row, line in enumerate(batch.lines):
            place = (line - 1) // 10
            source, target = DATA["source"][place].tolist(), DATA["target"][place].tolist()
            rest = sources.shape[1] - len(source)
            assert sources[row].tolist() == source + [PAD] * rest
            assert batch["source"].mask[row].tolist() == [True] * len(source) + [False] * rest
            rest = labels.shape[1] - len(target)
            assert labels[row].tolist() == target + [PAD] * rest
            assert inputs[row].tolist() == ([BEGIN, *target] + [PAD] * rest)[:-1]
        tokens = sum(DATA["target"].lengths[(line - 1) // 10] for line in batch.lines)
        assert batch["target"].mask[:, 1:].sum() == tokens


def test_the_seed_makes_the_order():
    """H: the same seed gives the same order, another seed or another epoch gives another."""
    first, again, other = (lines(epoch(batches_of(DATA, 200, seed))) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    later = batches_of(DATA, 200, 1)
    later.restore({"epoch": 1, "taken": 0})
    assert lines(epoch(later)) != first


def test_order_inside_an_epoch_is_not_by_length():
    """H: short and long batches come mixed."""
    widths = [ids(batch)[0].shape[1] for batch in epoch(batches_of(DATA, 200, 1))]
    assert widths != sorted(widths)
    assert widths != sorted(widths, reverse=True)


@given(taken=st.integers(0, 60), more=st.integers(1, 40), pairs=st.none() | st.integers(1, 20))
def test_a_stream_goes_on_where_it_stood(taken, more, pairs):
    """H: restored from its state, at any point of any epoch, a stream goes on exactly."""
    whole = lines(islice(batches_of(DATA, 200, 5, pairs), taken + more))
    first = batches_of(DATA, 200, 5, pairs)
    assert lines(islice(first, taken)) == whole[:taken]
    second = batches_of(DATA, 200, 5, pairs)
    second.restore(first.state())
    assert lines(islice(second, more)) == whole[taken:]
    assert lines(islice(first, more)) == whole[taken:]


def test_little_padding_on_realistic_lengths():
    """H: length buckets leave little padding on either side."""
    data = realistic(5000)
    found = epoch(batches_of(data, 2000, 1))
    for side in (lambda batch: ids(batch)[0], lambda batch: ids(batch)[2]):
        padding = sum(int((side(batch) == PAD).sum()) for batch in found)
        assert padding / sum(side(batch).numel() for batch in found) < 0.15


def test_in_order_gives_everything_once_and_moves_nothing():
    """H: a pass over held-out pairs leaves the stream where it was."""
    batches = batches_of(DATA, 200, 1)
    next(iter(batches))
    before = batches.state()
    assert lines(batches.in_order()) == lines(batches.in_order())
    assert batches.state() == before


def test_fill():
    """H: rows are filled up to the longest, behind an optional first id; a mask says where they hold any."""
    matrix, mask = fill([[5, 6], [7]], PAD)
    assert matrix.tolist() == [[5, 6], [7, PAD]]
    assert mask.tolist() == [[True, True], [True, False]]
    assert fill([[5, 6], []], PAD, BEGIN)[0].tolist() == [[BEGIN, 5, 6], [BEGIN, PAD, PAD]]
    assert fill([], PAD)[0].shape == (0, 0)
    assert fill([np.array([65_535], "uint16")], PAD)[0].dtype == torch.long


def captions(images: int, each: int) -> Encoded:
    """Sources that several targets share, in mixed order."""
    data = corpus([5] * images, [5] * images)
    places = np.random.default_rng(2).permutation(np.repeat(np.arange(images), each))
    source = data["source"]
    columns = {"source": Ragged(source.values, source.offsets, places), "target": data["target"]}
    columns["target"] = corpus([5] * len(places), [5] * len(places))["target"]
    return Encoded(columns, lines=np.arange(len(places)), left_out=0, unknown={})


def test_a_batch_holds_a_shared_source_once() -> None:
    data = captions(40, 5)
    batches = batches_of(data, 10_000, 3, 20, False)
    seen = list(islice(batches, 10))
    assert sorted(np.concatenate([batch.lines for batch in seen])) == list(range(200))
    for batch in seen:
        assert len(batch["source"].values) == 4 and len(batch["target"].values) == len(batch) == 20
        assert batch.shared is not None
        for line, source in zip(batch.lines, batch["source"].values[batch.shared], strict=True):
            assert source.tolist() == data["source"][line].tolist()


def test_sources_that_are_shared_come_in_a_new_order_each_epoch() -> None:
    batches = batches_of(captions(40, 5), 10_000, 3, 20, False)
    first, second = (np.concatenate([batch.lines for batch in islice(batches, 10)]) for _ in range(2))
    assert first.tolist() != second.tolist()


def test_sources_of_their_own_are_not_gathered() -> None:
    batch = next(iter(batches_of(captions(40, 1), 10_000, 3, 20, False)))
    assert batch.shared is None and len(batch["source"].values) == 20


def test_targets_of_one_line_share_its_source() -> None:
    """D10: sorted by length too, the cells of a line stay together, and a batch holds its source once."""
    random = np.random.default_rng(4)
    number = np.repeat(np.arange(90), random.integers(1, 4, 90))
    lengths = random.integers(2, 30, 90)[number]
    data = corpus(lengths.tolist(), np.clip(lengths + random.integers(-3, 4, len(number)), 2, 40).tolist())
    sources = [data["source"][row].tolist() for row in np.searchsorted(number, number)]
    apart = Encoded(data.columns, number * 10 + 1, 0, {})
    shared = apart.with_shared_sources()
    assert [shared["source"][row].tolist() for row in range(len(number))] == sources
    found = epoch(batches_of(shared, 400, 1))
    assert sorted(line for batch in lines(found) for line in batch) == apart.lines.tolist()
    read = sum(len(batch["source"].values) for batch in found)
    assert 90 <= read <= 90 + len(found)  # only what stands at the end of a batch may be read again
    for batch in found:
        assert len(batch.lines) * max(ids(batch)[0].shape[1], ids(batch)[2].shape[1]) <= 400
        which = batch.shared if batch.shared is not None else torch.arange(len(batch.lines))
        for line, row in zip(batch.lines.tolist(), batch["source"].values[which].tolist(), strict=True):
            wanted = sources[np.searchsorted(number, line // 10)]
            assert row == wanted + [PAD] * (len(row) - len(wanted))
    later = batches_of(shared, 400, 1)
    later.restore({"epoch": 1, "taken": 0})
    assert lines(epoch(later)) != lines(found)


@pytest.mark.parametrize("by_length", [True, False])
def test_examples_that_share_a_source_may_be_mixed(by_length: bool) -> None:
    """B: captions of one image are in different batches; where two of them meet, the image is read once."""
    data = captions(400, 5)
    whole = epoch(batches_of(data, 10_000, 3, 20, by_length, False))
    assert sorted(np.concatenate([batch.lines for batch in whole])) == list(range(2000))
    assert 1900 < sum(len(batch["source"].values) for batch in whole) <= 2000
    for batch in whole:
        which = batch.shared if batch.shared is not None else torch.arange(len(batch.lines))
        for line, source in zip(batch.lines, batch["source"].values[which], strict=True):
            assert source.tolist() == data["source"][line].tolist()
    later = batches_of(data, 10_000, 3, 20, by_length, False)
    later.restore({"epoch": 0, "taken": 7})
    assert lines(list(islice(later, 3))) == lines(whole[7:10])
