"""Text of files, runs and command lines is shown letter by letter, and has no power over a terminal."""

import sys
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from seq2see.cli import console
from seq2see.wording import quoted, visible

Command = Any
HOSTILE = ":smile: [bold]x[/] \x1b[31mred\x07 \u202eabc"
SHOWN = ":smile: [bold]x[/] \\u001b[31mred\\u0007 \\u202eabc"


def test_evaluate_shows_texts_as_they_are(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "hostile.tsv").write_text(f"{HOSTILE}\tx\n")
    said = seq2see("evaluate", trained, tmp_path / "hostile.tsv", "--worst", "3")
    assert said.code == 0, said.err
    assert SHOWN in said.out
    assert "\x1b" not in said.out + said.err


def test_check_shows_names_as_they_are(seq2see: Command, tmp_path: Path) -> None:
    path = tmp_path / ":smile:[bold]\x1b[2J.tsv"
    path.write_text("a\tb\nc\n")
    said = seq2see("check", path)
    assert ":smile:[bold]\\u001b[2J.tsv: 2 lines" in said.out
    said = seq2see("info", path)
    assert ":smile:[bold]\\u001b[2J.tsv" in said.err
    assert "\x1b" not in said.out + said.err


@pytest.mark.parametrize("terminal", [True, False])
def test_predictions_are_exact_for_programs_and_visible_for_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    console.write(HOSTILE)
    assert capsys.readouterr().out == (SHOWN if terminal else HOSTILE) + "\n"


def test_our_own_styles_stay() -> None:
    with console.results.capture() as seen:
        console.results.print(Text("x", "bold"), "[bold]y[/]")
    assert seen.get().strip() == "x [bold]y[/]"


def test_long_values_are_cut() -> None:
    nested: list[Any] = ["x" * 1000]
    for _ in range(30):
        nested = [nested] * 9
    assert len(quoted(nested)) < 300
    assert len(quoted("x" * 100_000)) < 300
    assert visible("plain ä\tb\n") == "plain ä\tb\n"


def test_a_long_value_is_cut_in_a_refusal(seq2see: Command, pairs: Path) -> None:
    said = seq2see("train", pairs, "--set", f"seed=[{'1,' * 4_000}]")
    assert said.code == 2
    assert "seed = [1, 1" in said.err
    assert len(said.err) < 2000
