"""Tables of mistakes, and the figures of them."""

import numpy as np
import pytest

from seq2see.evaluation import Classes, Numbers
from seq2see.evaluation.confusion import Confusion, confusion, confusion_figure, scatter_figure


def outcome() -> Classes:
    """Cats are often taken for dogs, a dog once for a cat; birds do not occur."""
    truth = ["cat"] * 6 + ["dog"] * 4 + ["fish"]
    predicted = ["cat"] * 2 + ["dog"] * 4 + ["dog"] * 3 + ["cat"] + ["fish"]
    return Classes.named(truth, predicted, ["bird", "cat", "dog", "fish"])


def test_a_table_by_hand():
    """H: rows are true classes, columns predicted ones, and what does not occur is left out."""
    found = confusion(outcome())
    assert found.labels == ("cat", "dog", "fish")
    assert found.counts.tolist() == [[2, 4, 0], [1, 3, 0], [0, 0, 1]]


def test_the_most_frequent_mistake_comes_first():
    """H: what is right is no mistake; mistakes are sorted by how often they happen."""
    assert confusion(outcome()).mistakes() == [("cat", "dog", 4), ("dog", "cat", 1)]
    assert confusion(outcome()).mistakes(1) == [("cat", "dog", 4)]


def test_large_tables_are_reduced():
    """H: every example stays in the table, the classes with most mistakes keep their place."""
    draw = np.random.default_rng(1)
    counts = np.diag(draw.integers(50, 90, 30))
    counts[3, 17], counts[17, 4] = 40, 30
    small = Confusion(tuple(f"c{place}" for place in range(30)), counts).reduced(4)
    assert small.labels == ("c3", "c4", "c17", "other")
    assert small.counts.sum() == counts.sum()
    assert small.mistakes() == [("c3", "c17", 40), ("c17", "c4", 30)]


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_figures_are_files_that_do_not_change(kind, start):
    """H: the same outcome gives the same bytes, of the kind that was asked for."""
    numbers = Numbers(np.arange(5.0), np.arange(5.0) + 0.3)
    for make in (
        lambda: confusion_figure(outcome(), kind, "animals"),
        lambda: scatter_figure(numbers, kind),
    ):
        assert make().startswith(start)
        assert make() == make()


def test_a_number_that_never_changes_can_be_drawn():
    """H: equal numbers have room around them."""
    assert scatter_figure(Numbers(np.ones(3), np.ones(3))).startswith(b"\x89PNG")
