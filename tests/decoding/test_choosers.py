"""How the next tokens are chosen."""

import pytest
import torch
from plain_search import decode

from seq2see.decoding.choosers import Beam, top
from seq2see.text import END


@pytest.mark.parametrize("size", [5, 128, 1000, 1024, 9700])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_best_of_many(size, count):
    """D9: what is found by blocks is what `topk` finds, at either end of the vocabulary too."""
    torch.manual_seed(size + count)
    scores = torch.randn(7, 3, size)
    scores[0, 0, -1] = scores[0, 1, 0] = 9
    best, places = top(scores, count)
    expected = scores.topk(count, -1)
    assert best.equal(expected.values)
    assert places.equal(expected.indices)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_continuations(seed):
    """D9: those of all rows together, best first."""
    torch.manual_seed(seed)
    scores, totals = torch.randn(6, 4, 50), torch.randn(6, 4)
    chosen = Beam(4).choose(scores, scores.logsumexp(-1), totals, 1)
    said = (totals.unsqueeze(2) + scores.log_softmax(-1)).flatten(1)
    best, places = said.topk(4, 1)
    torch.testing.assert_close(chosen.totals, best)
    assert (chosen.rows * 50 + chosen.tokens).equal(places)


def test_the_last_few_can_be_left_over(make_model):
    """D9: when fewer sources are left than is worth while, they are given back without an output."""
    model = make_model(seed=1, noise=0.4)
    sources = [[4, 5, 6, END], [7, 7, END], [8, 4, 5, 9, 10, END]]
    for beam in (1, 3):
        whole = decode(model, sources, [2, 2, 30], beam=beam)
        part = decode(model, sources, [2, 2, 30], beam=beam, least=2)
        assert part[:2] == whole[:2]
        assert part[2] == [] and len(whole[2][0].ids) > 2


@pytest.mark.parametrize("seed", range(4))
def test_those_left_over_have_no_output_yet(make_model, seed):
    """D9: an output that was found before the search was broken off is not given for the best one."""
    model = make_model(seed=seed, noise=0.4)
    sources = [[4 + (3 * row + place) % 7 for place in range(1 + row % 5)] + [END] for row in range(16)]
    limits = [4 + row for row in range(16)]
    whole = decode(model, sources, limits, beam=4, length_penalty=2.0)
    part = decode(model, sources, limits, beam=4, length_penalty=2.0, least=8)
    left_over = [row for row, found in enumerate(part) if not found]
    assert 0 < len(left_over) < 8
    assert all(part[row] == whole[row] for row in range(16) if row not in left_over)


def test_without_log_probabilities(make_model):
    """D9: a greedy search finds the same with and without them."""
    model = make_model(seed=1, noise=0.4)
    sources = [[4, 5, 6, END], [7, 7, END], [8, 4, 5, 9, 10, END]]
    with_them = decode(model, sources, [9] * 3, beam=1)
    without = decode(model, sources, [9] * 3, beam=1, scored=False)
    assert [found[0].ids for found in with_them] == [found[0].ids for found in without]
    assert [found[0].cut for found in with_them] == [found[0].cut for found in without]
