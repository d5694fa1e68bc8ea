"""What `check` finds in files of classes, numbers and tags, with line numbers."""

import json
from pathlib import Path
from typing import Any

import pytest

from seq2see.data.reading_tasks import _PAIRS
from seq2see.data.tasks import Task


def lines(kind: str) -> list[str]:
    """A good file of a kind."""
    if kind == "classify":
        return [f"text {row}\t{'good' if row % 3 else 'bad'}" for row in range(60)]
    if kind == "regress":
        return [f"text {row}\t{20 + row % 7 + row / 100:.2f}" for row in range(60)]
    return [f"the dog{row} runs{row} and{row}\tDET NOUN VERB CONJ" for row in range(60)]


ODD = {
    # name: goal, line 10 of the file, the kind of problem, what is said, and the line
    "a typo": ("classify", "text\tgodo", "label typo", "", 10),
    "another case": ("classify", "text\tGood", "label typo", "looks like 'good'", 10),
    "a rare label": ("classify", "text\trarely", "rare label", "'rarely' stands there 1 time", 10),
    "an outlier": ("regress", "text\t2000", "outlier", "2000", 10),
    "no number": ("regress", "text\tmany", "not a number", "'many'", 10),
    "a tag too few": ("tag", "the dog\tDET", "words and tags", "2 words and 1 tag", 10),
    "a typo of a tag": ("tag", "the dog\tDET NOUM", "tag typo", "looks like 'NOUN'", 10),
    "no tag": ("tag", "the dog\t", "empty side", "the target is empty", 10),
}


@pytest.mark.parametrize("name", ODD)
def test_slips_are_found(seq2see: Any, tmp_path: Path, name: str) -> None:
    goal, line, kind, said, number = ODD[name]
    text = lines(goal)
    text.insert(9, line.replace("godo", "goodd"))
    (tmp_path / "a.tsv").write_text("\n".join(text) + "\n")
    found = json.loads(seq2see("check", tmp_path / "a.tsv", "--json", "--goal", goal).out)
    problems = [one for one in found["files"][0]["problems"] if one[1] == kind]
    assert [one[0] for one in problems] == [number], found["files"][0]["problems"]
    assert said in problems[0][2]


@pytest.mark.parametrize("goal", ["classify", "regress", "tag"])
def test_a_good_file_has_no_problems(seq2see: Any, tmp_path: Path, goal: str) -> None:
    (tmp_path / "a.tsv").write_text("\n".join(lines(goal)) + "\n")
    said = seq2see("check", tmp_path / "a.tsv", "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert found["goal"] == goal
    assert found["files"][0]["problems"] == []


def test_the_balance_is_said(seq2see: Any, tmp_path: Path) -> None:
    expected = {
        "classify": "2 distinct labels: good 40 (66.7%), bad 20 (33.3%)",
        "regress": "numbers from 20 to 26.55, half of them below 23",
        "tag": "4 distinct tags: DET 60 (25.0%)",
    }
    for goal, said in expected.items():
        (tmp_path / "a.tsv").write_text("\n".join(lines(goal)) + "\n")
        assert said in seq2see("check", tmp_path / "a.tsv").out


def test_lopsided_labels(seq2see: Any, tmp_path: Path) -> None:
    rows = [f"text {row}\t{'rare' if row % 50 == 0 else 'common'}" for row in range(400)]
    (tmp_path / "a.tsv").write_text("\n".join(rows) + "\n")
    said = seq2see("check", tmp_path / "a.tsv").out
    assert "lopsided labels" in said and "98.0% of all are 'common'" in said and "class_weights=true" in said


def rows_of(name: str) -> list[list[str]]:
    """Sources and targets of a task."""
    return [line.decode().split("\t")[:2] for line in Task.parse(name).lines()]


def test_the_tasks_keep_their_rules() -> None:
    """Each by another way of saying it, and both classes often."""
    parity = rows_of("task:parity:pairs=200")
    assert all((source.split().count("1") % 2 == 1) == (label == "odd") for source, label in parity)
    counts = rows_of("task:count:pairs=200")
    assert all(float(value) == sum({"a": 1, "b": 0.5}.get(one, 0) for one in text) for text, value in counts)
    found = []
    for source, label in rows_of("task:brackets:pairs=200"):
        rest = source.replace(" ", "")
        while any(pair in rest for pair in _PAIRS):
            for pair in _PAIRS:
                rest = rest.replace(pair, "")
        found.append(label == "closed")
        assert (rest == "") == found[-1], source
    assert 0.3 < sum(found) / len(found) < 0.7
