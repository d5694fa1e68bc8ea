"""A small file of pairs, and one small trained run."""

from pathlib import Path

import pytest

SMALL = (
    *("--set", "model.width=16", "--set", "model.encoder.layers=1", "--set", "model.decoder.layers=1"),
    *("--set", "training.batch_pairs=8", "--set", "training.evaluate_every=10", "--max-steps", "20"),
)


def mirrored(path: Path, count: int = 60) -> Path:
    """Words and their letters in reverse, each letter a symbol."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")][:count]
    path.write_text("".join(f"{word}\t{' '.join(reversed(word))}\n" for word in words), encoding="utf-8")
    return path


@pytest.fixture
def small() -> list[str]:
    """Options that make training a matter of a second."""
    return list(SMALL)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A small file of pairs."""
    return mirrored(tmp_path / "pairs.tsv")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run directory after enough steps to say something."""
    from seq2see.workflow import Request, train

    folder = tmp_path_factory.mktemp("trained")
    settings = [word for word in SMALL if "=" in word]
    settings += ["training.learning_rate=0.02", "model.dropout=0", "training.evaluate_every=60"]
    data = str(mirrored(folder / "pairs.tsv"))
    request = Request(data, out=str(folder / "run"), settings=settings, max_steps=120)
    train(request, tell=lambda _: None)
    return folder / "run"
