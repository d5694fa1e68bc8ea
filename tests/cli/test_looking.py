"""The verbs that look inside: heads, explore, and what decode shows."""

import json
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import seq2see as package
from seq2see.lab.head_effects import weigh_heads
from seq2see.lens.edits import Off

Command = Any


@pytest.fixture
def words(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("bam\n\ndost\n")
    return tmp_path / "words.txt"


def test_decode_takes_edits(seq2see: Command, trained: Path, words: Path) -> None:
    edit = "off at=decoder.*.cross how=first"
    said = seq2see("decode", trained, words, "--edit", edit)
    model = package.load(trained, device="cpu")
    expected = model(["bam", "", "dost"], edits=[Off(at="decoder.*.cross", how="first")])
    assert said.out.splitlines() == expected
    assert said.out != seq2see("decode", trained, words).out


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("off at=decoder.9.cross", "did you mean 'decoder.0.cross'?"),
        ("melt at=*", "edits.kind = 'melt'"),
        ("pin at=* step=0 places=1", "made for one source"),
        ("top at=* count=0", "edits.count = 0"),
    ],
)
def test_wrong_edits_are_explained(
    seq2see: Command, trained: Path, words: Path, edit: str, message: str
) -> None:
    said = seq2see("decode", trained, words, "--edit", edit)
    assert said.code == 2
    assert message in said.err


def test_decode_shows_attention_beside_its_outputs(seq2see: Command, trained: Path, words: Path) -> None:
    plain = seq2see("decode", trained, words, "--engine", "torch")
    shown = seq2see("decode", trained, words, "--show-attention", "--engine", "torch")
    assert shown.out == plain.out
    assert "▒" in shown.err
    assert shown.err.count("<end>") >= 4  # a row and a column of each of two maps


def test_heads_are_weighed(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    pairs = trained.parent / "pairs.tsv"
    said = seq2see("heads", trained, pairs, "--out", tmp_path / "heads.svg", "--most", 20)
    assert said.code == 0, said.err
    assert "decoder.0.cross" in said.out and "head 3" in said.out
    assert (tmp_path / "heads.svg").read_text().startswith("<?xml")
    found = json.loads(seq2see("heads", trained, pairs, "--most", 20, "--json").out)
    assert found["metric"] == "exact" and found["sources"] == 20
    assert {len(changes) for changes in found["changes"].values()} == {4}


def test_what_heads_look_at_is_printed(seq2see: Command, trained: Path) -> None:
    pairs = trained.parent / "pairs.tsv"
    said = seq2see("heads", trained, pairs, "--patterns", "--most", 10)
    assert said.code == 0, said.err
    assert "the same token elsewhere" in said.out and "mean over 10 texts" in said.out
    found = json.loads(seq2see("heads", trained, pairs, "--patterns", "--most", 10, "--json").out)
    best = max(
        (values["previous"], f"{address} head {head}")
        for address, heads in found["heads"].items()
        for head, values in enumerate(heads)
        if "previous" in values
    )
    (row,) = (line for line in said.out.splitlines() if "the token before" in line)
    assert row.split() == [
        *["previous", "the", "token", "before"],
        *row.split()[4:5],
        *f"{best[0]:.2f} {best[1]}".split(),
    ]
    refused = seq2see("heads", trained, pairs, "--patterns", "--metric", "exact")
    assert refused.code == 2 and "--patterns takes none of" in refused.err


def test_the_effect_of_a_head_is_that_of_its_edit(trained: Path) -> None:
    from seq2see.data import PairFile
    from seq2see.data.pairs import columns_of

    model = package.load(trained, device="cpu")
    pairs = list(PairFile(str(trained.parent / "pairs.tsv"), columns_of(model.recipe.data)).pairs())
    found = weigh_heads(model, pairs, how="uniform")
    address, head, change = found.ranked[0]
    assert change == min(min(changes) for changes in found.changes.values())
    edits = [Off(at=address, heads=(head,), how="uniform")]
    edited = model.outcome(pairs, edits=edits, beam=1).examples
    exact = 100 * sum(example.exact for example in edited) / len(edited)
    assert exact - found.score == pytest.approx(change)


def test_heads_without_attention_say_so(seq2see: Command, runs: dict[str, Path]) -> None:
    said = seq2see("heads", runs["bottleneck"], runs["bottleneck"].parent / "words.tsv")
    assert said.code == 2
    assert "this model has no attention" in said.err


def test_explore_serves_until_it_is_stopped(trained: Path) -> None:
    """A port that is taken is passed over; Ctrl-C ends it without a word."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "seq2see",
            "explore",
            str(trained),
            "--port",
            str(port),
            "--no-browser",
        ]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            line = process.stderr.readline()
            try:
                assert "the explorer is at http://127.0.0.1:" in line
                address = line.split()[4]
                assert f":{port}/" not in address
                with urllib.request.urlopen(f"{address}api/models") as answer:
                    assert json.load(answer)["example"] == "bam"
            finally:
                process.send_signal(2)
            assert process.wait(20) in (0, 130)
            assert "Traceback" not in process.stderr.read()


def test_explore_takes_two_runs_at_the_most(seq2see: Command, trained: Path) -> None:
    said = seq2see("explore", trained, trained, trained)
    assert said.code == 2
    assert "one or two runs" in said.err


def test_explore_names_a_run_that_is_not_there(seq2see: Command, tmp_path: Path) -> None:
    said = seq2see("explore", tmp_path / "nothing")
    assert said.code == 2
    assert "there is no run directory" in said.err
