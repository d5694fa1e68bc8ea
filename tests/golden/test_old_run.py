"""Runs that an earlier version wrote still load, say the same, go on the same and can be looked into."""

import json
import shutil
from pathlib import Path

import pytest

import seq2see
from seq2see.training.log import read_log

HERE = Path(__file__).parent
OLD = HERE / "old_runs"
WORDS = ("bam", "dost", "feir", "gulm")


def tags(run: Path) -> list[str]:
    """The features of the words, where the run was trained with some."""
    return [f"N;{word[0]}" if run.name in ("features", "old_run") else "" for word in WORDS]


@pytest.mark.parametrize("run", [HERE / "old_run", *sorted(OLD.glob("*/"))], ids=lambda run: run.name)
def test_an_old_run_says_what_it_said(run: Path) -> None:
    model = seq2see.load(run, device="cpu")
    said = json.loads((run / "said.json").read_text())
    assert model(WORDS, tags(run)) == said["outputs"]
    triples = [(w, " ".join(w[::-1]), f) for w, f in zip(WORDS, tags(run), strict=True)]
    assert list(model.score(triples)) == pytest.approx(said["scores"], abs=1e-3)
    view = model.attention(WORDS[1], "t s o d", features=tags(run)[1])
    assert view.log_probability == pytest.approx(said["scores"][1], abs=1e-3)


@pytest.mark.parametrize("run", sorted(OLD.glob("*/")), ids=lambda run: run.name)
def test_an_old_run_goes_on_as_it_would_have(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    seq2see.train(OLD / "pairs.tsv", out=str(tmp_path / "run"), max_steps=90, resume=True)
    records = read_log(tmp_path / "run" / "metrics.jsonl")
    losses = [record["loss"] for record in records if "loss" in record and record["step"] > 80]
    assert losses == pytest.approx(json.loads((run / "said.json").read_text())["losses"], abs=1e-4)
