"""Requests that join, leave and stream, each as if it were alone."""

import copy
import threading

import pytest
import torch
from combinations import COMBINATIONS
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import pad
from plain_search import decode

from seq2see.decoding import DecodingSettings, Request, Search, search
from seq2see.decoding.filters import Filters, never_chosen
from seq2see.decoding.threads import one_thread
from seq2see.errors import RunError
from seq2see.text import BEGIN, END, PAD, UNKNOWN, Special

SOURCES = [[4, 5, 6, END], [7, 7, END], [8, 4, 5, 9, 10, END], [6, END]]
GREEDY, BEAM = DecodingSettings(beam=1), DecodingSettings(beam=3, nbest=2, length_penalty=1.0)
SAMPLE = DecodingSettings(sample=True, nbest=2, seed=3)
WAYS = {"greedy": GREEDY, "beam": BEAM, "sample": SAMPLE, "hard": DecodingSettings(hard_attention=True)}
PREFIXES = [(), (5, 6), (UNKNOWN,), (4, 4, 4, 4)]


def requested(model, request, row):
    """What a request gives alone, its prefix forced token by token."""
    with torch.inference_mode():
        memory = model.encode_ids(torch.tensor([SOURCES[row]]))
    return search(
        model,
        memory,
        [request.limit],
        request.settings,
        [request.prefix],
        [request.key],
        watch=lambda address, weights, mask: weights,
    )[0]


def run(model, requests, times):
    """Admit each request, one for each source, at its time; what is found for each."""
    running, found, now = Search(model), {}, 0
    while running.active or now <= max(times):
        if rows := [row for row, time in enumerate(times) if time == now]:
            with torch.inference_mode():
                memory = model.encode_ids(pad([SOURCES[row] for row in rows]))
            running.admit(memory, [requests[row] for row in rows])
        found |= {event.request: event.hypotheses for event in running.step() if event.hypotheses is not None}
        now += 1
    return found


def assert_same(one, other):
    """The same outputs, with log-probabilities as near as batches allow."""
    assert [found.ids for found in one] == [found.ids for found in other]
    assert [found.cut for found in one] == [found.cut for found in other]
    said = [found.log_probability for found in other]
    assert [found.log_probability for found in one] == pytest.approx(said, abs=1e-3)


@settings(max_examples=25)
@given(
    ways=st.lists(st.sampled_from(sorted(WAYS)), min_size=4, max_size=4),
    times=st.lists(st.integers(0, 12), min_size=4, max_size=4),
    prefixes=st.permutations(PREFIXES),
    limits=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    name=st.sampled_from([None, "pointer fed in heads", "own past fed", "pointing transformer"]),
)
def test_requests_join_at_any_time(make_model, ways, times, prefixes, limits, name):
    """D9: with settings, limits, prefixes and keys of their own, requests give what each gives alone."""
    model = make_model(seed=1, noise=0.4, **COMBINATIONS[name] if name else {})
    requests = [
        Request(WAYS[way], limit, prefix, key)
        for key, (way, limit, prefix) in enumerate(zip(ways, limits, prefixes, strict=True))
    ]
    found = run(model, requests, [time - min(times) for time in times])
    assert found.keys() == set(requests)
    for row, request in enumerate(requests):
        assert_same(found[request], requested(model, request, row))


@pytest.mark.parametrize("name", [None, "luong", "own past of other widths", "pointing mixture"])
@pytest.mark.parametrize("way", ["greedy", "beam", "sample"])
def test_reading_a_prefix_equals_forcing_it(make_model, way, name):
    """H: prefixes that are read in one pass give the outputs of those forced token by token."""
    model = make_model(seed=2, noise=0.4, **COMBINATIONS[name] if name else {})
    ended = (5, END, 6)  # an end in a prefix ends the output there
    prefixes = [(8, 7), (), (UNKNOWN, UNKNOWN, 5), ended]
    with torch.inference_mode():
        memory = model.encode_ids(pad(SOURCES))
    given = memory, [8, 8, 3, 8], WAYS[way], prefixes
    read = search(model, *given)
    forced = search(model, *given, watch=lambda address, weights, mask: weights)
    for one, other in zip(read, forced, strict=True):
        assert_same(one, other)
    assert read[3][0].ids == (5,)


def test_prefixes_take_one_pass(make_model, monkeypatch):
    """H: a prefix costs no steps."""
    model, steps = make_model(seed=2, noise=0.4), []
    plain = model.step
    monkeypatch.setattr(model, "step", lambda *given: steps.append(1) or plain(*given))
    decode(model, SOURCES[:1], [12], [(4, 5, 6, 7, 8, 4, 5, 6, 7, 8)], beam=1)
    assert len(steps) <= 2


@pytest.mark.parametrize("way", ["greedy", "sample"])
def test_tokens_are_told_as_they_are_chosen(make_model, way):
    """H: the tokens of a request that streams, put together, are its output; others are not told."""
    model = make_model(seed=1, noise=0.4)
    streaming, quiet = (Request(WAYS[way], 9, (5,), key=1, streams=streams) for streams in (True, False))
    running, told, found = Search(model), {}, {}
    with torch.inference_mode():
        running.admit(model.encode_ids(pad(SOURCES[:2])), [streaming, quiet])
    while running.active:
        for event in running.step():
            if event.hypotheses is not None:
                found[event.request] = event.hypotheses
            else:
                assert event.request is streaming
                told.setdefault(event.copy, [5]).append(event.token)
    assert sorted(map(tuple, told.values())) == sorted(
        one.ids for one in found[streaming] if len(one.ids) > 1
    )
    assert found.keys() == {streaming, quiet}


