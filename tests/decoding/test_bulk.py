"""Many sources at a time give what each gives alone."""

import random

import pytest
import torch
from plain_search import decode

from seq2see.decoding import DecodingSettings, bulk
from seq2see.text import END


@pytest.fixture
def sources():
    """Sixty sources of one to twelve tokens."""
    draw = random.Random(1)
    return [[draw.randint(4, 10) for _ in range(draw.randint(1, 12))] + [END] for _ in range(60)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 3, "nbest": 2}, {"sample": True, "nbest": 2}])
def test_all_as_each(make_model, sources, options, threads, monkeypatch):
    """D9: batches, workers and stragglers change nothing, and outputs stay with their sources."""
    model = make_model(seed=1, noise=0.4)
    monkeypatch.setattr(bulk, "_LEAST", 1)
    # Most end soon; a few go on to a far limit, and are left over by their batches.
    limits = [40 if number % 12 == 0 else 6 for number in range(60)]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        settings = DecodingSettings(batch_tokens=200, **options)
        found = bulk.search_all(model, sources, limits, settings, keys=range(60))
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for key, (source, limit, hypotheses) in enumerate(zip(sources, limits, found, strict=True)):
        (alone,) = decode(model, [source], [limit], keys=[key], **options)
        assert [one.ids for one in hypotheses] == [one.ids for one in alone]
        said = [one.log_probability for one in alone]
        assert [one.log_probability for one in hypotheses] == pytest.approx(said, abs=1e-4)


def test_stragglers_are_decoded_together(make_model, sources, monkeypatch):
    """D9: a source that does not end is left over by its batch, and taken up with the others in the end."""
    model, calls = make_model(seed=1, noise=0.4), []
    plain = bulk.search

    def noted(*given, **options):
        calls.append((len(given[2]), max(given[2])))
        return plain(*given, **options)

    monkeypatch.setattr(bulk, "search", noted)
    monkeypatch.setattr(bulk, "_LEAST", 1)
    limits = [200 if number % 20 == 0 else 3 for number in range(60)]
    bulk.search_all(model, sources, limits, DecodingSettings(beam=1, batch_tokens=200), scored=False)
    assert len(calls) > 3
    assert calls[-1][0] <= 3 < min(count for count, _ in calls[:-1])
    assert calls[-1][1] == 200


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 3, "nbest": 2}, {"sample": True, "nbest": 2}])
def test_one_encoding_for_several_first_tokens(make_model, sources, options, threads, monkeypatch):
    """D10: outputs after each first token are those of searches of their own, whatever is left over."""
    model, firsts = make_model(seed=1, noise=0.4), (4, 6, 7)
    monkeypatch.setattr(bulk, "_LEAST", 1)
    limits = [40 if number % 12 == 0 else 6 for number in range(60)]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        settings = DecodingSettings(batch_tokens=200, **options)
        found = bulk.search_all(model, sources, limits, settings, keys=range(60), firsts=firsts)
        alone = [
            bulk.search_all(model, sources, limits, settings, keys=range(60), firsts=[one]) for one in firsts
        ]
    finally:
        torch.set_num_threads(before)
    expected = [alone[place][row] for row in range(60) for place in range(3)]
    assert [[one.ids for one in these] for these in found] == [
        [one.ids for one in these] for these in expected
    ]
    assert alone[0] != alone[1] != alone[2], "the first token matters"


def test_sources_are_encoded_once(make_model, sources, monkeypatch):
    """D10: however many outputs a source has, the encoder reads it once."""
    model, read = make_model(seed=1), []
    plain = model.encode
    monkeypatch.setattr(
        model, "encode", lambda sides, watch: read.append(len(sides["source"].values)) or plain(sides, watch)
    )
    found = bulk.search_all(model, sources, [8] * 60, DecodingSettings(beam=1), firsts=(4, 5, 6))
    assert len(found) == 180 and all(found) and sum(read) == 60
