"""The first losses of a seeded run: a change that is meant to leave the arithmetic alone must keep them."""

from pathlib import Path

import pytest

import seq2see
from seq2see.training.log import read_log

RECURRENT = [2.9622, 3.0341, 3.0208, 2.9426, 2.9889, 2.9109, 2.8607, 2.9005, 2.8627, 2.9799]
TRACE = [3.4246, 3.231, 3.1551, 3.0917, 3.2724, 2.9376, 3.008, 3.0896, 2.9985, 2.8977]


LSTM = (
    *("model.encoder.kind=recurrent", "model.decoder.kind=recurrent", "model.decoder.attention=additive"),
    *("model.decoder.output=luong", "model.decoder.input_feeding=true", "model.dropout=0.2"),
)


def first_losses(folder: Path, *others: str) -> list[float]:
    """The losses of ten steps on words and their mirror images."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    data = folder / "pairs.tsv"
    data.write_text("".join(f"{word}\t{' '.join(word[::-1])}\n" for word in words))
    settings = ["model.width=16", "training.batch_pairs=8", "training.warmup=3", *others]
    seq2see.train(data, out=str(folder / "run"), settings=settings, max_steps=10, seed=1)
    return [record["loss"] for record in read_log(folder / "run" / "metrics.jsonl") if "loss" in record]


def test_the_first_losses(tmp_path: Path) -> None:
    assert first_losses(tmp_path) == pytest.approx(TRACE, abs=2e-3)


def test_the_first_losses_of_a_recurrent_model(tmp_path: Path) -> None:
    """A1, C4, C9: the same for LSTMs with additive attention, Luong's output and input feeding."""
    assert first_losses(tmp_path, *LSTM) == pytest.approx(RECURRENT, abs=2e-3)
