"""A run belongs to one process at a time, and what was trained is never written over."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command

from seq2see import workflow
from seq2see.errors import DataError, RunError
from seq2see.request import Request
from seq2see.workflow import Trained, train

Short = Callable[..., Trained]
Begin = Callable[..., "subprocess.Popen[bytes]"]


@pytest.mark.parametrize("left", ["weights", "record"])
def test_without_its_state_a_trained_run_is_not_begun_anew(short: Short, tmp_path: Path, left: str) -> None:
    """Safety 1: `state/` may be left out of what is shipped, and --resume on that must not destroy it."""
    short()
    run = tmp_path / "run"
    shutil.rmtree(run / "state")
    if left == "record":
        (run / "model.safetensors").unlink()
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    with pytest.raises(RunError, match="nothing to go on from; put it back, or start a new run"):
        short(resume=True)
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before


def test_without_its_recipe_a_trained_run_is_not_begun_anew(short: Short, tmp_path: Path) -> None:
    short()
    (tmp_path / "run" / "recipe.yaml").unlink()
    with pytest.raises(RunError, match=r"recipe\.yaml is missing"):
        short(resume=True)


def test_two_at_once_without_a_name_get_two_folders(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Safety 2: an empty folder is not free while another reads the data that will fill it."""
    monkeypatch.chdir(tmp_path)
    folders: list[Path] = []

    def begin(request: Request, folder: Path, tell: object) -> None:
        folders.append(folder)
        if len(folders) < 3:
            train(request, tell=lambda _: None)
        raise KeyboardInterrupt

    monkeypatch.setattr(workflow, "_begin", begin)
    with pytest.raises(KeyboardInterrupt):
        train(Request(str(pairs)), tell=lambda _: None)
    assert folders == [Path("runs/pairs"), Path("runs/pairs-2"), Path("runs/pairs-3")]
    assert list(Path("runs").iterdir()) == []


def test_a_second_writer_is_refused(short: Short, pairs: Path, tmp_path: Path) -> None:
    """Safety 2: while one trains, another may not; when the first has ended, it may."""
    short()
    request = Request(str(pairs), out=str(tmp_path / "run"), resume=True)
    with request.claimed(), pytest.raises(RunError, match="another process is training in"):
        train(request, tell=lambda _: None)
    short(resume=True)
    assert not (tmp_path / "run" / ".lock").exists()


def test_a_killed_writer_leaves_no_lock(command: Begin, short: Short, tmp_path: Path) -> None:
    child = command("--out", "run", steps=100_000)
    while not (tmp_path / "run" / "state" / "training.safetensors").exists():
        assert child.poll() is None
    child.kill()
    child.communicate()
    short(steps=100_000, out="other", max_minutes=0.001)
    with Request("x", out=str(tmp_path / "run")).claimed() as folder:
        assert (folder / "recipe.yaml").exists()


def test_a_name_that_begins_with_a_dot(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Safety 25: `.p.tsv` made `runs/` itself the run."""
    monkeypatch.chdir(tmp_path)
    with Request(str(pairs.rename(tmp_path / ".p.tsv"))).claimed() as folder:
        assert folder == Path("runs/p")
    with Request("...").claimed() as folder:
        assert folder == Path("runs/pairs")


def test_what_failed_to_begin_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seq2see: Command
) -> None:
    """Safety 25: standard input that cannot be used left a file that blocked a second try."""
    (tmp_path / "one").write_text("only one column\n")
    for _ in range(2):
        with (tmp_path / "one").open() as stream:
            monkeypatch.setattr("sys.stdin", stream)
            with pytest.raises(DataError):
                train(Request("-", out=str(tmp_path / "run")), tell=lambda _: None)
        assert not (tmp_path / "run").exists()


def test_infinite_scores_are_null_in_json(seq2see: Command, short: Short, tmp_path: Path) -> None:
    """Safety 25: `info --json` printed Infinity, which is not JSON."""
    from seq2see.models.weights import read_tensors, write_tensors

    short()
    weights = tmp_path / "run" / "model.safetensors"
    write_tensors(weights, read_tensors(weights)[0], {"about": '{"step": 4, "perplexity": Infinity}'})
    assert '"perplexity": null' in seq2see("info", tmp_path / "run", "--json").out


def test_presets_without_a_name_are_refused(seq2see: Command, pairs: Path) -> None:
    """Safety 25: `--presets ,` trained the whole ladder."""
    said = seq2see("ladder", pairs, "--presets", ",")
    assert said.code == 2
    assert "--presets" in said.err
