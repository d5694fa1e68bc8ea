"""Random outputs: seeded, and distributed as the model says."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_search import decode, next_steps

from seq2see.decoding import DecodingSettings
from seq2see.decoding.choosers import Sampler
from seq2see.text import END

SOURCES = [[4, 5, 6, END], [7, 7, END], [8, 4, 5, 9, 10, END]]


def test_samples_are_seeded(make_model):
    """H: the same seed draws the same, another one draws otherwise."""
    model = make_model(noise=0.4)
    first, again, other = (
        decode(model, SOURCES, [8] * 3, sample=True, nbest=5, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert len({one.ids for one in first[0]}) > 1


@settings(max_examples=10)
@given(order=st.permutations(range(3)), left_out=st.integers(0, 3))
def test_samples_do_not_depend_on_neighbours(make_model, order, left_out):
    """H: a source with its key draws the same in any company."""
    model = make_model(noise=0.4)
    keys = [11, 5, 7]
    whole = decode(model, SOURCES, [8] * 3, keys=keys, sample=True, nbest=3)
    rows = order[left_out:] or order
    some = decode(
        model,
        [SOURCES[row] for row in rows],
        [8] * len(rows),
        keys=[keys[row] for row in rows],
        sample=True,
        nbest=3,
    )
    assert [[one.ids for one in found] for found in some] == [[one.ids for one in whole[row]] for row in rows]


def first_tokens(model, count: int, **options) -> Counter[int]:
    """How often each token came first; the end symbol counts as one."""
    (found,) = decode(model, SOURCES[:1], [2], sample=True, nbest=count, seed=3, **options)
    return Counter(one.ids[0] if one.ids else END for one in found)


@pytest.mark.parametrize("temperature", [1.0, 0.7, 2.0])
def test_frequencies_are_the_probabilities(make_model, temperature):
    """H: chi-square of first tokens against the model's distribution, for several temperatures."""
    model, count = make_model(seed=1), 1000
    (steps,) = next_steps(model, SOURCES[0], [()])
    chances = {token: math.exp(step / temperature) for token, step in steps.items()}
    total = sum(chances.values())
    seen = first_tokens(model, count, temperature=temperature)
    expected = {token: count * chance / total for token, chance in chances.items()}
    assert min(expected.values()) > 3
    distance = sum((seen[token] - wanted) ** 2 / wanted for token, wanted in expected.items())
    assert distance < 20.5  # the 0.1 percent point with five degrees of freedom
    assert seen.total() == count


def test_top_k_and_top_p_keep_the_likeliest(make_model):
    """H: only the k likeliest come, and only the likeliest that make up p."""
    model = make_model(seed=1)
    (steps,) = next_steps(model, SOURCES[0], [()])
    ranked = sorted(steps, key=steps.get, reverse=True)
    assert set(first_tokens(model, 300, top_k=3)) == set(ranked[:3])
    total = sum(math.exp(step) for step in steps.values())
    shares = [math.exp(steps[token]) / total for token in ranked]
    enough = sum(shares[:2]) + shares[2] / 2  # reached by the third
    assert set(first_tokens(model, 300, top_p=enough)) == set(ranked[:3])
    assert set(first_tokens(model, 1000, top_p=1.0)) == set(ranked)


@pytest.mark.parametrize("options", [{"top_k": 1}, {"top_p": 1e-6}, {"temperature": 1e-3}])
def test_the_narrowest_sampling_is_greedy(make_model, options):
    """H: with one token left to choose from, samples are the greedy output."""
    model = make_model(seed=2, noise=0.4)
    greedy = decode(model, SOURCES, [8] * 3, beam=1)
    sampled = decode(model, SOURCES, [8] * 3, sample=True, nbest=3, **options)
    for (best,), found in zip(greedy, sampled, strict=True):
        assert {one.ids for one in found} == {best.ids}


def test_samples_of_one_source_differ_in_their_random_numbers():
    """H: random numbers are below one, and each copy of each source has its own."""
    options = DecodingSettings(sample=True, nbest=3)
    sampler = Sampler(options, [0, 1], 400, torch.device("cpu"))
    assert sampler._draws.flatten(0, 1).unique(dim=0).shape == (6, 400)
    assert sampler._draws.max() < 1
    # The largest possible number must not fall past the last token that has a chance.
    sampler._draws.fill_(torch.tensor(1.0).nextafter(torch.tensor(0.0)).item())
    scores = torch.full((2, 3, 5), -float("inf"))
    scores[..., 1:3] = torch.tensor([0.3, 0.7]).log()
    chosen = sampler.choose(scores, torch.zeros(2, 3), torch.zeros(2, 3), 1)
    assert chosen.tokens.tolist() == [[2] * 3] * 2
