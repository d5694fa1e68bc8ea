"""Numbers: standardised inside, with intervals that hold."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seq2see
from seq2see.data import Pair
from seq2see.evaluation import Numbers
from seq2see.workflow import Request, train

SETTINGS = (
    *("model.width=16", "model.dropout=0", "training.evaluate_every=20", "training.batch_pairs=16"),
    *("text.source.kind=characters", "training.average=0"),
)


def numbers(path: Path, scale: float, shift: float) -> Path:
    """How many a a text has, in another unit."""
    texts = ["a" * (place % 7) + "bc" * (1 + place % 3) for place in range(120)]
    path.write_text("".join(f"{text}\t{text.count('a') * scale + shift!r}\n" for text in texts))
    return path


def test_another_unit_changes_nothing_but_the_unit(tmp_path: Path) -> None:
    """H: targets times 4 plus 32 give predictions times 4 plus 32, and intervals four times as wide."""
    texts, found = ["aab", "cab", "aaaabcbc"], []
    for name, scale, shift in (("one", 1.0, 0.0), ("other", 4.0, 32.0)):
        data = numbers(tmp_path / f"{name}.tsv", scale, shift)
        request = Request(
            str(data), out=str(tmp_path / name), preset="reader-rnn", goal="regress", max_steps=40
        )
        request = Request(**{**vars(request), "settings": SETTINGS})
        train(request, tell=lambda _: None)
        found.append(seq2see.load(tmp_path / name, device="cpu").predict(texts))
    for one, other in zip(*found, strict=True):
        assert other.value == pytest.approx(4 * one.value + 32, rel=1e-4)
        assert other.high - other.low == pytest.approx(4 * (one.high - one.low), rel=1e-3)


def test_intervals_hold_nine_of_ten_dev_targets(goal_runs: dict[str, Path]) -> None:
    kept = json.loads((goal_runs["regress"] / "calibration.json").read_text())
    assert kept["interval"] > 0 and kept["interval_share"] == 0.9
    model = seq2see.load(goal_runs["regress"], device="cpu")
    (one,) = model.predict(["abba"])
    assert one.high - one.low == pytest.approx(2 * kept["interval"])


def test_a_constant_guess_is_no_correlation(goal_runs: dict[str, Path]) -> None:
    """H: scores of an outcome that says one number are numbers, or not given."""
    from seq2see.evaluation import score

    found = score(Numbers(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])))
    assert found["r2"] == pytest.approx(0)


def test_an_empty_text_has_no_number(goal_runs: dict[str, Path]) -> None:
    model = seq2see.load(goal_runs["regress"], device="cpu")
    assert model(["", "ab"])[0] is None
    outcome = model.outcome([Pair(1, "abc", "1.5", "")])
    assert isinstance(outcome, Numbers) and outcome.truth.tolist() == [1.5]


def test_predict_needs_the_further_columns(seq2see: Any, tmp_path: Path) -> None:
    """A line without its number is told of and left empty; the others are answered."""
    lines = [f"{'a' * (place % 5)}b\t{place % 5 + place / 100}\t{place}" for place in range(60)]
    (tmp_path / "a.tsv").write_text("text\ttm\togt\n" + "\n".join(lines) + "\n")
    said = seq2see(
        *("train", tmp_path / "a.tsv", "--source", "text", "--target", "tm", "--numbers", "ogt"),
        *("--out", tmp_path / "run", "--preset", "reader-rnn", "--max-steps", 2, "--set", "model.width=16"),
    )
    assert said.code == 0, said.err
    (tmp_path / "new.tsv").write_text("text\togt\nab\t5\naab\t\naaab\t7\n")
    said = seq2see("predict", tmp_path / "run", tmp_path / "new.tsv")
    assert said.code == 1
    assert "line 3: not a number" in said.err and "'ogt'" in said.err
    answers = said.out.splitlines()
    assert len(answers) == 3 and answers[1] == "" and answers[0] and answers[2]
    (tmp_path / "bare.tsv").write_text("text\nab\n")
    said = seq2see("predict", tmp_path / "run", tmp_path / "bare.tsv")
    assert said.code == 2 and "no column 'ogt'" in said.err
