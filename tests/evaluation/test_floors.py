"""Simple rules on data where what they reach is known."""

import random
import time

import numpy as np
import pytest

from seq2see.evaluation import Captions, Classes, Foretold, LabelSets, Numbers, Tags, Texts, score
from seq2see.evaluation.floors import FLOORS, Known, best_floor, floors

WORDS = ["good", "bad", "film", "actor", "story", "plot", "scene", "great", "awful", "dull"]


def reviews(count: int, seed: int) -> Known:
    """Texts whose class is told by one word; two in three are positive."""
    draw = random.Random(seed)
    truth = [draw.choice(["pos", "pos", "neg"]) for _ in range(count)]
    texts = [
        " ".join([*draw.choices(WORDS[2:7], k=6), "great" if label == "pos" else "awful"]) for label in truth
    ]
    return Known(texts, truth)


def test_classes():
    """H: the majority has its share, a word that tells the class is found."""
    found = floors(Classes, reviews(300, 1), reviews(200, 2))
    share = 100 * reviews(200, 2).truth.count("pos") / 200
    assert score(found["majority"])["accuracy"] == pytest.approx(share)
    assert score(found["logistic regression"])["accuracy"] > 99
    assert best_floor(Classes, reviews(300, 1), reviews(200, 2))[0] == "logistic regression"
    assert score(found["majority"])["ece"] < 10


def test_one_class_only():
    """H: training texts of a single class give that class, with a test class that training never showed."""
    train, test = Known(["a b", "c d"], ["x", "x"]), Known(["a b", "e"], ["x", "new"])
    for outcome in floors(Classes, train, test).values():
        assert score(outcome)["accuracy"] == 50


def test_label_sets():
    """H: labels that words tell are found; one that all examples have, or none has, does no harm."""
    draw = random.Random(1)

    def made(count: int) -> Known:
        texts = [" ".join(draw.sample(WORDS, 4)) for _ in range(count)]
        return Known(texts, [{"all", *({"good", "dull"} & set(text.split()))} for text in texts])

    train, test = made(300), made(100)
    found = floors(LabelSets, train, test)
    assert score(found["logistic regression"])["subset_accuracy"] > 95
    assert score(found["logistic regression"])["micro_f1"] > score(found["majority"])["micro_f1"]


def proteins(count: int, seed: int) -> Known:
    """A number that is the share of one letter plus an extra number, and a little noise."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices("ABCD", weights=[draw.random(), 1, 1, 1], k=120)) for _ in range(count)]
    extra = np.array([[draw.random()] for _ in texts])
    truth = [
        10 * text.count("A") / 120 + more[0] + draw.gauss(0, 0.05)
        for text, more in zip(texts, extra, strict=True)
    ]
    return Known(texts, truth, extra)


def test_numbers():
    """H: the mean explains nothing; shares of letters and extra numbers explain nearly all."""
    train, test = proteins(400, 1), proteins(100, 2)
    scores = {name: score(outcome)["r2"] for name, outcome in floors(Numbers, train, test).items()}
    assert scores["mean"] == pytest.approx(0, abs=0.05)
    assert scores["ridge"] > 0.8
    assert scores["boosted trees"] > 0.9
    alone = floors(Numbers, Known(train.inputs, train.truth), Known(test.inputs, test.truth))
    assert score(alone["boosted trees"])["r2"] < scores["boosted trees"]
    assert best_floor(Numbers, train, test)[0] == "boosted trees"
    assert best_floor(Numbers, train, test, "spearman")[0] != "mean"


def test_missing_numbers():
    """H: a number that is missing is no obstacle."""
    train, test = proteins(60, 1), proteins(20, 2)
    train.numbers[::7] = np.nan
    test.numbers[::5] = np.nan
    for outcome in floors(Numbers, train, test).values():
        assert np.isfinite(outcome.predicted).all()


def test_tags():
    """H: a word gets its most frequent tag, an unseen one the most frequent of all."""
    train = Known([["the", "run", "run"], ["run", "the", "a"]], [["D", "N", "V"], ["V", "D", "D"]])
    test = Known([["the", "run", "fox"]], [["D", "N", "N"]])
    outcome = floors(Tags, train, test)["most frequent tag"]
    assert outcome.predicted == [["D", "V", "D"]]
    assert outcome.known == frozenset({"the", "run", "a"})


def test_texts():
    """H: a source that training showed gets its most frequent target, another one is copied."""
    train = Known(["a", "a", "a", "b"], [("x",), ("y",), ("y",), ("z",)])
    test = Known(["a", "b", "c"], [("y",), ("z",), ("c",)], unit="symbols")
    found = floors(Texts, train, test)
    assert score(found["most frequent target"]) == {"exact": 100, "wer": 0, "ser": 0}
    assert score(found["copy"])["exact"] == pytest.approx(100 / 3)
    assert best_floor(Texts, train, test)[0] == "most frequent target"


def test_floors_are_seeded():
    """H: the same seed gives the same outcome."""
    first, again = (floors(Classes, reviews(80, 1), reviews(40, 2))["logistic regression"] for _ in range(2))
    assert (first.probabilities == again.probabilities).all()


def test_large_training_sets_are_sampled():
    """H: a training set of any size is worked through in bounded time, from all its parts."""
    count = 200_000
    train = Known(["a good film"] * count, ["early"] * (count // 2) + ["late"] * (count // 2))
    start = time.process_time()
    found = floors(Classes, train, Known(["a good film"], ["late"]))
    assert time.process_time() - start < 20
    assert set(found["majority"].labels) == {"early", "late"}
    assert found["majority"].probabilities[0] == pytest.approx([0.5, 0.5])


def test_every_kind_of_outcome_has_a_floor():
    """H: what can be scored has something to be compared with."""
    assert set(FLOORS) == {Texts, Captions, Classes, LabelSets, Numbers, Tags, Foretold}
    assert all(FLOORS.values())


def test_pairs_of_characters_by_hand():
    """H: what was seen twice, and what never; nats of characters are divided among the model's own tokens."""
    train, test = Known(["ab", "ab"], ["ab", "ab"]), Known(["ab", "ac"], [(1, 2), (3, 2)])
    seen, unseen = (2 + 3 / 7) / 3, (0 + 1 / 7) / 3
    found = floors(Foretold, train, test)["pairs of characters"]
    assert found.nats == pytest.approx([-2 * np.log(seen), -np.log(seen) - np.log(unseen)])
    scores = score(found)
    assert scores["loss"] == pytest.approx(found.nats.sum() / 4)
    assert scores["bits_per_character"] == pytest.approx(found.nats.sum() / np.log(2) / 4)
