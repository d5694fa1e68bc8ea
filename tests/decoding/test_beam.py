"""Beam search against enumeration and against a plain search that never stops early."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_search import all_outputs, beam_search, decode, log_probabilities, next_steps

from seq2see.decoding import DecodingSettings, search
from seq2see.errors import SettingsError
from seq2see.settings import build
from seq2see.text import BEGIN, END, PAD, UNKNOWN

SOURCES = [[4, 5, 6, END], [7, 7, END], [8, 4, 5, 9, 10, END]]
source_lists = st.lists(
    st.lists(st.integers(4, 10), min_size=1, max_size=6).map(lambda ids: [*ids, END]), min_size=2, max_size=4
)


@pytest.mark.parametrize("penalty", [0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_is_exhaustive(make_model, seed, penalty):
    """D9: the n-best list of a wide beam is the best of all outputs there are."""
    model, limit = make_model(seed=seed, noise=0.4), 4
    outputs = all_outputs(model, limit)
    found = decode(model, SOURCES, [limit] * 3, beam=200, nbest=7, length_penalty=penalty)
    for source, hypotheses in zip(SOURCES, found, strict=True):
        totals = log_probabilities(model, source, outputs)
        scores = [total / (len(ids) + 1) ** penalty for total, ids in zip(totals, outputs, strict=True)]
        best = sorted(zip(scores, outputs, strict=True), reverse=True)[:7]
        assert [one.ids for one in hypotheses] == [ids for _, ids in best]
        assert [one.score for one in hypotheses] == pytest.approx([score for score, _ in best], abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_is_greedy(make_model, seed):
    """D9: a beam of one takes the likeliest token at each step."""
    model, limit = make_model(seed=seed, noise=0.4), 8
    found = decode(model, SOURCES, [limit] * 3, beam=1)
    for source, (hypothesis,) in zip(SOURCES, found, strict=True):
        written, total = (), 0.0
        while True:
            (steps,) = next_steps(model, source, [written])
            token = max(steps, key=steps.get) if len(written) < limit - 1 else END
            total += steps[token]
            if token == END:
                break
            written = (*written, token)
        assert hypothesis.ids == written
        assert hypothesis.log_probability == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("penalty", [0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("beam", [1, 2, 4])
def test_stopping_early_changes_nothing(make_model, beam, penalty):
    """D9: the narrow search gives what a search gives that goes on to the limit."""
    limits = [7, 5, 6]
    for seed in range(5):
        model = make_model(seed=seed, noise=0.5)
        expected = [
            beam_search(model, source, limit, beam, penalty)
            for source, limit in zip(SOURCES, limits, strict=True)
        ]
        for nbest in {1, beam}:
            found = decode(model, SOURCES, limits, beam=beam, nbest=nbest, length_penalty=penalty)
            for hypotheses, best in zip(found, expected, strict=True):
                assert [one.ids for one in hypotheses] == [ids for _, ids in best[:nbest]]
                scores = [score for score, _ in best[:nbest]]
                assert [one.score for one in hypotheses] == pytest.approx(scores, abs=1e-4)


def test_searching_stops_early(make_model, monkeypatch):
    """D9: where the end is likely, the search does not go on to the limit."""
    model, steps = make_model(seed=1), []
    plain = model.head.logits

    def eager(written, tokens):
        steps.append(len(written.states))
        logits = plain(written, tokens)
        logits[..., END] += 30
        return logits

    monkeypatch.setattr(model.head, "logits", eager)
    found = decode(model, SOURCES, [50] * 3, beam=3, length_penalty=1.0)
    assert len(steps) < 10
    assert [one[0].ids for one in found] == [()] * 3


@settings(max_examples=15)
@given(sources=source_lists, beam=st.integers(1, 4), penalty=st.sampled_from([0, 1.0]), data=st.data())
def test_neighbours_change_nothing(make_model, sources, beam, penalty, data):
    """D3: a sentence has the same hypotheses alone, in any company and in any order."""
    model = make_model(seed=2, noise=0.4)
    limits = [data.draw(st.integers(1, 7)) for _ in sources]
    order = data.draw(st.permutations(range(len(sources))))
    options = {"beam": beam, "nbest": beam, "length_penalty": penalty}
    together = decode(model, [sources[row] for row in order], [limits[row] for row in order], **options)
    for row, hypotheses in zip(order, together, strict=True):
        (alone,) = decode(model, [sources[row]], [limits[row]], **options)
        assert [one.ids for one in hypotheses] == [one.ids for one in alone]
        for one, other in zip(hypotheses, alone, strict=True):
            assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)


@pytest.mark.parametrize("options", [{"beam": 4, "nbest": 4}, {"sample": True, "nbest": 4}])
def test_log_probabilities_are_those_of_score(make_model, options):
    """H: what search says of an output is what `score` says of it, the forced end included."""
    model = make_model(seed=3, noise=0.4)
    for source, hypotheses in zip(SOURCES, decode(model, SOURCES, [6] * 3, **options), strict=True):
        expected = log_probabilities(model, source, [one.ids for one in hypotheses])
        assert [one.log_probability for one in hypotheses] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("options", [{"beam": 3, "nbest": 3}, {"sample": True, "nbest": 20}])
def test_limits_are_obeyed(make_model, options):
    """H: no output is longer than its limit, and those that it ended say so."""
    model, limits = make_model(seed=4, noise=0.4), [1, 3, 5]
    for limit, hypotheses in zip(limits, decode(model, SOURCES, limits, **options), strict=True):
        for one in hypotheses:
            assert len(one.ids) < limit
            assert one.cut == (len(one.ids) == limit - 1)
    assert {one.cut for one in decode(model, SOURCES[:1], [4], beam=200, nbest=50)[0]} == {True, False}


@pytest.mark.parametrize(
    "options", [{"beam": 3, "nbest": 3}, {"sample": True, "nbest": 5, "temperature": 0.5}]
)
def test_prefixes_are_obeyed(make_model, options):
    """H: outputs begin as told, even with unknown tokens, and the model goes on from there."""
    model = make_model(seed=5, noise=0.4)
    prefixes = [(8, 7), (), (UNKNOWN, UNKNOWN, 5)]
    found = decode(model, SOURCES, [6] * 3, prefixes, **options)
    for source, prefix, hypotheses in zip(SOURCES, prefixes, found, strict=True):
        assert hypotheses
        assert all(one.ids[: len(prefix)] == prefix for one in hypotheses)
        expected = log_probabilities(model, source, [one.ids for one in hypotheses])
        assert [one.log_probability for one in hypotheses] == pytest.approx(expected, abs=1e-4)


def test_a_prefix_leaves_the_best_of_its_outputs(make_model):
    """H: with a prefix the wide beam finds the best of all outputs that begin so."""
    model = make_model(seed=5, noise=0.4)
    for source in SOURCES:
        outputs = [ids for ids in all_outputs(model, 4) if ids[:1] == (6,)]
        totals = log_probabilities(model, source, outputs)
        best = [ids for _, ids in sorted(zip(totals, outputs, strict=True), reverse=True)[:5]]
        (found,) = decode(model, [source], [4], [(6,)], beam=200, nbest=5)
        assert [one.ids for one in found] == best


@pytest.mark.parametrize("options", [{"beam": 200, "nbest": 200}, {"sample": True, "nbest": 200}])
def test_special_symbols_never_come_out(make_model, options):
    """H: padding, begin and unknown are never said, however likely the model finds them."""
    model = make_model(seed=6, noise=0.4, tie_output=False)
    model.head.output.bias.data[[PAD, BEGIN, UNKNOWN]] += 8
    try:
        (found,) = decode(model, SOURCES[:1], [4], **options)
    finally:
        model.head.output.bias.data[[PAD, BEGIN, UNKNOWN]] -= 8
    assert len(found) > 100
    assert not {PAD, BEGIN, END, UNKNOWN} & {token for one in found for token in one.ids}


def test_nothing_to_decode(make_model):
    """H: no sources give no hypotheses."""
    model = make_model()
    with torch.inference_mode():
        memory = model.encode_ids(torch.tensor([[4, END]])).select(torch.tensor([], dtype=torch.long))
    assert search(model, memory, [], DecodingSettings()) == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"beam": 2, "nbest": 3}, "set beam=3"),
        ({"top_k": 3}, "sample=true"),
        ({"temperature": 0.5}, "sample=true"),
        ({"sample": True, "top_p": 1.5}, "top_p = 1.5"),
    ],
)
def test_settings_that_cannot_be(values, reason):
    """H: options that contradict each other are refused with the way out."""
    with pytest.raises(SettingsError, match=reason):
        build(DecodingSettings, values, "test")
