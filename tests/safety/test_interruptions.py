"""Signals and terminals that go away: training saves, whatever becomes of them."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from seq2see.errors import TrainingError
from seq2see.models import EncoderDecoder
from seq2see.workflow import Trained

Begin = Callable[..., "subprocess.Popen[bytes]"]


def saved_step(folder: Path) -> int:
    """The step that a run would go on from."""
    import json

    from seq2see.models.weights import read_tensors

    return int(json.loads(read_tensors(folder / "state" / "training.safetensors")[1]["progress"])["step"])


def begun(child: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait until training has taken some steps."""
    record = folder / "metrics.jsonl"
    deadline = time.monotonic() + 60
    while not (record.exists() and record.stat().st_size):
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_ctrl_c_saves_though_nobody_reads_any_more(command: Begin, tmp_path: Path) -> None:
    """Safety 3: `train 2>&1 | tee log`, and Ctrl-C ends tee first."""
    child = command("--out", "run", "--set", "training.save_every=100000", steps=1_000_000)
    begun(child, tmp_path / "run")
    assert child.stderr is not None
    child.stderr.close()
    os.killpg(child.pid, signal.SIGINT)
    assert child.wait(60) == 130
    assert saved_step(tmp_path / "run") > 0


def test_training_goes_on_when_nobody_reads(command: Begin, tmp_path: Path) -> None:
    """Safety 3: `train 2>&1 | head -1`."""
    child = command("--out", "run", steps=8)
    assert child.stderr is not None
    child.stderr.readline()
    child.stderr.close()
    assert child.wait(60) == 0
    assert saved_step(tmp_path / "run") == 8


def test_a_lost_connection_saves(command: Begin, tmp_path: Path) -> None:
    """Safety 16: SIGHUP is noticed as SIGTERM is."""
    child = command("--out", "run", "--set", "training.save_every=100000", steps=1_000_000)
    begun(child, tmp_path / "run")
    os.killpg(child.pid, signal.SIGHUP)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 128 + signal.SIGHUP
    assert b"all is saved" in said
    assert saved_step(tmp_path / "run") > 0


def test_nohup_is_respected(command: Begin, tmp_path: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    child = command("--out", "run", steps=200, preexec_fn=ignore)
    begun(child, tmp_path / "run")
    os.killpg(child.pid, signal.SIGHUP)
    child.communicate(timeout=60)
    assert child.returncode == 0


@pytest.mark.parametrize("error", ["torch", "python"])
def test_a_full_memory_is_told_in_a_sentence(
    short: Callable[..., Trained], monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """Safety 20: for the memory of the CPU torch has no error of its own."""
    forward = EncoderDecoder.forward

    def greedy(self: EncoderDecoder, batch: object) -> object:
        if self.training:
            torch.empty(1 << 58) if error == "torch" else bytearray(1 << 62)
        return forward(self, batch)

    monkeypatch.setattr(EncoderDecoder, "forward", greedy)
    with pytest.raises(TrainingError, match=r"the memory of cpu is full.*batch_tokens"):
        short()
