"""Whether a difference is more than chance."""

import random

import pytest

from seq2see.evaluation import Comparison, Example, compare

WORDS = [
    "the",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "under",
    "mat",
    "tree",
    "house",
    "old",
    "new",
    "red",
    "green",
    "today",
]


def system(share_wrong: float, seed: int, count: int = 80) -> list[Example]:
    """Outputs in which a share of the words is wrong, on references that do not depend on the seed."""
    sentences, noise = random.Random(0), random.Random(seed)
    examples = []
    for _ in range(count):
        words = sentences.choices(WORDS, k=7)
        said = [noise.choice(WORDS) if noise.random() < share_wrong else word for word in words]
        examples.append(Example("source", " ".join(said), (" ".join(words),)))
    return examples


@pytest.mark.parametrize("unit", ["characters", "symbols", "words"])
def test_a_system_against_itself(unit):
    """H: equal outputs differ in nothing, by any score."""
    for found in compare(system(0.3, 1), system(0.3, 1), unit, samples=100):
        assert found.p > 0.9
        assert not found.significant
        assert found.difference == 0


def test_clearly_different_systems():
    """H: ten times the errors is more than chance, by every score, and in the right direction."""
    better = {"exact": -1, "wer": 1, "bleu": -1, "chrf": -1, "ter": 1}
    for found in compare(system(0.05, 1), system(0.5, 2), "words", samples=200):
        assert found.significant, found
        assert found.difference * better[found.metric] > 0


def test_equally_good_systems():
    """H: other errors at the same rate are no significant difference by the counted scores."""
    for found in compare(system(0.3, 1), system(0.3, 4), "symbols", samples=300):
        assert found.p > 0.05, found
        assert found.difference != 0


def test_the_order_of_the_systems_is_irrelevant():
    """H: turned round, scores change places and p stays."""
    one, other = system(0.2, 1), system(0.27, 2)
    for forth, back in zip(
        compare(one, other, "words", samples=150), compare(other, one, "words", samples=150), strict=True
    ):
        assert (forth.metric, forth.first, forth.second) == (back.metric, back.second, back.first)
        assert forth.p == pytest.approx(back.p, abs=1e-9)
        assert 0 < forth.p <= 1


def test_p_follows_the_number_of_examples():
    """H: the same difference in rates says more on more examples."""
    few = {c.metric: c.p for c in compare(system(0.2, 1, 8), system(0.3, 2, 8), "symbols", 500)}
    many = {c.metric: c.p for c in compare(system(0.2, 1, 400), system(0.3, 2, 400), "symbols", 500)}
    assert many["ser"] < 0.01 < few["ser"]


def test_comparisons_are_seeded():
    """H: the same seed draws the same samples."""
    one, other = system(0.2, 1), system(0.24, 2)
    first, again, third = (compare(one, other, "symbols", 300, seed) for seed in (1, 1, 9))
    assert first == again
    assert first != third


def test_significance_has_a_bound():
    """H: one in twenty is the usual bound."""
    assert [Comparison("exact", 1.0, 2.0, p).significant for p in (0.049, 0.05)] == [True, False]
