"""The path a user walks, verb by verb."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from seq2see.models.weights import read_tensors

Command = Any


class Standard(io.TextIOWrapper):
    """Standard input with bytes below, as a pipe has them."""

    def __init__(self, text: str) -> None:
        super().__init__(io.BufferedReader(io.BytesIO(text.encode())))


def test_train_says_what_it_chose_and_what_to_do_next(
    seq2see: Command, pairs: Path, small: list[str], tmp_path: Path
) -> None:
    said = seq2see("train", pairs, "--out", tmp_path / "run", *small)
    assert said.code == 0
    assert said.out == ""
    for part in (
        "source: characters",
        "target: symbols",
        "transformer-tiny",
        "54 examples to train on",
        "evaluate",
    ):
        assert part in said.err
    assert "times through the data" not in said.err  # the user has chosen the steps
    found = {path.name for path in (tmp_path / "run").iterdir()}
    assert found == {
        *("recipe.yaml", "tokenizers", "model.safetensors", "state", "metrics.jsonl", "tensorboard"),
        *("card.md", "data.json", "digests.json"),
    }


def test_train_answers_in_json(seq2see: Command, pairs: Path, small: list[str], tmp_path: Path) -> None:
    said = seq2see("train", pairs, "--out", tmp_path / "run", *small, "--json")
    answer = json.loads(said.out)
    assert answer["run"] == str(tmp_path / "run")
    assert answer["step"] == 20
    assert set(answer["dev"]) == {"loss", "exact", "wer", "ser"}


def test_train_takes_standard_input(
    seq2see: Command, pairs: Path, small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Standard(pairs.read_text()))
    assert seq2see("train", "-", "--out", tmp_path / "run", *small).code == 0
    assert (tmp_path / "run" / "pairs.tsv").read_text() == pairs.read_text()


def test_features_change_the_output(seq2see: Command, tmp_path: Path) -> None:
    """The same lemma comes out in upper or lower case, as its tag says; only a model that reads tags can."""
    lemmas = [f"{a}{b}{c}" for a in "bdgk" for b in "aeio" for c in "mnrst"]
    rows = [f"{lemma}\t{lemma.upper()}\tN;UP\n{lemma}\t{lemma}\tN;LOW\n" for lemma in lemmas]
    data = tmp_path / "forms.tsv"
    data.write_text("".join(rows))
    said = seq2see(
        *("train", data, "--features", "3", "--out", tmp_path / "run", "--dev", data, "--max-steps", "120"),
        *("--set", "model.width=32", "--set", "model.encoder.layers=1", "--set", "model.decoder.layers=1"),
        *(
            "--set",
            "training.batch_pairs=40",
            "--set",
            "training.learning_rate=0.01",
            "--set",
            "model.dropout=0",
        ),
        *("--set", "training.evaluate_every=120", "--set", "text.shared=true"),
    )
    assert said.code == 0, said.err
    (tmp_path / "asked.tsv").write_text("bam\tN;UP\nbam\tN;LOW\n")
    said = seq2see("decode", tmp_path / "run", tmp_path / "asked.tsv", "--features", "2")
    assert said.out.splitlines() == ["BAM", "bam"]


def test_decode_keeps_lines_aligned(seq2see: Command, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty lines, unknown symbols, other line separators and very long lines all give one line each."""
    lines = ["bam", "", "😀👍🏽", "a\u2028b", "x" * 10_000, "  ", "dost"]
    monkeypatch.setattr(sys, "stdin", Standard("\n".join(lines) + "\n"))
    said = seq2see("decode", trained, "--beam", 1)
    assert said.code == 0, said.err
    outputs = said.out.split("\n")
    assert len(outputs) == len(lines) + 1
    assert outputs[1] == outputs[5] == ""
    assert "line 5 has 10,000 characters" in said.err
    assert "'x' x10,000" in said.err
    assert "'😀' x1" in said.err