def test_a_beam_tells_no_tokens(make_model):
    """H: in a beam no token is sure before the end, so none is told."""
    model, running = make_model(seed=1, noise=0.4), None
    running = Search(model)
    with torch.inference_mode():
        running.admit(model.encode_ids(pad(SOURCES)), [Request(BEAM, 6, streams=True) for _ in SOURCES])
    events = [event for _ in range(8) for event in running.step()]
    assert len(events) == 4 and all(event.hypotheses for event in events)


def test_a_long_search_stays_small(make_model):
    """D9: where requests come and go for ever, neither outputs nor caches grow with the time."""
    model, running = make_model(seed=1, noise=0.4), Search(make_model(seed=1, noise=0.4))
    with torch.inference_mode():
        memory = model.encode_ids(torch.tensor([SOURCES[0]]))
    for step in range(150):
        if step % 3 == 0:
            running.admit(memory, [Request(GREEDY, 8)])
        running.step()
    (group,) = running._groups
    assert group._outputs.shape[2] <= 16
    assert group._state.decoder.blocks[0].past.length <= 40
    assert len(group._rankings) <= 6


def test_only_equal_settings_share_a_group(make_model):
    """H: requests with other settings step beside each other, each with its own way."""
    model = make_model(seed=1, noise=0.4)
    running = Search(model)
    with torch.inference_mode():
        memory = model.encode_ids(pad(SOURCES))
    running.admit(memory, [Request(way, 7) for way in (GREEDY, BEAM, GREEDY, BEAM)])
    assert [len(group._rankings) for group in running._groups] == [2, 2]
    assert running.active == 4


def test_filters():
    """H: the end at the deadline, forced tokens at their times, and some symbols never."""
    special = Special(pad=0, begin=1, end=2, unknown=3)
    assert never_chosen(special) == (0, 1, 3)
    assert never_chosen(Special(pad=7, begin=2, end=2, unknown=7)) == (7,)
    filters = Filters(special, [2, 9, 9], [{}, {2: 3}, {}], torch.device("cpu"))
    filters.shift(4)
    logits = torch.zeros(3, 1, 6)
    filters.apply(logits, 6, [True, True, True])
    allowed = [[token for token, value in enumerate(row) if value == 0] for row in logits[:, 0].tolist()]
    assert allowed == [[END], [UNKNOWN], [END, 4, 5]]
    logits = torch.zeros(2, 1, 6)
    filters.keep([2, 0])
    filters.apply(logits, 6, [True, False])
    assert {PAD, BEGIN, UNKNOWN}.isdisjoint((logits[1, 0] == 0).nonzero()[:, 0].tolist())
    assert logits[1, 0, 4] == 0  # a source that is done is restricted no further


def test_threads_that_borrow_in_turns_leave_the_number_alone():
    """H: one enters, another enters, the first leaves, the second leaves: everybody has what was before."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    entered, left, seen = threading.Event(), threading.Event(), {}

    def other() -> None:
        with one_thread():
            seen["inside"] = torch.get_num_threads()
            entered.set()
            left.wait()
        seen["other"] = torch.get_num_threads()

    def new() -> None:
        seen["new"] = torch.get_num_threads()

    try:
        worker = threading.Thread(target=other)
        with one_thread(), one_thread():
            assert torch.get_num_threads() == 1
            worker.start()
            entered.wait()
        seen["first"] = torch.get_num_threads()
        left.set()
        worker.join()
        later = threading.Thread(target=new)
        later.start()
        later.join()
    finally:
        torch.set_num_threads(before)
    assert seen == {"inside": 1, "first": 3, "other": 3, "new": 3}


def test_streams_that_are_read_in_turns_leave_the_number_alone():
    """H: two generators of one thread, where the one that began first also ends first."""

    def borrowing():
        with one_thread():
            yield torch.get_num_threads()

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        one, other = borrowing(), borrowing()
        assert (next(one), next(other)) == (1, 1)
        one.close()
        assert torch.get_num_threads() == 1, "the other still needs it"
        other.close()
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("asked", [{"beam": 1}, {"beam": 3}, {"sample": True, "beam": 1}])
@pytest.mark.parametrize("scored", [True, False])
def test_weights_that_are_no_numbers_are_refused(make_model, asked, scored):
    """Scores that are no numbers would never end a search."""
    model = copy.deepcopy(make_model())
    model.decoder.final_norm.weight.data[:] = torch.nan
    memory = model.encode_ids(torch.tensor([[4, 5, 6, 2]]))
    wanted = DecodingSettings.model_validate(asked)
    if scored or asked["beam"] > 1 or "sample" in asked:
        with pytest.raises(RunError, match="no numbers"):
            search(model, memory, [8], wanted, scored=scored)
    else:
        assert len(search(model, memory, [8], wanted, scored=False)[0][0].ids) <= 8
