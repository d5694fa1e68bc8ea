"""Every verb for every goal, through the command line: from training to resuming."""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from compared import Killed, same
from goal_runs import GOALS, TESTS

from seq2see.training import Trainer
from seq2see.workflow import Request, train

Command = Any
KEYS = {
    "classify": {"accuracy", "macro_f1", "mcc", "ece"},
    "regress": {"rmse", "mae", "r2", "spearman"},
    "tag": {"accuracy", "sentence_accuracy"},
}
each_goal = pytest.mark.parametrize("goal", KEYS)


@each_goal
def test_the_words_that_scripts_count_on(seq2see: Command, goal_runs: dict[str, Path], goal: str) -> None:
    said = seq2see("evaluate", goal_runs[goal], TESTS[goal], "--json")
    found = json.loads(said.out)
    assert KEYS[goal] <= set(found)
    assert set(found) - KEYS[goal] == {"floor", "sources", "by", "worst"}
    assert set(found["floor"]) == KEYS[goal] | {"name"}
    assert isinstance(found["floor"]["name"], str)
    assert found["sources"] == int(TESTS[goal].split("pairs=")[1].split(":")[0])
    shares = KEYS[goal] & {"accuracy", "macro_f1", "sentence_accuracy", "ece"}
    assert all(0 <= found[key] <= 100 for key in shares)


@each_goal
def test_evaluate_for_people(seq2see: Command, goal_runs: dict[str, Path], goal: str, tmp_path: Path) -> None:
    figure = tmp_path / "drawn.svg"
    said = seq2see("evaluate", goal_runs[goal], TESTS[goal], "--figure", figure, "--worst", 3)
    assert said.code == 0
    assert f"examples of {TESTS[goal]}" in said.out
    assert all(key in said.out for key in KEYS[goal])
    assert "floor: " in said.out
    assert figure.read_bytes().startswith(b"<?xml")


@each_goal
def test_without_a_floor(seq2see: Command, goal_runs: dict[str, Path], goal: str) -> None:
    found = json.loads(seq2see("evaluate", goal_runs[goal], TESTS[goal], "--json", "--no-floor").out)
    assert found["floor"] is None


ASKED = {"classify": "1 0 1\n\n0\n", "regress": "abba\n\nhhh\n", "tag": "lo dax gorped\n\nba wug\n"}