def test_decode_leaves_bad_lines_empty(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    """One line that is not text costs its own output alone."""
    (tmp_path / "words.txt").write_bytes(b"bam\n\xff\ndost\n")
    said = seq2see("decode", trained, tmp_path / "words.txt")
    assert said.code == 1
    outputs = said.out.split("\n")
    assert len(outputs) == 4
    assert outputs[1] == "" != outputs[0]
    assert "line 2: not UTF-8" in said.err


def test_decode_streams(trained: Path) -> None:
    """An answer comes before the next line is asked for."""
    process = subprocess.Popen(
        [sys.executable, "-m", "seq2see", "decode", str(trained), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        first = []
        for _ in range(3):
            process.stdin.write("bam\n")
            process.stdin.flush()
            first.append(process.stdout.readline())
        process.stdin.write("dost\n")
        process.stdin.close()
        last = process.stdout.read()
    assert len(set(first)) == 1
    assert last.count("\n") == 1
    assert process.returncode == 0


def test_decode_nbest_json_prefix_and_samples(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("bam\ndost\n")
    ranked = [
        line.split("\t")
        for line in seq2see("decode", trained, tmp_path / "words.txt", "--nbest", 3).out.splitlines()
    ]
    assert [row[:2] for row in ranked] == [[line, rank] for line in "12" for rank in "123"]
    assert all(float(ranked[i][2]) >= float(ranked[i + 1][2]) for i in (0, 1, 3, 4))
    records = [
        json.loads(line)
        for line in seq2see(
            "decode", trained, tmp_path / "words.txt", "--json", "--prefix", "m a"
        ).out.splitlines()
    ]
    assert [record["line"] for record in records] == [1, 2]
    assert all(record["outputs"][0]["text"].startswith("m a") for record in records)
    wild = [
        seq2see("decode", trained, tmp_path / "words.txt", "--sample", "--seed", seed).out
        for seed in (1, 1, 2)
    ]
    assert wild[0] == wild[1] != wild[2]


def test_score_agrees_with_decode(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("bam\ndost\n")
    lines = seq2see("decode", trained, tmp_path / "words.txt", "--json").out.splitlines()
    best = [json.loads(line)["outputs"][0] for line in lines]
    pairs = [(word, output) for word, output in zip(("bam", "dost"), best, strict=True) if output["text"]]
    (tmp_path / "pairs.tsv").write_text("".join(f"{word}\t{output['text']}\n" for word, output in pairs))
    scores = [float(line) for line in seq2see("score", trained, tmp_path / "pairs.tsv").out.split()]
    assert scores == pytest.approx([output["log_probability"] for _, output in pairs], abs=1e-3)
    (tmp_path / "gaps.tsv").write_text(
        "\n" + (tmp_path / "pairs.tsv").read_text().replace("\n", "\n\nonly\t\n", 1)
    )
    assert seq2see("score", trained, tmp_path / "gaps.tsv").out.split("\n")[1:5:3] == [
        f"{v:.6f}" for v in scores
    ]
    answer = json.loads(seq2see("score", trained, tmp_path / "pairs.tsv", "--json").out)
    assert answer["scores"] == pytest.approx(scores, abs=1e-5)


def test_evaluate_counts_any_reference(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("bam\ndost\n")
    said = seq2see("decode", trained, tmp_path / "words.txt").out.splitlines()
    output = said[0] or "x"
    (tmp_path / "test.tsv").write_text(f"bam\tq q q q\nbam\t{output}\ndost\tq q q\n")
    answer = json.loads(seq2see("evaluate", trained, tmp_path / "test.tsv", "--json").out)
    assert answer["sources"] == 2
    assert answer["exact"] == (50 if said[0] else 0)
    assert answer["wer"] == 100 - answer["exact"]
    assert answer["worst"][-1]["references"]
    table = seq2see("evaluate", trained, tmp_path / "test.tsv").out
    assert "worst answers" in table
    assert "q q q" in table


def test_spaces_between_symbols_do_not_count(seq2see: Command, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("bam\n")
    output = seq2see("decode", trained, tmp_path / "words.txt").out.strip()
    (tmp_path / "test.tsv").write_text(f"bam\t{output.replace(' ', '  ')} \n")
    assert json.loads(seq2see("evaluate", trained, tmp_path / "test.tsv", "--json").out)["exact"] == 100


def test_any_metric_can_be_watched(seq2see: Command, pairs: Path, small: list[str], tmp_path: Path) -> None:
    """BLEU says little about words, but it is not ours to crash over it."""
    said = seq2see(
        "train", pairs, "--out", tmp_path / "run", *small, "--set", "training.metric=bleu", "--json"
    )
    assert said.code == 0
    assert "bleu" in json.loads(said.out)["dev"]


def test_runs_find_their_own_names(
    seq2see: Command, pairs: Path, small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (json.loads(seq2see("train", pairs, *small, "--json").out)["run"] for _ in range(2))
    assert (first, second) == ("runs/pairs", "runs/pairs-2")
    said = seq2see("train", pairs, *small, "--resume")
    assert said.code == 0
    assert "all steps are done" in said.err


def test_compare_a_run_with_itself(seq2see: Command, trained: Path, pairs: Path) -> None:
    answer = json.loads(seq2see("compare", trained, trained, pairs, "--json").out)
    assert answer["ser"]["difference"] == 0
    assert answer["ser"]["p"] == 1
    assert "significant" in seq2see("compare", trained, trained, pairs).out


def test_info(seq2see: Command, trained: Path) -> None:
    answer = json.loads(seq2see("info", trained, "--json").out)
    assert answer["recipe"]["model"]["width"] == 16
    weights = read_tensors(trained / "model.safetensors")[0]
    assert sum(answer["parameters"].values()) == sum(tensor.numel() for tensor in weights.values())
    assert answer["data"]["train_pairs"] == 54
    assert answer["step"] == 120
    assert "decoder.blocks" in seq2see("info", trained).out


def test_check_lists_problems_and_fails_on_fatal_ones(seq2see: Command, pairs: Path, tmp_path: Path) -> None:
    assert seq2see("check", pairs).code == 0
    bad = tmp_path / "bad.tsv.gz"
    bad.write_bytes(gzip.compress(b"a\tb\nonly\nc\t\n\xff\td\nbam\tm a b\n"))
    said = seq2see("check", pairs, bad)
    assert said.code == 1
    for part in (
        "line 2: 1 column",
        "line 3: the target is empty",
        "line 4: byte 0xff",
        "2 lines cannot be used",
    ):
        assert part in said.out
    assert f"seen in {pairs}" in said.out
    answer = json.loads(seq2see("check", bad, "--json").out)
    assert answer["files"][0]["counts"]["missing column"] == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_saves_and_says_how_to_go_on(
    seq2see: Command, pairs: Path, small: list[str], tmp_path: Path, number: int
) -> None:
    run = tmp_path / "run"
    command = ["train", str(pairs), "--out", str(run), *small]
    long = [sys.executable, "-m", "seq2see", *("100000" if word == "20" else word for word in command)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(long, stderr=subprocess.PIPE, text=True, env=environment) as process:
        deadline = time.monotonic() + 60
        while not (run / "model.safetensors").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.read()
    assert process.returncode == 128 + number
    assert "all is saved" in said
    assert f"seq2see train {pairs} --out {run} --resume" in said
    step = json.loads(read_tensors(run / "state" / "training.safetensors")[1]["progress"])["step"]
    assert step >= 10
    again = [*command, "--resume", "--max-steps", str(step + 3)]
    assert f"going on from step {step}" in seq2see(*again).err
