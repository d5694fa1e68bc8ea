"""The demo, with three models that are trained already: what it says, and that it ends."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seq2see.cli import demo
from seq2see.lab.ladder import Ladder, Rung

RUNG = Rung("rnn", 1, "", 1000, demo.STEPS, 1.0, 10.0, "exact", 10.0, ())


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the demo without its data and training, and gives what it says and what it would serve."""
    served: list[list[str]] = []
    rungs = (
        replace(RUNG, preset="rnn", run=str(runs["bottleneck"]), score=10.0),
        replace(RUNG, preset="rnn-attention", run=str(runs["recurrent"]), score=60.0),
        replace(RUNG, preset="transformer", run=str(runs["transformer"]), score=20.0, steps=30),
    )
    monkeypatch.setattr(demo, "_write_dictionary", lambda folder: 100)
    monkeypatch.setattr(demo, "climb_and_write", lambda *asked: Ladder("words", "exact", "characters", rungs))
    monkeypatch.setattr(
        demo, "serve_explorer", lambda models, *rest: served.append([str(run) for run, _ in models])
    )

    def show(explore: bool = True) -> tuple[str, list[list[str]]]:
        demo.demo(Path("demo"), 0.1, explore)
        said = capsys.readouterr()
        return said.out + said.err, served

    return show


def test_without_a_terminal_it_ends(shown: Any, runs: dict[str, Path]) -> None:
    """It says how the explorer is opened, with the model that scored best."""
    said, served = shown()
    assert served == []
    assert f"explore {runs['recurrent']}" in " ".join(said.split())
    assert "nobody is at a terminal" in said


@pytest.mark.parametrize("value", ["true", "1", "TRUE"])
def test_in_ci_it_ends_even_at_a_terminal(shown: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("CI", value)
    assert shown()[1] == []


def test_at_a_terminal_the_best_model_opens_first(
    shown: Any, monkeypatch: pytest.MonkeyPatch, runs: dict[str, Path]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("CI", raising=False)
    assert shown()[1] == [[str(runs["recurrent"]), str(runs["transformer"])]]


def test_it_says_whose_time_ran_out(shown: Any) -> None:
    said, _ = shown(explore=False)
    assert f"transformer had time for 30 of {demo.STEPS:,} steps only: --minutes gives it more" in said
    assert "rnn had time" not in said and "rnn-attention had time" not in said
    assert "nobody is at a terminal" not in said
