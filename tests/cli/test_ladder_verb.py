"""The verb `ladder` from the command line to the figure."""

import json
from pathlib import Path
from typing import Any

import pytest

Command = Any
SMALL = [
    word
    for setting in ("model.width=16", "training.batch_pairs=16", "training.dev_examples=4")
    for word in ("--set", setting)
]
TASK = "task:copy:lengths=2-4:pairs=200"


@pytest.fixture
def climb(seq2see: Command, tmp_path: Path):
    """The verb with little to do."""

    def run(*words: object, data: object = TASK, presets: str = "rnn,rnn-attention"):
        given = ("--presets", presets, "--out", tmp_path / "runs", "--max-steps", 3)
        return seq2see("ladder", data, *given, *SMALL, *words)

    return run


def test_two_models_and_two_seeds(climb: Command, tmp_path: Path) -> None:
    """A5: the table is printed and kept beside the figure; a second time nothing is trained."""
    said = climb("--seeds", "1,2")
    assert said.code == 0, said.err
    lines = [line for line in said.out.splitlines() if line.strip()]
    assert any(line.split()[:1] == ["rnn"] for line in lines)
    assert any(line.split()[:1] == ["rnn-attention"] for line in lines)
    assert "means of 2 seeds; exact on held-out examples" in said.out
    assert "ladder.png" in said.err
    folder = tmp_path / "runs"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("ladder.json", "ladder.md", "ladder.png", "ladder.svg"),
        *("rnn-1", "rnn-2", "rnn-attention-1", "rnn-attention-2"),
    ]
    assert len((folder / "ladder.png").read_bytes()) > 10_000
    kept = {name: (folder / name).read_bytes() for name in ("ladder.md", "ladder.json", "ladder.svg")}
    logs = {path: path.read_bytes() for path in folder.glob("*/metrics.jsonl")}
    assert len(logs) == 4
    again = climb("--seeds", "1,2")
    assert again.code == 0, again.err
    assert again.out == said.out
    assert kept == {name: (folder / name).read_bytes() for name in kept}
    assert logs == {path: path.read_bytes() for path in logs}


def test_json_is_the_table_for_programs(climb: Command, tmp_path: Path) -> None:
    """A5: --json gives what ladder.json holds, and a file of pairs can be climbed on too."""
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{a}{b}{c}\t{c}{b}{a}\n" for a in "abcde" for b in "xyz" for c in "klmn"))
    said = climb("--json", data=data, presets="rnn")
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found == json.loads((tmp_path / "runs" / "ladder.json").read_text())
    (rung,) = found["rungs"]
    assert (rung["preset"], rung["seed"], rung["steps"]) == ("rnn", 1, 3)
    assert {(one["shortest"], one["longest"]) for one in rung["buckets"]} == {(3, 3)}


def test_a_budget_of_tokens_is_for_each(climb: Command, tmp_path: Path) -> None:
    """H: --max-tokens ends each model at the same number of tokens."""
    said = climb("--max-steps", 100, "--max-tokens", 150, "--json")
    assert said.code == 0, said.err
    steps = {rung["preset"]: rung["steps"] for rung in json.loads(said.out)["rungs"]}
    assert set(steps) == {"rnn", "rnn-attention"}
    assert all(1 < count < 6 for count in steps.values())


def test_a_misspelt_preset_is_told_before_training(climb: Command, tmp_path: Path) -> None:
    """H: the last name is read before the first model is trained."""
    said = climb(presets="rnn,rnn-atention")
    assert said.code == 2
    assert "no preset 'rnn-atention'; did you mean 'rnn-attention'" in said.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("seeds", ["1,x", "", "1,1", "-1", "1;2"])
def test_bad_seeds_are_refused(climb: Command, tmp_path: Path, seeds: str) -> None:
    """H: seeds are different numbers with commas between."""
    said = climb(f"--seeds={seeds}")
    assert said.code == 2
    assert f"--seeds {seeds!r} should be different numbers" in said.err
    assert not (tmp_path / "runs").exists()
