"""Built-in tasks on the command line: wherever a file of pairs can be named."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from seq2see.data import Columns, PairFile
from seq2see.errors import SettingsError
from seq2see.workflow import Request, train

Command = Any
SETTINGS = (
    *("model.width=16", "model.encoder.layers=1", "model.decoder.layers=1"),
    *("training.batch_pairs=16", "training.dev_examples=4"),
)
SMALL = [word for setting in SETTINGS for word in ("--set", setting)]
NUMBERS = "task:numbers:pairs=200"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run on a task with features."""
    folder = tmp_path_factory.mktemp("tasks") / "run"
    request = Request(
        NUMBERS, dev="task:numbers:pairs=50", out=str(folder), settings=SETTINGS, max_steps=4, device="cpu"
    )
    train(request, tell=lambda _: None)
    return folder


def test_train_names_the_run_and_takes_the_settings_along(
    seq2see: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is named after the task; spaces between words do not make sub-words of a task of characters."""
    monkeypatch.chdir(tmp_path)
    said = seq2see("train", "task:case:pairs=90:lengths=30-50", *SMALL, "--max-steps", 2, "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["run"] == "runs/case"
    recipe = yaml.safe_load(Path("runs/case/recipe.yaml").read_text())
    assert recipe["data"]["train"] == "task:case:pairs=90:lengths=30-50"
    assert recipe["data"]["features"] == 3
    assert recipe["text"]["source"]["kind"] == recipe["text"]["target"]["kind"] == "characters"


def test_what_a_task_brings_can_be_overridden(seq2see: Command, tmp_path: Path) -> None:
    said = seq2see(
        *("train", "task:case:pairs=90", "--out", tmp_path / "run", *SMALL, "--max-steps", 2),
        *("--set", "text.source.kind=words", "--set", "data.features=null"),
    )
    assert said.code == 0, said.err
    recipe = yaml.safe_load((tmp_path / "run" / "recipe.yaml").read_text())
    assert recipe["text"]["source"]["kind"] == "words"
    assert recipe["text"]["target"]["kind"] == "characters"
    assert recipe["data"]["features"] is None
    again = seq2see("train", "task:case:pairs=90", "--out", tmp_path / "run", "--resume", "--max-steps", 3)
    assert again.code == 0, again.err
    assert "going on from step 2" in again.err


def test_resume_knows_the_task(seq2see: Command, run: Path) -> None:
    """The same pairs by another spelling go on; other pairs are refused."""
    dev = ("--dev", "task:numbers:pairs=50", "--out", run, "--resume", "--max-steps", 5)
    said = seq2see("train", f"{NUMBERS}:seed=1", *dev)
    assert said.code == 0, said.err
    assert "going on from step 4" in said.err
    said = seq2see("train", f"{NUMBERS}:seed=2", *dev)
    assert said.code == 2
    assert "is not what" in said.err


def test_training_and_looking_take_different_parts(run: Path) -> None:
    """No source that was trained on is in what every other verb reads."""
    recipe = yaml.safe_load((run / "recipe.yaml").read_text())["data"]
    columns = Columns(features=3)
    trained = {pair[1:4:2] for pair in PairFile(recipe["train"], columns, training=True).pairs()}
    looked = {pair[1:4:2] for pair in PairFile(recipe["dev"], columns).pairs()}
    assert trained and looked and not trained & looked
    about = json.loads((run / "data.json").read_text())
    assert (about["train_pairs"], about["dev_pairs"], about["dev_sources_in_train"]) == (200, 50, 0)


def test_verbs_read_the_held_out_part(seq2see: Command, run: Path) -> None:
    """Features come along; a task and a file with the same lines give the same."""
    name = "task:numbers:pairs=5"
    pairs = list(PairFile(name, Columns(features=3)).pairs())
    file = run.parent / "pairs.tsv"
    file.write_text("".join(f"{pair.source}\t{pair.target}\t{pair.features}\n" for pair in pairs))
    for words in (
        ("score", run),
        ("decode", run, "--beam", 1),
        ("evaluate", run, "--beam", 1, "--json"),
        ("compare", run, run, "--beam", 1, "--json"),
    ):
        said, same = seq2see(*words, name), seq2see(*words, file)
        assert said.code == 0, said.err
        assert said.out == same.out != ""
    assert len(seq2see("score", run, name).out.splitlines()) == 5


def test_check(seq2see: Command, pairs: Path) -> None:
    """The first is the training part, with its features; files and tasks can stand side by side."""
    name = "task:case:pairs=300:lengths=1-8"
    said = seq2see("check", name, name, "--json")
    assert said.code == 0
    first, second = json.loads(said.out)["files"]
    assert first["features"]["words"] == 2
    assert not {"same source", f"seen in {name}"} & {*first["counts"], *second["counts"]}
    assert seq2see("check", "task:dates:pairs=50", pairs).code == 0


def test_wrong_names_leave_nothing_behind(
    seq2see: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        ("train", "task:revers"),
        ("train", "task:../up"),
        ("train", "task:copy:pairs=50", "--dev", "task:copi", "--out", "run"),
        ("evaluate", run, "task:cas"),
        ("check", "task:copy", "task:copi"),
    ):
        said = seq2see(*words)
        assert said.code == 2
        assert "there is no task" in said.err
    assert not list(tmp_path.iterdir())


def test_python_takes_tasks_too(tmp_path: Path) -> None:
    import seq2see

    options: dict[str, Any] = {"out": str(tmp_path / "run"), "settings": SETTINGS, "max_steps": 2}
    model = seq2see.train("task:copy:pairs=200", **options)
    assert model.recipe.text.source.kind == "characters"
    assert model.recipe.data.features is None
    with pytest.raises(SettingsError, match="did you mean 'sort'"):
        seq2see.train("task:sorted", out=str(tmp_path / "other"))
