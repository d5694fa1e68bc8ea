"""Whether a difference is more than chance."""

import random

import numpy as np
import pytest
from scipy.stats import binomtest

from seq2see.evaluation import (
    METRICS,
    Classes,
    Comparison,
    Example,
    Numbers,
    Tags,
    Texts,
    Unit,
    compare,
)
from seq2see.evaluation.compare import mcnemar

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


def system(share_wrong: float, seed: int, unit: Unit, count: int = 80) -> Texts:
    """Outputs in which a share of the words is wrong, on references that do not depend on the seed."""
    sentences, noise = random.Random(0), random.Random(seed)
    examples = []
    for _ in range(count):
        words = sentences.choices(WORDS, k=7)
        said = [noise.choice(WORDS) if noise.random() < share_wrong else word for word in words]
        examples.append(Example("source", " ".join(said), (" ".join(words),)))
    return Texts(examples, unit)


@pytest.mark.parametrize("unit", ["characters", "symbols", "words"])
def test_a_system_against_itself(unit):
    """H: equal outputs differ in nothing, by any score."""
    for found in compare(system(0.3, 1, unit), system(0.3, 1, unit), samples=100):
        assert found.p > 0.9
        assert not found.significant
        assert found.difference == 0


def test_clearly_different_systems():
    """H: ten times the errors is more than chance, by every score, and in the right direction."""
    for found in compare(system(0.05, 1, "words"), system(0.5, 2, "words"), samples=200):
        assert found.significant, found
        assert found.difference * METRICS[found.metric].direction < 0


def test_equally_good_systems():
    """H: other errors at the same rate are no significant difference by the counted scores."""
    for found in compare(system(0.3, 1, "symbols"), system(0.3, 4, "symbols"), samples=300):
        assert found.p > 0.05, found
        assert found.difference != 0


def test_the_order_of_the_systems_is_irrelevant():
    """H: turned round, scores change places and p stays."""
    one, other = system(0.2, 1, "words"), system(0.27, 2, "words")
    for forth, back in zip(compare(one, other, 150), compare(other, one, 150), strict=True):
        assert (forth.metric, forth.first, forth.second) == (back.metric, back.second, back.first)
        assert forth.p == pytest.approx(back.p, abs=1e-9)
        assert 0 < forth.p <= 1


def test_p_follows_the_number_of_examples():
    """H: the same difference in rates says more on more examples."""
    few, many = (
        {
            one.metric: one.p
            for one in compare(system(0.2, 1, "symbols", count), system(0.3, 2, "symbols", count), 500)
        }
        for count in (8, 400)
    )
    assert many["ser"] < 0.01 < few["ser"]


def test_comparisons_are_seeded():
    """H: the same seed draws the same samples."""
    one, other = system(0.2, 1, "symbols"), system(0.21, 2, "symbols")
    first, again, third = (compare(one, other, 300, seed) for seed in (1, 1, 9))
    assert first == again
    assert first != third


def test_significance_has_a_bound():
    """H: one in twenty is the usual bound."""
    assert [Comparison("exact", 1.0, 2.0, p).significant for p in (0.049, 0.05)] == [True, False]


def test_mcnemar_is_a_binomial_test():
    """H: the p is that of a fair coin, thrown for every example that only one system gets right."""
    draw = np.random.default_rng(3)
    for _ in range(50):
        first, second = draw.random((2, 40)) < draw.random((2, 1))
        one, other = (first & ~second).sum(), (second & ~first).sum()
        expected = binomtest(one, one + other).pvalue if one + other else 1.0
        assert mcnemar(first, second) == pytest.approx(expected)
        assert mcnemar(second, first) == pytest.approx(expected)


def test_what_is_right_or_wrong_is_compared_by_mcnemar():
    """H: outputs and classes as a whole are; edits, words of sentences and numbers are not."""
    found = compare(system(0.1, 1, "symbols"), system(0.2, 2, "symbols"), 50)
    assert {one.metric: one.test.split()[0] for one in found} == {
        "exact": "McNemar,",
        "wer": "McNemar,",
        "ser": "paired",
    }
    assert found[0].p == found[1].p
    tests = {one.metric: one.test.split()[0] for one in compare(tagged(0.1, 1), tagged(0.2, 2), 50)}
    assert tests == {"accuracy": "paired", "sentence_accuracy": "McNemar,", "span_f1": "paired"}


def classified(share_wrong: float, seed: int) -> Classes:
    """Three classes, of which a share is drawn anew; the truth does not depend on the seed."""
    truth = np.random.default_rng(0).integers(3, size=300)
    noise = np.random.default_rng(seed)
    predicted = np.where(noise.random(300) < share_wrong, noise.integers(3, size=300), truth)
    return Classes(truth, predicted, ("a", "b", "c"))


def measured(noise: float, seed: int) -> Numbers:
    """Numbers with some noise; the truth does not depend on the seed."""
    truth = np.random.default_rng(0).normal(size=300)
    return Numbers(truth, truth + noise * np.random.default_rng(seed).normal(size=300))


def tagged(share_wrong: float, seed: int) -> Tags:
    """Sentences of BIO tags, of which a share is drawn anew; the truth does not depend on the seed."""
    names, sentences, noise = ["O", "B-X", "I-X"], random.Random(0), random.Random(seed)
    truth = [sentences.choices(names, k=sentences.randint(1, 9)) for _ in range(120)]
    predicted = [
        [noise.choice(names) if noise.random() < share_wrong else tag for tag in tags] for tags in truth
    ]
    return Tags(truth, truth, predicted)


@pytest.mark.parametrize("make", [classified, measured, tagged])
def test_every_kind_of_outcome_can_be_compared(make):
    """H: a clear difference is found by every metric of every kind, a system never differs from itself."""
    for found in compare(make(0.05, 1), make(0.9, 2), 200):
        assert found.significant, found
        assert found.difference * METRICS[found.metric].direction < 0
    assert all(found.p == 1 for found in compare(make(0.3, 1), make(0.3, 1), 50))


@pytest.mark.parametrize("make", [classified, measured, tagged])
def test_chance_is_rarely_called_significant(make):
    """H: of many pairs of equally good systems, about one in twenty differs significantly."""
    called = [
        found.significant
        for seed in range(25)
        for found in compare(make(0.4, seed), make(0.4, 99 - seed), 100)
    ]
    assert sum(called) / len(called) < 0.12
