"""The table of metrics: parity with scikit-learn, scipy and seqeval, and rows that say what is true."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import seqeval.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn import metrics as reference

from seq2see.errors import SettingsError
from seq2see.evaluation import (
    METRICS,
    Captions,
    Classes,
    Example,
    Foretold,
    LabelSets,
    Numbers,
    Outcome,
    Tags,
    Texts,
    metrics_for,
    score,
)
from seq2see.evaluation.tags import spans

SEEDS = range(12)


def classes(seed: int) -> Classes:
    """Random classes, some of which may not occur."""
    draw = np.random.default_rng(seed)
    count, size = int(draw.integers(2, 8)), int(draw.integers(5, 60))
    probabilities = draw.dirichlet(np.ones(count), size)
    truth = draw.integers(count, size=size)
    return Classes(truth, probabilities.argmax(1), tuple("abcdefgh"[:count]), probabilities)


@pytest.mark.parametrize("seed", SEEDS)
def test_classes_as_scikit_learn(seed):
    """H: accuracy, macro F1 and Matthews' correlation are those of scikit-learn."""
    outcome = classes(seed)
    found = score(outcome)
    assert list(found) == ["accuracy", "macro_f1", "mcc", "ece"]
    given = outcome.truth, outcome.predicted
    assert found["accuracy"] == pytest.approx(100 * reference.accuracy_score(*given))
    assert found["macro_f1"] == pytest.approx(100 * reference.f1_score(*given, average="macro"))
    assert found["mcc"] == pytest.approx(reference.matthews_corrcoef(*given), abs=1e-12)
    labels = range(len(outcome.labels))
    assert (outcome.table() == reference.confusion_matrix(*given, labels=labels)).all()


def test_one_class_for_all_has_no_correlation():
    """H: a majority class has a Matthews' correlation of 0, as in scikit-learn."""
    outcome = Classes(np.array([0, 0, 1]), np.array([0, 0, 0]), ("a", "b"))
    assert score(outcome)["mcc"] == reference.matthews_corrcoef(outcome.truth, outcome.predicted) == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_label_sets_as_scikit_learn(seed):
    """H: micro and macro F1 and subset accuracy are those of scikit-learn."""
    draw = np.random.default_rng(seed)
    truth, predicted = draw.random((2, 30, 4)) < 0.4
    found = score(LabelSets(truth, predicted, tuple("abcd")))
    assert list(found) == ["subset_accuracy", "micro_f1", "macro_f1"]
    assert found["subset_accuracy"] == pytest.approx(100 * reference.accuracy_score(truth, predicted))
    for average in ("micro", "macro"):
        expected = 100 * reference.f1_score(truth, predicted, average=average)
        assert found[f"{average}_f1"] == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_as_scikit_learn(seed):
    """H: errors, explained variance and the correlation of ranks are those of scikit-learn and scipy."""
    draw = np.random.default_rng(seed)
    truth = draw.normal(size=50).round(1)  # with ties
    outcome = Numbers(truth, (truth + draw.normal(size=50)).round(1))
    found, given = score(outcome), (outcome.truth, outcome.predicted)
    assert list(found) == ["rmse", "mae", "r2", "spearman"]
    assert found["rmse"] == pytest.approx(reference.root_mean_squared_error(*given))
    assert found["mae"] == pytest.approx(reference.mean_absolute_error(*given))
    assert found["r2"] == pytest.approx(reference.r2_score(*given))
    assert found["spearman"] == pytest.approx(spearmanr(*given).statistic)


