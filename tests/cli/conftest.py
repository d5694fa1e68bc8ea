"""The command line in this process, and one small trained run."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from seq2see.cli import main

SMALL = (
    *("--set", "model.width=16", "--set", "model.encoder.layers=1", "--set", "model.decoder.layers=1"),
    *("--set", "training.batch_pairs=8", "--set", "training.evaluate_every=10", "--max-steps", "20"),
)


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def seq2see(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line as the shell would."""

    def run(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Said(code, said.out, said.err)

    return run


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
