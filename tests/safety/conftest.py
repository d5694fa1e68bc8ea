"""A short training run to disturb."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seq2see.workflow import Request, Trained, train

SETTINGS = (
    *("model.width=8", "model.encoder.layers=1", "model.decoder.layers=1", "model.encoder.heads=2"),
    *("model.decoder.heads=2", "training.batch_pairs=8", "training.evaluate_every=4"),
    *("training.save_every=2", "training.dev_examples=5"),
)


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """A small file of pairs."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{' '.join(reversed(word))}\n" for word in words))
    return path


@pytest.fixture
def short(pairs: Path, tmp_path: Path) -> Callable[..., Trained]:
    """Trains for a few steps, in this process."""

    def run(out: str = "run", steps: int = 6, **options: Any) -> Trained:
        request = Request(
            str(pairs), out=str(tmp_path / out), settings=SETTINGS, max_steps=steps, seed=3, **options
        )
        return train(request, tell=lambda _: None)

    return run


@pytest.fixture
def command(pairs: Path, tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Starts `seq2see train` on the pairs in a process and a process group of its own, gone after the test.

    Lost connections are noticed there, also where the tests themselves were started with nohup.
    """
    begun = []

    def notice() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def begin(*words: str, steps: int = 6, **how: Any) -> "subprocess.Popen[bytes]":
        options = [word for setting in SETTINGS for word in ("--set", setting)]
        line = [sys.executable, "-m", "seq2see", "train", str(pairs), "--max-steps", str(steps)]
        usual = {"cwd": tmp_path, "stderr": subprocess.PIPE, "start_new_session": True, "preexec_fn": notice}
        environment = {**os.environ, "COLUMNS": "200"}
        begun.append(subprocess.Popen([*line, *options, *words], env=environment, **(usual | how)))
        return begun[-1]

    yield begin
    for child in begun:
        if child.poll() is None:
            child.kill()
            child.wait()