PREFIXED = st.sampled_from(["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"])
SENTENCES = st.lists(st.lists(st.tuples(PREFIXED, PREFIXED), min_size=1, max_size=12), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(SENTENCES)
def test_spans_as_seqeval(sentences):
    """H: whatever the tags, well formed or not, span F1 and accuracy are those of seqeval."""
    truth, predicted = ([[pair[side] for pair in sentence] for sentence in sentences] for side in (0, 1))
    outcome = Tags(truth, truth, predicted)
    entities = [
        (kind, start, end + 1)
        for kind, start, end in seqeval.metrics.sequence_labeling.get_entities(truth[0])
    ]
    assert spans(truth[0]) == entities
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval's, where there is no span
        expected = 100 * seqeval.metrics.f1_score(truth, predicted)
    found = score(outcome)
    assert found["accuracy"] == pytest.approx(100 * seqeval.metrics.accuracy_score(truth, predicted))
    if any(tag != "O" for tags in truth for tag in tags):
        assert found["span_f1"] == pytest.approx(expected)
    else:
        assert "span_f1" not in found


def test_spans_by_hand():
    """H: a span needs no B, and another type ends it."""
    assert spans(["O", "B-A", "I-A", "O", "I-A", "B-A"]) == [("A", 1, 3), ("A", 4, 5), ("A", 5, 6)]
    assert spans(["I-A", "I-B", "E-B", "I-B", "S-B", "I-B"]) == [
        ("A", 0, 1),
        ("B", 1, 3),
        ("B", 3, 4),
        ("B", 4, 5),
        ("B", 5, 6),
    ]


def test_tags_by_hand():
    """H: words count once each, unseen ones by themselves; spans only where tags draw them."""
    outcome = Tags(
        [["the", "cat", "sat"], ["Zog"]],
        [["D", "N", "V"], ["N"]],
        [["D", "N", "N"], ["N"]],
        frozenset({"the", "sat"}),
    )
    assert score(outcome) == pytest.approx({"accuracy": 75, "unseen_accuracy": 100, "sentence_accuracy": 50})
    nothing_unseen = Tags(
        outcome.words, outcome.truth, outcome.predicted, frozenset({"the", "cat", "sat", "Zog"})
    )
    assert metrics_for(nothing_unseen) == ["accuracy", "sentence_accuracy"]
    assert metrics_for(Tags(outcome.words, outcome.truth, outcome.predicted)) == [
        "accuracy",
        "sentence_accuracy",
    ]


BETTER_AND_WORSE: list[tuple[Outcome, Outcome]] = [
    (
        Captions(
            [Example("1", "a dog", ("a dog",)), Example("2", "one cat sits here", ("one cat sits here",))],
            "words",
        ),
        Captions(
            [Example("1", "a cat", ("a dog",)), Example("2", "one dog runs", ("one cat sits here",))], "words"
        ),
    ),
    (
        Texts([Example("s", "one two three four five", ("one two three four five",))], "characters"),
        Texts([Example("s", "one four five six three", ("one two three four five",))], "characters"),
    ),
    (
        Classes(np.array([0, 1, 1, 0]), np.array([0, 1, 1, 0]), ("a", "b"), np.eye(2)[[0, 1, 1, 0]]),
        Classes(np.array([0, 1, 1, 0]), np.array([0, 0, 0, 0]), ("a", "b"), np.eye(2)[[0, 0, 0, 0]]),
    ),
    (
        LabelSets(np.eye(3, dtype=bool), np.eye(3, dtype=bool), tuple("abc")),
        LabelSets(np.eye(3, dtype=bool), np.eye(3, dtype=bool)[[0, 0, 0]], tuple("abc")),
    ),
    (
        Numbers(np.array([1.0, 2, 3]), np.array([1.0, 2, 3.1])),
        Numbers(np.array([1.0, 2, 3]), np.array([1.0, 5, 3.1])),
    ),
    (
        Tags([["a", "b"]], [["B-X", "I-X"]], [["B-X", "I-X"]], frozenset()),
        Tags([["a", "b"]], [["B-X", "I-X"]], [["B-X", "O"]], frozenset()),
    ),
    (
        Foretold(np.array([1.0, 2.0]), np.array([1, 2]), np.array([4, 4])),
        Foretold(np.array([1.5, 2.0]), np.array([1, 2]), np.array([4, 4])),
    ),
]


def test_every_row_has_the_right_direction():
    """H: a better outcome scores better, by every metric there is."""
    tried = set()
    for better, worse in BETTER_AND_WORSE:
        for name, value in score(better).items():
            tried.add(name)
            assert (value - score(worse)[name]) * METRICS[name].direction > 0, name
    assert tried == set(METRICS)


def test_every_row_says_what_it_is():
    """H: each has its name, a meaning of one line, a unit, and a goal."""
    for name, row in METRICS.items():
        assert row.name == name
        assert 10 < len(row.meaning) < 90
        assert "\n" not in row.meaning
        assert row.unit in ("%", "")
        assert row.goals
        assert set(row.goals) <= {"generate", "classify", "regress", "tag", "complete", "fill"}


def test_the_documentation_has_the_same_table():
    """H: docs/evaluation.md says of every metric what its row says."""
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("| `")]
    assert shown == [
        f"| `{row.name}` | {', '.join(row.goals)} | {row.unit} "
        f"| {'more' if row.higher_is_better else 'less'} | {row.meaning} |"
        for row in METRICS.values()
    ]


def test_parts_add_up_to_the_score():
    """H: where a metric is a ratio, its parts give it, so draws of them give that of draws."""
    for outcome, _ in BETTER_AND_WORSE:
        rows = np.random.default_rng(1).integers(len(outcome), size=5)
        for name in metrics_for(outcome):
            row = METRICS[name]
            if row.parts is not None:
                part, whole = row.parts(outcome)[rows].sum(0)
                expected = part / whole * (100 if row.unit else 1)
                assert score(outcome.draw(rows), [name])[name] == pytest.approx(expected)


def test_draws_keep_what_belongs_together():
    """H: drawing all examples in another order changes no score."""
    for _, outcome in BETTER_AND_WORSE:
        order = np.arange(len(outcome))[::-1]
        assert score(outcome.draw(order)) == pytest.approx(score(outcome))


def test_names_that_cannot_be():
    """H: an unknown name gets a hint, one of another goal the names that fit."""
    outcome = Numbers(np.array([1.0]), np.array([2.0]))
    with pytest.raises(SettingsError, match="did you mean 'rmse'"):
        score(outcome, ["rsme"])
    with pytest.raises(SettingsError, match="choose from rmse, mae, r2, spearman"):
        score(outcome, ["bleu"])
    with pytest.raises(SettingsError, match="loss is no score"):
        score(outcome, ["loss"])
    assert score(Numbers(np.array([]), np.array([]))) == {}


def test_classes_by_name():
    """H: a class that the model does not know is wrong, and has no probability."""
    outcome = Classes.named(["x", "new", "y"], ["x", "y", "y"], ["x", "y"], np.full((3, 2), 0.5))
    assert outcome.labels == ("x", "y", "new")
    assert score(outcome)["accuracy"] == pytest.approx(200 / 3)
