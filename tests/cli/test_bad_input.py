"""Every mistake gets a few lines that name it and the way out, and costs nothing that was there before."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

Command = Any


def assert_refused(said: Any, *parts: str, code: int = 2) -> None:
    """A short message with these parts, and the exit code of a mistake."""
    assert said.code == code, said
    assert said.err.lstrip().startswith("error: ")
    assert len(said.err.strip().splitlines()) <= 4, said.err
    for part in parts:
        assert part in said.err, said.err


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_missing_file(seq2see: Command, tmp_path: Path) -> None:
    assert_refused(
        seq2see("train", tmp_path / "no.tsv", "--out", tmp_path / "run"), "there is no file", "no.tsv"
    )


def test_missing_file_with_a_packed_neighbour(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    pairs.rename(tmp_path / "pairs.tsv.gz")
    assert_refused(seq2see("train", pairs, "--out", tmp_path / "run"), "did you mean", "pairs.tsv.gz")


def test_directory_as_file(seq2see: Command, tmp_path: Path) -> None:
    assert_refused(seq2see("train", tmp_path, "--out", tmp_path / "run"), "is a directory", "name a file")


def test_empty_file(seq2see: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").touch()
    assert_refused(
        seq2see("train", tmp_path / "empty.tsv", "--out", tmp_path / "run"),
        "no usable example",
        "seq2see check",
    )


def test_one_column_only(seq2see: Command, tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text("word\nother\n")
    said = seq2see("train", tmp_path / "one.tsv", "--out", tmp_path / "run")
    assert_refused(
        said, "line 1: missing column", "1 column between tabs, column 2 is needed", "seq2see check"
    )


def test_wrong_column_name(seq2see: Command, tmp_path: Path) -> None:
    (tmp_path / "named.tsv").write_text("lemma\tform\na\tb\n")
    said = seq2see(
        "train", tmp_path / "named.tsv", "--source", "lema", "--target", "form", "--out", tmp_path / "run"
    )
    assert_refused(said, "no column 'lema'", "did you mean 'lemma'?")


def test_invalid_utf8(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    pairs.write_bytes(pairs.read_bytes() + b"caf\xe9\tk a f e\n")
    assert_refused(
        seq2see("train", pairs, "--out", tmp_path / "run"), "line 61: not UTF-8", "0xe9", "bad_lines=skip"
    )


def test_nul_byte(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    pairs.write_bytes(b"a\x00b\tx y\n" + pairs.read_bytes())
    assert_refused(seq2see("train", pairs, "--out", tmp_path / "run"), "line 1: NUL byte", "character 2")


def test_a_line_of_a_megabyte(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    pairs.write_bytes(pairs.read_bytes() + b"x" * 1_000_000 + b"\ty\n")
    assert_refused(seq2see("train", pairs, "--out", tmp_path / "run"), "line 61: too long", "100,000 bytes")


def test_broken_gzip(seq2see: Command, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv.gz").write_bytes(b"\x1f\x8b\x08\x00 not gzip at all")
    assert_refused(
        seq2see("train", tmp_path / "pairs.tsv.gz", "--out", tmp_path / "run"), "not a whole gzip file"
    )


def test_bad_lines_can_be_skipped(seq2see: Command, pairs: Path, small: list[str], tmp_path: Path) -> None:
    pairs.write_bytes(b"\xff\tx\n" + pairs.read_bytes() + b"one column\n")
    said = seq2see("train", pairs, "--out", tmp_path / "run", *small, "--set", "data.bad_lines=skip")
    assert said.code == 0


def test_unknown_recipe_key(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    said = seq2see("train", pairs, "--out", tmp_path / "run", "--set", "model.decoder.layer=2")
    assert_refused(said, "unknown key model.decoder.layer", "did you mean 'layers'?")
    (tmp_path / "recipe.yaml").write_text("trainning: {steps: 5}\n")
    said = seq2see("train", pairs, "--out", tmp_path / "run", "--recipe", tmp_path / "recipe.yaml")
    assert_refused(said, "recipe.yaml", "unknown key trainning", "did you mean 'training'?")


def test_wrong_value(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    said = seq2see("train", pairs, "--out", tmp_path / "run", "--set", "training.steps=many")
    assert_refused(said, "training.steps = 'many'", "integer")


def test_unknown_preset(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    said = seq2see("train", pairs, "--out", tmp_path / "run", "--preset", "transfomer-base")
    assert_refused(said, "no preset 'transfomer-base'", "did you mean 'transformer-base'?")


def test_heads_that_do_not_divide(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    said = seq2see(
        "train",
        pairs,
        "--out",
        tmp_path / "run",
        "--set",
        "model.width=100",
        "--set",
        "model.encoder.heads=8",
    )
    assert_refused(said, "encoder.heads", "width 100 cannot be split among 8 heads", "try width 96 or 104")


def test_not_yaml(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("model: {width: 16\n")
    said = seq2see("train", pairs, "--out", tmp_path / "run", "--recipe", tmp_path / "recipe.yaml")
    assert_refused(said, "recipe.yaml, line", "not valid YAML")


def test_recipe_of_a_newer_version(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    recipe = (run / "recipe.yaml").read_text()
    (run / "recipe.yaml").write_text(recipe.replace("version: 1", "version: 99"))
    (run / "digests.json").unlink()
    assert_refused(seq2see("info", run), "version 99", "upgrade")


def test_truncated_weights(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    whole = (run / "model.safetensors").read_bytes()
    (run / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert_refused(seq2see("info", run), "model.safetensors is damaged", "put a copy of it back")


def test_truncated_state(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    run = shutil.copytree(trained, tmp_path / "run")
    (run / "state" / "training.safetensors").write_bytes(b"\x00" * 20)
    said = seq2see("train", trained.parent / "pairs.tsv", "--out", run, "--resume")
    assert said.code == 2
    assert "training.safetensors is damaged" in said.err


def test_not_a_run(seq2see: Command, tmp_path: Path) -> None:
    assert_refused(seq2see("decode", tmp_path / "nowhere"), "there is no run directory", "seq2see train")
    assert_refused(seq2see("info", tmp_path), "not a run directory")


def test_an_existing_run_is_not_overwritten(seq2see: Command, trained: Path) -> None:
    before = contents(trained)
    said = seq2see("train", trained.parent / "pairs.tsv", "--out", trained)
    assert_refused(said, "already holds a run", "--resume", "--out")
    assert contents(trained) == before


def test_a_place_that_cannot_be_written(
    seq2see: Command, pairs: Path, small: list[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    said = seq2see("train", pairs, "--out", tmp_path / "file" / "run", *small)
    assert_refused(said, "cannot be written", "--out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory(seq2see: Command, pairs: Path, small: list[str], tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    assert_refused(
        seq2see("train", pairs, "--out", tmp_path / "locked" / "run", *small), "Permission denied", "--out"
    )


def test_a_read_only_file_system(seq2see: Command, pairs: Path, small: list[str]) -> None:
    """The kernel's own file system lets nobody make a directory, not even root."""
    assert_refused(
        seq2see("train", pairs, "--out", "/proc/seq2see-run", *small), "/proc/seq2see-run cannot be written"
    )


