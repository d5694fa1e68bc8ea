"""The worked example in the terminal and in files, by the lecture's numbers."""

import json
from pathlib import Path

import pytest
from command_line import Command

from seq2see import lab

STEPS = """\
h           Wq        Wk        Wv
[ 5   1]    [1  0]    [0  1]    [4  3]
[ 4   3]    [2  9]    [6  0]    [9  1]
[-2   6]

q = Wq h    k = Wk h      v = Wv h
[ 5  19]    [  1   30]    [ 23   46]
[ 4  35]    [  3   24]    [ 25   39]
[-2  50]    [  6  -12]    [ 10  -12]

scores = q . k        weights = argmax    h' = weights v
[ 575   471  -198]    [1  0  0]           [23  46]
[1054   852  -396]    [1  0  0]           [23  46]
[1498  1194  -612]    [1  0  0]           [23  46]
"""


def test_the_table_holds_every_step(tmp_path: Path) -> None:
    found = lab.run("worked", seeds=[1], out=tmp_path)
    steps = list(dict.fromkeys(row["step"] for row in found.table))
    assert steps == ["h", "q", "k", "v", "scores", "weights", "outputs"]
    second = {
        step: [row["value"] for row in found.table if row["step"] == step and row["position"] == "2"]
        for step in steps
    }
    assert second["q"] == [4, 35] and second["scores"] == [1054, 852, -396] and second["outputs"] == [23, 46]
    assert "10^-88" in found.remarks[0], "(1054 - 852) / ln 10 is 87.7"


def test_the_terminal_shows_small_matrices(tmp_path: Path, seq2see: Command) -> None:
    shown = seq2see("lab", "worked", "--seeds", "1,2", "--out", tmp_path)
    assert STEPS in shown.out and "The claim holds here" in shown.out
    assert str(tmp_path / "worked.html") in shown.err


def test_the_page_stands_beside_the_figure_and_asks_for_nothing(tmp_path: Path, seq2see: Command) -> None:
    values = json.loads(seq2see("lab", "worked", "--seeds", "1", "--out", tmp_path, "--json").out)
    page = Path(values["page"]).read_text()
    assert Path(values["page"]) == tmp_path / "worked.html"
    assert "/web/" not in page and "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("words", [("paths",), (), ("--all",)])
def test_only_an_experiment_with_a_page_is_opened(words: tuple[str, ...], seq2see: Command) -> None:
    answer = seq2see("lab", *words, "--open")
    assert answer.code == 2 and "--open shows the page of an experiment that has one: worked" in answer.err
