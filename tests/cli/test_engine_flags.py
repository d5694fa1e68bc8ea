"""Which engine decodes, and what the command line says about it."""

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seq2see.workflow import Request, train

SINUSOIDAL = ("model.encoder.positions=sinusoidal", "model.decoder.positions=sinusoidal")


@pytest.fixture(scope="module")
def fitting(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose positions CTranslate2 can do."""
    folder = tmp_path_factory.mktemp("fitting")
    small = ("model.width=16", "model.encoder.layers=1", "model.decoder.layers=1", "model.dropout=0")
    settings = [*small, "training.batch_pairs=8", "training.learning_rate=0.02", *SINUSOIDAL]
    request = Request(
        str(trained.parent / "pairs.tsv"), out=str(folder / "run"), settings=settings, max_steps=120
    )
    train(request, tell=lambda _: None)
    return folder / "run"


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("bam\n\ndost\nfeir\ngulm\n")
    return path


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without CTranslate2."""
    find = importlib.util.find_spec

    def missing(name: str, package: str | None = None) -> Any:
        return None if name == "ctranslate2" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", missing)


@pytest.mark.parametrize("beam", [1, 5])
def test_it_is_taken_where_it_fits_and_said_in_one_line(
    seq2see: Callable[..., Any], fitting: Path, words: Path, beam: int
) -> None:
    fast = seq2see("decode", fitting, words, "--beam", beam)
    own = seq2see("decode", fitting, words, "--beam", beam, "--engine", "torch")
    assert fast.err == "decoding with ctranslate2 (float32)\n"
    assert own.err == ""
    assert fast.out == own.out
    assert fast.out.splitlines()[1] == ""
    assert (fitting / "engines" / "ctranslate2").is_dir()


def test_numbers_are_there_where_they_are_shown(
    seq2see: Callable[..., Any], fitting: Path, words: Path
) -> None:
    for options in (("--beam", 1), ("--nbest", 2)):
        fast = seq2see("decode", fitting, words, "--json", *options, "--engine", "ctranslate2")
        own = seq2see("decode", fitting, words, "--json", *options, "--engine", "torch")
        for line, other in zip(fast.out.splitlines(), own.out.splitlines(), strict=True):
            for one, two in zip(json.loads(line)["outputs"], json.loads(other)["outputs"], strict=True):
                assert one["log_probability"] == pytest.approx(two["log_probability"], abs=1e-3)


def test_eight_bits_imply_the_engine(seq2see: Callable[..., Any], fitting: Path, words: Path) -> None:
    said = seq2see("decode", fitting, words, "--int8")
    assert said.err == "decoding with ctranslate2 (int8)\n"
    assert len(said.out.splitlines()) == 5


def test_evaluate_takes_it_too(seq2see: Callable[..., Any], fitting: Path, trained: Path) -> None:
    pairs = trained.parent / "pairs.tsv"
    fast = seq2see("evaluate", fitting, pairs, "--json")
    own = seq2see("evaluate", fitting, pairs, "--json", "--engine", "torch")
    assert fast.err == "decoding with ctranslate2 (float32)\n"
    assert json.loads(fast.out) == json.loads(own.out)
    assert json.loads(own.out)["exact"] > 50


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--sample", "--engine", "ctranslate2"), "ctranslate2 cannot do sampling"),
        (("--prefix", "m", "--int8"), "--int8 is not possible: ctranslate2 cannot do a prefix"),
        (("--hard", "--engine", "ctranslate2"), "hard attention"),
        (("--engine", "torch", "--int8"), "--int8 needs ctranslate2"),
        (("--engine", "fast"), "there is no engine 'fast'; choose auto, torch, ctranslate2"),
    ],
)
def test_what_cannot_be_is_refused_with_a_way_out(
    seq2see: Callable[..., Any], fitting: Path, words: Path, options: tuple[str, ...], reason: str
) -> None:
    said = seq2see("decode", fitting, words, *options)
    assert said.code == 2
    assert reason in said.err
    assert said.out == ""


def test_options_that_do_not_fit_go_to_our_own_loop_unsaid(
    seq2see: Callable[..., Any], fitting: Path, words: Path
) -> None:
    assert seq2see("decode", fitting, words, "--prefix", "m", "--beam", 1).err == ""
    assert seq2see("decode", fitting, words, "--sample").err == ""


def test_a_model_that_does_not_fit(seq2see: Callable[..., Any], trained: Path, words: Path) -> None:
    assert seq2see("decode", trained, words).err == ""
    said = seq2see("decode", trained, words, "--engine", "ctranslate2")
    assert said.code == 2
    assert "ctranslate2 cannot do rotary positions in cross-attention" in said.err
    assert "leave --engine and --int8 out" in said.err
    assert not (trained / "engines").exists()


def test_without_ctranslate2(seq2see: Callable[..., Any], fitting: Path, words: Path, hidden: None) -> None:
    said = seq2see("decode", fitting, words)
    assert (said.code, said.err) == (0, "")
    said = seq2see("decode", fitting, words, "--engine", "ctranslate2")
    assert said.code == 2
    assert "pip install 'seq2see[engines]'" in said.err


def test_an_unwritable_run_still_decodes(
    seq2see: Callable[..., Any], fitting: Path, words: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(fitting, copy, ignore=shutil.ignore_patterns("engines"))
    (copy / "engines").write_text("in the way")
    said = seq2see("decode", copy, words)
    assert said.code == 0
    assert "is not kept, as the run directory cannot be written" in said.err
    assert said.out == seq2see("decode", fitting, words, "--engine", "torch").out