@pytest.mark.parametrize("verb", ["predict", "decode"])
@each_goal
def test_predict_line_by_line(
    seq2see: Command, goal_runs: dict[str, Path], goal: str, verb: str, tmp_path: Path
) -> None:
    """An answer for every line, an empty one for an empty line."""
    (tmp_path / "new.txt").write_text(ASKED[goal])
    plain = seq2see(verb, goal_runs[goal], tmp_path / "new.txt").out.splitlines()
    assert len(plain) == 3 and plain[1] == "" and plain[0] and plain[2]
    detailed = seq2see(verb, goal_runs[goal], tmp_path / "new.txt", "--probabilities").out.splitlines()
    assert [line.split("\t")[0] for line in detailed] == plain
    objects = [
        json.loads(line)
        for line in seq2see(verb, goal_runs[goal], tmp_path / "new.txt", "--json").out.splitlines()
    ]
    assert [one["line"] for one in objects] == [1, 2, 3]
    fields = detailed[0].split("\t")[1:]
    if goal == "classify":
        chances = dict(field.split("=") for field in fields)
        assert set(chances) == {"even", "odd"}
        assert sum(map(float, chances.values())) == pytest.approx(1, abs=1e-3)
        assert sum(objects[0]["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert float(chances[plain[0]]) >= 0.5
    elif goal == "regress":
        low, high = map(float, fields)
        assert low < float(plain[0]) < high
        assert objects[0]["low"] == pytest.approx(low, rel=1e-4)
    else:
        assert len(plain[0].split()) == len(fields[0].split()) == 3
        assert all(0 < float(chance) <= 1 for chance in fields[0].split())


@pytest.mark.parametrize("goal", ["classify", "tag"])
def test_score(seq2see: Command, goal_runs: dict[str, Path], goal: str) -> None:
    found = json.loads(seq2see("score", goal_runs[goal], TESTS[goal], "--json").out)
    assert len(found["scores"]) == len(found["lines"]) > 0
    assert all(score <= 0 for score in found["scores"])
    lines = seq2see("score", goal_runs[goal], TESTS[goal]).out.splitlines()
    assert [float(line) for line in lines] == pytest.approx(found["scores"])


@each_goal
def test_compare_with_itself(seq2see: Command, goal_runs: dict[str, Path], goal: str) -> None:
    run = goal_runs[goal]
    found = json.loads(seq2see("compare", run, run, TESTS[goal], "--json").out)
    assert KEYS[goal] <= set(found)
    for key in KEYS[goal]:
        assert found[key]["difference"] == 0 and found[key]["p"] == 1, key
    expected = {"classify": "McNemar", "regress": "bootstrap", "tag": "bootstrap"}[goal]
    assert any(expected in found[key]["test"] for key in KEYS[goal])
    assert seq2see("compare", run, run, TESTS[goal]).code == 0


@each_goal
def test_info(seq2see: Command, goal_runs: dict[str, Path], goal: str) -> None:
    found = json.loads(seq2see("info", goal_runs[goal], "--json").out)
    assert found["recipe"]["goal"] == goal
    assert found["recipe"]["model"]["decoder"] is None
    assert found["data"]["train_pairs"] > 100
    assert KEYS[goal] <= set(found["best"])
    assert f"goal: {goal}" in seq2see("info", goal_runs[goal]).out


LADDERS = {
    "classify": ("reader-rnn", "reader-cnn"),
    "regress": ("reader-rnn", "reader-transformer"),
    "tag": ("tagger-tiny",),
}


@each_goal
def test_ladder(seq2see: Command, tmp_path: Path, goal: str) -> None:
    said = seq2see(
        *("ladder", TESTS[goal], "--presets", ",".join(LADDERS[goal]), "--out", tmp_path / "runs", "--json"),
        *("--max-steps", 3, "--set", "model.width=16", "--set", "training.batch_pairs=8"),
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert [rung["preset"] for rung in found["rungs"]] == list(LADDERS[goal])
    assert found["metric"] == {"regress": "rmse"}.get(goal, "accuracy")
    assert found["floor"]["score"] is not None
    assert (tmp_path / "runs" / "ladder.png").exists()


@each_goal
def test_every_goal_has_a_ladder_that_exists(goal: str) -> None:
    from seq2see.goals import goal_named
    from seq2see.recipe import preset

    assert all(preset(name)["model"].get("decoder") is None for name in goal_named(goal).ladder)


@each_goal
def test_resume_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str) -> None:
    """B2: killed between two saves and resumed, a run ends with the same numbers, bit for bit."""
    settings = (
        *GOALS[goal]["settings"],
        "training.evaluate_every=4",
        "training.save_every=4",
        "model.dropout=0.2",
    )

    def run(name: str) -> None:
        request = Request(TESTS[goal], out=str(tmp_path / name), settings=settings, max_steps=12, resume=True)
        train(request, tell=said.append)

    said: list[str] = []
    run("unbroken")
    with monkeypatch.context() as patch:
        real, steps = Trainer._step, itertools.count(1)

        def dies(*values: Any) -> Any:
            if next(steps) == 7:
                raise Killed
            return real(*values)

        patch.setattr(Trainer, "_step", dies)
        with pytest.raises(Killed):
            run("broken")
    run("broken")
    assert any("going on from step 4" in line for line in said)
    assert same(tmp_path / "unbroken", tmp_path / "broken")
    kept = [(tmp_path / name / "columns.json").read_bytes() for name in ("unbroken", "broken")]
    assert kept[0] == kept[1]


@each_goal
def test_check_knows_the_goal_of_a_task(seq2see: Command, goal: str) -> None:
    found = json.loads(seq2see("check", TESTS[goal], "--json").out)
    assert found["goal"] == goal
    assert found["files"][0]["unusable"] == 0


def test_brackets(seq2see: Command, tmp_path: Path) -> None:
    """The fourth task: it trains, and says what it is."""
    said = seq2see(
        *(
            "train",
            "task:brackets:pairs=100:lengths=2-6",
            "--out",
            tmp_path / "run",
            "--max-steps",
            3,
            "--json",
        ),
        *("--set", "model.width=16"),
    )
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert set(found["dev"]) == {"loss", *KEYS["classify"]}
    assert set(found["floor"]) == {"name", *KEYS["classify"]}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"source": {"kind": "text", "source.json": null}}', '{"a": 1}']
)
def test_a_damaged_file_of_columns_is_told(
    seq2see: Any, goal_runs: dict[str, Path], tmp_path: Path, text: str
) -> None:
    run = tmp_path / "run"
    shutil.copytree(next(iter(goal_runs.values())), run)
    (run / "columns.json").write_text(text)
    (run / "digests.json").unlink()  # as in a run of version 0.1.0
    said = seq2see("info", run)
    assert said.code == 2 and "columns.json cannot be read" in said.err
