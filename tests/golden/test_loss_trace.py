"""The first losses of a seeded run: a change that is meant to leave the arithmetic alone must keep them."""

from pathlib import Path

import pytest

import seq2see
from seq2see.training.log import read_log

RECURRENT = [2.9115, 2.9852, 2.9554, 2.9072, 2.8359, 2.8771, 2.8289, 2.8275, 2.7682, 2.8442]
"""Of an LSTM with additive attention."""
TRACE = [3.4246, 3.231, 3.1551, 3.0917, 3.2724, 2.9376, 3.008, 3.0896, 2.9985, 2.8977]


def first_losses(folder: Path, **options: str) -> list[float]:
    """The losses of ten steps on words and their mirror images."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    data = folder / "pairs.tsv"
    data.write_text("".join(f"{word}\t{' '.join(word[::-1])}\n" for word in words))
    settings = ["model.width=16", "training.batch_pairs=8", "training.warmup=3"]
    seq2see.train(data, out=str(folder / "run"), settings=settings, max_steps=10, seed=1, **options)
    return [record["loss"] for record in read_log(folder / "run" / "metrics.jsonl") if "loss" in record]


def test_the_first_losses(tmp_path: Path) -> None:
    assert first_losses(tmp_path) == pytest.approx(TRACE, abs=2e-3)


def test_the_first_losses_of_a_recurrent_model(tmp_path: Path) -> None:
    """A1, C4: the same for the preset rnn-attention."""
    assert first_losses(tmp_path, preset="rnn-attention") == pytest.approx(RECURRENT, abs=2e-3)
