"""Lines or sources: what counts once, chosen by what a file looks like, and said."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from seq2see import load
from seq2see.data import Pair
from seq2see.goals.text_values import counted_by
from seq2see.workflow import Request, train


def dictionary() -> list[tuple[str, str]]:
    """Some words have a second pronunciation; no line comes twice."""
    words = [f"{a}{b}{c}" for a in "bdgk" for b in "aeio" for c in "mnrst"]
    return [(word, " ".join(word)) for word in words] + [(word, " ".join(word) + " x") for word in words[::7]]


def running_text() -> list[tuple[str, str]]:
    """Old words with their new spelling as they come in a text: frequent ones again and again."""
    draw = random.Random(1)
    modern = {"vnd": "und", "jn": "in", "seyn": "sein", "thun": "tun", "nit": "nicht", "auff": "auf"}
    rare = [(f"wort{number}", f"wort{number}") for number in range(30)]
    rows = draw.choices([*modern.items()], k=80) + rare
    # An old word can stand for two new ones, in a text too.
    rows += [("jn", "ihn")] * 5
    draw.shuffle(rows)
    return rows


def examples(rows: list[tuple[str, str]]) -> list[Pair]:
    return [Pair(line, source, target, "") for line, (source, target) in enumerate(rows, 1)]


def test_what_a_file_looks_like() -> None:
    assert counted_by(examples(dictionary())) == "source"
    assert counted_by(examples(running_text())) == "line"
    assert counted_by(examples([("a", "b"), ("c", "d")])) == "source", (
        "where none comes again, it is the same"
    )


@pytest.fixture(scope="module")
def speller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model that spells words out, badly."""
    folder = tmp_path_factory.mktemp("speller")
    (folder / "a.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in dictionary()))
    settings = ("model.width=16", "training.batch_pairs=16", "training.evaluate_every=10")
    asked = Request(
        str(folder / "a.tsv"), out=str(folder / "run"), preset="rnn", settings=settings, max_steps=10
    )
    train(asked, tell=lambda _: None)
    return folder / "run"


def written(path: Path, rows: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows))
    return path


@pytest.mark.parametrize("by", [None, "line", "source"])
@pytest.mark.parametrize("kind", [dictionary, running_text])
def test_evaluate_says_how_it_counts(
    seq2see: Any, speller: Path, tmp_path: Path, kind: Any, by: str | None
) -> None:
    rows = kind()
    file = written(tmp_path / "test.tsv", rows)
    asked = ("--by", by) if by else ()
    found = json.loads(seq2see("evaluate", speller, file, "--json", *asked).out)
    expected = by or ("source" if kind is dictionary else "line")
    assert found["by"] == expected
    assert found["sources"] == (len(rows) if expected == "line" else len({source for source, _ in rows}))
    said = " ".join(seq2see("evaluate", speller, file, *asked).out.split())  # a title may be folded
    assert ("each line counts" in said) == (expected == "line")
    assert ("counts once, any of its targets is right" in said) == (expected == "source")


def test_compare_counts_alike(seq2see: Any, speller: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "test.tsv", running_text())
    for asked, by in (((), "line"), (("--by", "source"), "source")):
        found = json.loads(seq2see("compare", speller, speller, file, "--json", *asked).out)
        assert found["by"] == by


def test_frequent_words_weigh_by_line_alone(seq2see: Any, speller: Path, tmp_path: Path) -> None:
    """A word that is right nine times is nine of ten lines, and one of two sources."""
    (tmp_path / "word.txt").write_text("bam\n")
    said = seq2see("decode", speller, tmp_path / "word.txt").out.rstrip("\n")
    file = written(tmp_path / "test.tsv", [("bam", said or "?")] * 9 + [("xyz", "never right")])
    right = bool(said)
    for by, share in (("line", 90.0), ("source", 50.0)):
        found = json.loads(seq2see("evaluate", speller, file, "--json", "--by", by).out)
        assert found["exact"] == (share if right else 0)


@pytest.mark.parametrize(("kind", "said"), [(dictionary, "counts once"), (running_text, "each line counts")])
def test_training_says_how_its_dev_set_counts(tmp_path: Path, kind: Any, said: str) -> None:
    told: list[str] = []
    data, dev = written(tmp_path / "a.tsv", dictionary()), written(tmp_path / "dev.tsv", kind())
    asked = Request(
        str(data),
        dev=str(dev),
        out=str(tmp_path / "run"),
        preset="rnn",
        settings=("model.width=8",),
        max_steps=1,
    )
    train(asked, tell=told.append)
    (line,) = [line for line in told if line.startswith("dev scores: ")]
    assert said in line and "repeat a source" in line


@pytest.mark.parametrize("by", ["line", "source"])
def test_training_counts_as_it_is_asked(seq2see: Any, tmp_path: Path, by: str) -> None:
    data, dev = written(tmp_path / "a.tsv", dictionary()), written(tmp_path / "dev.tsv", running_text())
    asked = ("train", data, "--dev", dev, "--out", tmp_path / "run", "--preset", "rnn", "--max-steps", 1)
    said = seq2see(*asked, "--set", "model.width=8", "--by", by)
    assert said.code == 0, said.err
    assert ("dev scores: each line counts" in said.err) == (by == "line")
    model = load(tmp_path / "run", device="cpu")
    rows = examples(running_text())
    assert len(model.outcome(rows)) == (len(rows) if by == "line" else len({one.source for one in rows}))
