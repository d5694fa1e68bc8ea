"""The first losses of a seeded run: a change that is meant to leave the arithmetic alone must keep them."""

from pathlib import Path

import pytest

import seq2see
from seq2see.training.log import read_log

TRACE = [3.4246, 3.231, 3.1551, 3.0917, 3.2724, 2.9376, 3.008, 3.0896, 2.9985, 2.8977]


def test_the_first_losses(tmp_path: Path) -> None:
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{word}\t{' '.join(word[::-1])}\n" for word in words))
    settings = ["model.width=16", "training.batch_pairs=8", "training.warmup=3"]
    seq2see.train(data, out=str(tmp_path / "run"), settings=settings, max_steps=10, seed=1)
    losses = [record["loss"] for record in read_log(tmp_path / "run" / "metrics.jsonl") if "loss" in record]
    assert losses == pytest.approx(TRACE, abs=2e-3)
