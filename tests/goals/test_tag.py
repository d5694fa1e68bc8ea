"""Tags: one for each word, whatever words are cut into, in several columns at once, and as spans."""

import json
from pathlib import Path
from typing import Any

import pytest

import seq2see as package
from seq2see.data.tasks import Task
from seq2see.workflow import Request, train

SMALL = ("model.width=32", "model.dropout=0", "training.evaluate_every=60", "training.batch_pairs=16")
TOKENS = ("model.front.kind=tokens", "model.encoder.kind=recurrent", "model.encoder.layers=1")


@pytest.mark.parametrize("kind", ["characters", "bpe", "words"])
def test_words_are_tagged_whatever_they_are_cut_into(tmp_path: Path, kind: str) -> None:
    """A tag for every word, and the rule is learnt: articles, nouns and verbs are told apart."""
    settings = (*SMALL, *TOKENS, f"text.source.kind={kind}", "training.learning_rate=0.01")
    if kind == "bpe":
        settings += ("text.source.size=290",)
    data = "task:pos-pattern:pairs=200:lengths=4-7"
    asked = Request(data, out=str(tmp_path / "run"), goal="tag", settings=settings, max_steps=120)
    best = train(asked, tell=lambda _: None).progress.best
    model = package.load(tmp_path / "run", device="cpu")
    assert best is not None and best["accuracy"] > 85
    sentence = "lo mimsy dax gorped ba wug snarfed"
    (tags,) = model([sentence])
    assert len(tags) == 7 and tags[0] == tags[4] == "DET" and tags[-1] == "VERB"
    assert model("lo dax gorped") == model(["lo dax gorped", sentence])[0], "neighbours change nothing"


def conll(path: Path, count: int = 60) -> Path:
    """Names of one or two words among others, as CoNLL-U with two columns of tags."""
    lines = []
    for place in range(count):
        words = ["Ann" if place % 2 else "Bob", *(["Lee"] if place % 3 == 0 else []), "sees", "Eve"]
        names = [word[0].isupper() for word in words]
        spans = [
            "O" if not name else "I-P" if at and names[at - 1] else "B-P" for at, name in enumerate(names)
        ]
        for at, (word, span) in enumerate(zip(words, spans, strict=True), 1):
            tag = "PROPN" if span != "O" else "VERB"
            lines.append(f"{at}\t{word}\t{word}\t{tag}\t{span}\t_\t0\t_\t_\t_")
        lines.append("")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_several_columns_and_spans(seq2see: Any, tmp_path: Path) -> None:
    """Two columns by one network; spans of the second are scored as spans, and each column has its floor."""
    data = conll(tmp_path / "a.conllu")
    said = seq2see(
        *("train", data, "--target", "xpos,upos", "--out", tmp_path / "run", "--max-steps", 60, "--json"),
        *(
            "--preset",
            "tagger-tiny",
            "--set",
            "training.learning_rate=0.01",
            "--set",
            "training.batch_pairs=16",
        ),
    )
    assert said.code == 0, said.err
    assert "goal: tag (several target columns" in said.err
    found = json.loads(seq2see("evaluate", tmp_path / "run", data, "--json").out)
    assert {"accuracy", "sentence_accuracy", "span_f1", "upos.accuracy"} <= set(found)
    assert "upos.span_f1" not in found, "no spans are tagged there"
    assert set(found["floor"]) - {"name"} == {key for key in found if "accuracy" in key or "span" in key}
    assert found["span_f1"] == 100
    model = package.load(tmp_path / "run", device="cpu")
    assert model("Ann Lee sees Eve") == {
        "xpos": ["B-P", "I-P", "O", "B-P"],
        "upos": ["PROPN", "PROPN", "VERB", "PROPN"],
    }
    table = seq2see("evaluate", tmp_path / "run", data).out
    assert "upos.accuracy" in table


def test_unseen_words_are_counted_apart(seq2see: Any, goal_runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_text("lo xyzzy\tDET NOUN\nlo dax\tDET NOUN\n")
    found = json.loads(seq2see("evaluate", goal_runs["tag"], tmp_path / "test.tsv", "--json").out)
    assert found["unseen_accuracy"] in (0, 100)
    assert found["floor"]["unseen_accuracy"] in (0, 100)


def test_a_tag_that_training_never_showed_counts_as_wrong(
    seq2see: Any, goal_runs: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "test.tsv").write_text("lo\tNEW\n")
    found = json.loads(seq2see("evaluate", goal_runs["tag"], tmp_path / "test.tsv", "--json").out)
    assert found["accuracy"] == 0
    assert seq2see("score", goal_runs["tag"], tmp_path / "test.tsv").out.strip() == "-inf"


def test_long_lines_emoji_and_odd_spaces(seq2see: Any, goal_runs: dict[str, Path], tmp_path: Path) -> None:
    """Ten thousand words are tagged; so are emoji; any number of spaces is one."""
    (tmp_path / "new.txt").write_text(" ".join(["lo dax gorped"] * 3400) + "\n😀 👩‍👩‍👧\n  lo   dax \n")
    said = seq2see("predict", goal_runs["tag"], tmp_path / "new.txt")
    assert said.code == 0
    assert [len(line.split()) for line in said.out.splitlines()] == [10_200, 2, 2]
    assert "far more than any in training" in said.err


def test_the_pattern_task_needs_its_neighbours() -> None:
    """The same stem has two tags, so that a list of words cannot reach everything."""
    rows = [line.decode().split("\t")[:2] for line in Task.parse("task:pos-pattern:pairs=300").lines()]
    tags: dict[str, set[str]] = {}
    for words, said in rows:
        for word, tag in zip(words.split(), said.split(), strict=True):
            tags.setdefault(word, set()).add(tag)
    assert any(found == {"NOUN", "VERB"} for found in tags.values())
    assert set().union(*tags.values()) == {"DET", "ADJ", "NOUN", "VERB"}