def test_no_space_left_while_saving(seq2see: Command, pairs: Path, small: list[str], tmp_path: Path) -> None:
    """A limit on file sizes stands for a full disk: the operating system refuses the write half-way."""
    run = tmp_path / "run"
    command = ["train", str(pairs), "--out", str(run), *small]
    assert seq2see(*command).code == 0
    before = contents(run / "state") | {"weights": (run / "model.safetensors").read_bytes()}
    size = (run / "model.safetensors").stat().st_size

    def almost_full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

    further = [*(word if word != "20" else "40" for word in command), "--resume"]
    said = subprocess.run(
        [sys.executable, "-m", "seq2see", *further],
        preexec_fn=almost_full,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 1, said.stderr
    assert "Traceback" not in said.stderr
    assert "no space is left" in said.stderr
    assert "--resume" in said.stderr
    assert contents(run / "state") | {"weights": (run / "model.safetensors").read_bytes()} == before
    assert seq2see(*further).code == 0


def test_impossible_decoding(seq2see: Command, trained: Path, pairs: Path) -> None:
    assert_refused(seq2see("decode", trained, pairs, "--beam", 2, "--nbest", 3), "nbest 3", "beam")
    assert_refused(seq2see("decode", trained, pairs, "--top-k", 3), "--sample")
    assert_refused(seq2see("decode", trained, pairs, "--beam", 0), "beam", "greater than or equal to 1")
    assert_refused(seq2see("decode", trained, pairs, "--device", "cuda:77"), "cuda:77", "cpu")


def test_columns_count_from_one(seq2see: Command, pairs: Path) -> None:
    assert_refused(seq2see("check", pairs, "--source", "0"), "columns count from 1")


def test_evaluating_a_file_without_targets(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("bam\n")
    assert_refused(seq2see("evaluate", trained, tmp_path / "words.txt"), "line 1: missing column")


def test_a_place_with_other_files(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    """A folder of the user's own is not filled with ours."""
    before = contents(tmp_path)
    assert_refused(seq2see("train", pairs, "--out", tmp_path), "is not empty", "--out")
    assert contents(tmp_path) == before


def test_past_the_last_position(seq2see: Command, pairs: Path, small: list[str], tmp_path: Path) -> None:
    """D4: learned positions end somewhere, and say so."""
    learned = (
        *("--set", "model.encoder.positions=learned", "--set", "model.decoder.positions=learned"),
        *("--set", "model.max_length=12"),
    )
    said = seq2see("train", pairs, "--out", tmp_path / "run", *small, *learned)
    assert_refused(said, "data.max_length", "model.max_length = 12", "rotary")
    said = seq2see("train", pairs, "--out", tmp_path / "run", *small, *learned, "--set", "data.max_length=12")
    assert said.code == 0
    (tmp_path / "long.txt").write_text("b" * 30 + "\n")
    said = seq2see("decode", tmp_path / "run", tmp_path / "long.txt", "--engine", "torch")
    assert_refused(said, "31 tokens", "end at 12")


def test_a_missing_dev_file(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    """It is told before any work is done, and no empty folder is left behind."""
    said = seq2see("train", pairs, "--dev", tmp_path / "no.tsv", "--out", tmp_path / "run")
    assert_refused(said, "there is no file", "no.tsv")
    assert not (tmp_path / "run").exists()


def test_failed_starts_leave_nothing(
    seq2see: Command, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(4):
        assert_refused(seq2see("train", "missing.tsv"), "there is no file")
    assert not list((tmp_path / "runs").iterdir())


def test_comparing_runs_that_read_other_columns(
    seq2see: Command, trained: Path, pairs: Path, small: list[str], tmp_path: Path
) -> None:
    backwards = ("--source", "2", "--target", "1")
    assert seq2see("train", pairs, *backwards, "--out", tmp_path / "run", *small).code == 0
    assert_refused(
        seq2see("compare", trained, tmp_path / "run", pairs), "do not read the same examples", "--source"
    )


def test_a_prefix_that_cannot_be(seq2see: Command, trained: Path, pairs: Path) -> None:
    assert_refused(seq2see("decode", trained, pairs, "--prefix", "Q"), "'Q'", "never showed")
    said = seq2see("decode", trained, pairs, "--prefix", "m a", "--max-length", "2")
    assert_refused(said, "prefix of 2 tokens", "--max-length")


def test_features_that_the_run_does_not_know(seq2see: Command, trained: Path, pairs: Path) -> None:
    assert_refused(seq2see("decode", trained, pairs, "--features", "2"), "trained without features")


def test_a_pipe_as_file(seq2see: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert_refused(seq2see("train", tmp_path / "pipe", "--out", tmp_path / "run"), "is a pipe", "with -")
