"""The goal `complete`: a text is learnt, foretold and gone on with."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from compared import Killed, same
from complete_runs import GPT, RNN, TEXT, passages, trained

from seq2see import load
from seq2see.data import Pair
from seq2see.data.sides import Batch
from seq2see.data.survey import Survey
from seq2see.goals import GOALS
from seq2see.goals.completer import Completer
from seq2see.models import make_decoder_only
from seq2see.models.contracts import Vocabulary
from seq2see.recipe import compose, preset
from seq2see.text import BEGIN, END, PAD, UNKNOWN
from seq2see.text.special import STANDARD


@pytest.mark.parametrize("kind", ["gpt", "rnn"])
def test_a_killed_run_goes_on_to_the_same_weights(kind: str, tmp_path: Path) -> None:
    asked = {"gpt": {}, "rnn": {"preset": "char-rnn", "settings": (*RNN, "model.dropout=0.2")}}[kind]
    whole = trained(tmp_path, "whole", **asked)
    for number, killed in enumerate(np.random.default_rng(7).permutation(11)[:3] + 1):
        name = f"killed {number}"
        with pytest.raises(Killed):
            trained(tmp_path, name, killed=int(killed), **asked)
        run = trained(tmp_path, name, resume=True, **asked)
        assert same(run, whole)
        records = [
            [json.loads(line) for line in (one / "metrics.jsonl").read_text().splitlines()]
            for one in (run, whole)
        ]
        losses = [[(one["step"], one.get("loss"), one.get("dev")) for one in every] for every in records]
        assert losses[0] == losses[1]


def test_the_future_never_changes_the_past(model: Completer) -> None:
    ids = torch.tensor([[1, *model.tokenizer.encode("the cat sat on")]])
    other = ids.clone()
    other[:, 8:] = ids[:, 1:2]
    first, second = model.network.logits(ids), model.network.logits(other)
    torch.testing.assert_close(first[:, :8], second[:, :8])
    assert (first[:, 8:] - second[:, 8:]).abs().max() > 1e-4


@torch.inference_mode()
def test_padding_and_begin_symbols_do_not_count(model: Completer) -> None:
    column, begin = model.column, model.tokenizer.special.begin
    long, short = (model.tokenizer.encode(text) for text in ("the cat sat on a mat", "a hat"))

    def loss(*rows: list[int]) -> tuple[float, float]:
        found = model.network(Batch({"target": column.collate(list(rows))}, np.zeros(len(rows), np.int64)))
        return float(found.total), float(found.count)

    (one, tokens), (other, more), together = loss(long), loss(short), loss(long, short)
    assert together == (pytest.approx(one + other, rel=1e-5), tokens + more)
    assert loss([*short, begin])[1] == len(short)


@torch.inference_mode()
def test_every_character_is_counted_once(model: Completer) -> None:
    text = TEXT[:700]
    examples = passages(text)
    ids = [one for row in model.column.encode(examples) for one in row]
    for stride in (16, 8, 5, 1):
        total = 0.0
        for place, token in enumerate(ids):
            end = 16 if place < 16 else 16 + -(-(place + 1 - 16) // stride) * stride
            seen = torch.tensor([[model.tokenizer.special.begin, *ids[end - 16 : place]]])
            total -= float(model.network.logits(seen)[0, -1].log_softmax(-1)[token])
        found = model.outcome(examples, stride=stride)
        assert found.tokens.sum() == found.characters.sum() == len(text)
        assert found.nats.sum() == pytest.approx(total, rel=1e-5)
    assert sum(model.target_scores(examples)) == pytest.approx(-model.outcome(examples).nats.sum())


def test_scores_of_the_verbs(gpt: Completer, folder: Path, seq2see: Any) -> None:
    said = seq2see("evaluate", folder / "gpt", folder / "text.txt", "--json")
    found = json.loads(said.out)
    assert found["perplexity"] == pytest.approx(math.exp(found["loss"]))
    assert found["bits_per_character"] == pytest.approx(found["loss"] / math.log(2))
    assert found["worst"][0]["line"] >= 1
    # The sum over characters, whatever the tokens: with characters as tokens both are the same.
    assert found["floor"]["name"] == "pairs of characters" and 0 < found["floor"]["loss"] < 2
    assert found["floor"]["bits_per_character"] == pytest.approx(found["floor"]["loss"] / math.log(2))
    assert (
        json.loads(seq2see("evaluate", folder / "gpt", folder / "text.txt", "--json", "--no-floor").out)[
            "floor"
        ]
        is None
    )
    best = json.loads(seq2see("info", folder / "gpt", "--json").out)["best"]
    assert best["loss"] == pytest.approx(math.log(best["perplexity"]))
    scores = json.loads(seq2see("score", folder / "gpt", folder / "text.txt", "--json").out)["scores"]
    assert -sum(scores) / len(TEXT) == pytest.approx(found["loss"], rel=1e-4)
    assert seq2see("evaluate", folder / "gpt", folder / "text.txt").code == 0
    assert json.loads(seq2see("compare", folder / "gpt", folder / "gpt", folder / "text.txt", "--json").out)
    assert "complete" in seq2see("info", folder / "gpt").out


def test_greedy_goes_on_as_the_logits_say(model: Completer) -> None:
    prompts = ["the cat", "", "1: the cat sat on"]
    together = [found[0] for found in model.decode(prompts, beam=1, max_length=6)]
    for prompt, output in zip(prompts, together, strict=True):
        ids = model.tokenizer.encode(prompt)
        for _ in range(6):
            scores = model.network.logits(torch.tensor([[BEGIN, *ids]]))[0, -1]
            scores[[PAD, BEGIN, UNKNOWN]] = -math.inf
            if (best := int(scores.argmax())) == END:
                break
            ids.append(best)
        assert list(output.ids) == ids and output.text.startswith(prompt)
        assert next(model.decode([prompt], beam=1, max_length=6))[0].ids == output.ids


def test_samples_are_seeded_and_alone(model: Completer) -> None:
    options = {"nbest": 3, "temperature": 0.9, "top_k": 5, "top_p": 0.9, "max_length": 8}
    first, again = (list(model.decode(["the", "a cat"], seed=3, **options)) for _ in range(2))
    assert first == again and len(first[0]) == 3
    alone = next(model.decode(["the"], seed=3, **options))
    assert [one.text for one in first[0]] == [one.text for one in alone]
    assert first != list(model.decode(["the", "a cat"], seed=4, **options))
    assert len(model("the cat sat", seed=1)) <= len("the cat sat") + 16
    assert model(["a", "b"], max_length=1)[1].startswith("b")


def test_prompts_on_lines(gpt: Completer, folder: Path, seq2see: Any, tmp_path: Path) -> None:
    (tmp_path / "prompts.txt").write_bytes(b"the\tcat\n\nbad \xff\n1: the\n")
    said = seq2see(
        "predict", folder / "gpt", tmp_path / "prompts.txt", "--json", "--max-length", 4, "--nbest", 2
    )
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == 1 and "line 3: not UTF-8" in said.err and "never showed: '\\t'" in said.err
    assert [row["line"] for row in rows] == [1, 2, 3, 4]
    assert [len(row["outputs"]) for row in rows] == [2, 2, 1, 2]
    assert rows[2]["outputs"][0]["text"] == "" and rows[3]["outputs"][0]["text"].startswith("1: the")
    (tmp_path / "prompts.txt").write_text("the cat\n")
    once, twice = (
        seq2see("predict", folder / "gpt", tmp_path / "prompts.txt", "--seed", 5, "--top-k", 3).out
        for _ in "ab"
    )
    assert once == twice and once.startswith("the cat")


@pytest.mark.parametrize(
    "words",
    [
        ("--prefix", "a"),
        ("--int8",),
        ("--probabilities",),
        ("--engine", "ctranslate2"),
        ("--stream", "--nbest", "2"),
    ],
)
def test_what_means_nothing_is_refused(
    words: tuple[str, ...], gpt: Completer, folder: Path, seq2see: Any
) -> None:
    said = seq2see("predict", folder / "gpt", folder / "text.txt", *words)
    assert said.code == 2 and ("leave " in said.err or "writes texts" in said.err)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--set", "model.pointer=true"), "copies from a source"),
        (("--set", "model.share_embeddings=true", "--set", "text.shared=true"), "join two sides"),
        (("--set", "text.target.kind=words"), "does not give a text back"),
        (("--set", "training.metric=bleu"), "is no score for --goal complete"),
        (("--preset", "transformer"), "has no encoder"),
        (("--set", "model.decoder=null"), "needs a decoder"),
        (("--preset", "char-rnn", "--set", "model.decoder.attention=additive"), "looks at a source"),
        (("--features", "3"), "for examples with a source"),
        (("--by", "line"), "for examples with a source"),
        (("--set", "model.max_length=8", "--set", "model.decoder.positions=learned"), "do not fit"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[str, ...], reason: str, gpt: Completer, folder: Path, seq2see: Any, tmp_path: Path
) -> None:
    said = seq2see("train", folder / "text.txt", "--goal", "complete", "--out", tmp_path / "run", *words)
    assert said.code == 2 and reason in said.err
    assert not (tmp_path / "run").exists() or not (tmp_path / "run" / "recipe.yaml").exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "has no usable example"), (b"text \xff", "byte 0xff at byte 6"), (b"x", "too short")],
)
def test_files_that_are_no_text_are_refused(
    content: bytes, reason: str, seq2see: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    said = seq2see("train", tmp_path / "a.txt", "--goal", "complete", "--out", tmp_path / "run")
    assert said.code == 2 and reason in said.err


@pytest.mark.parametrize(
    ("passages", "kind", "steps"),
    [(10, "characters", 500), (2000, "characters", 19_531), (40_000, "bpe", 50_000)],
)
def test_what_is_chosen_goes_by_the_size_of_the_text(passages: int, kind: str, steps: int) -> None:
    found = Survey(passages, [Pair(1, "", "x" * 500, "")])
    choice = GOALS["complete"].choose(found, {}, True)
    assert choice.values["text"]["target"]["kind"] == kind and choice.values["training"]["steps"] == steps
    assert any(f"{500 * passages:,}" in reason for _, reason in choice.taken)
    asked = GOALS["complete"].choose(found, {"text": {"target": {"kind": "bpe"}}}, True)
    assert asked.values["text"]["target"]["kind"] == "bpe"


@pytest.mark.parametrize(("name", "size"), [("gpt-tiny", 0.80), ("gpt-small", 10.6), ("gpt-2", 124.4)])
def test_presets_have_their_sizes(name: str, size: float) -> None:
    """In millions of weights; GPT-2 has 50,257 sub-words, the others a few characters."""
    words = 50_257 if name == "gpt-2" else 65
    recipe = compose([preset(name), {"data": {"train": "none"}}], "test")
    with torch.device("meta"):
        network = make_decoder_only(recipe.model, Vocabulary(words, STANDARD))
    assert sum(one.numel() for one in network.parameters()) / 1e6 == pytest.approx(size, rel=0.01)
    assert (recipe.model.length_limit("decoder") or 1024) >= recipe.data.max_length


def test_a_text_without_a_goal_is_told_of_this_one(gpt: Completer, folder: Path, seq2see: Any) -> None:
    said = seq2see("train", folder / "text.txt", "--out", folder / "other")
    assert said.code == 2 and "needs --goal complete" in said.err


def test_standard_input_is_kept_and_gone_on_with(
    tmp_path: Path, seq2see: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode()))))
    words = [word for setting in GPT for word in ("--set", setting)]
    words += [
        "--preset",
        "gpt-tiny",
        "--goal",
        "complete",
        "--max-steps",
        "2",
        "--out",
        str(tmp_path / "run"),
    ]
    said = seq2see("train", "-", *words)
    assert said.code == 0 and (tmp_path / "run" / "pairs.tsv").read_bytes() == TEXT.encode()


def test_documents_end(tmp_path: Path) -> None:
    rows = [json.dumps({"text": f"word {number % 3}"}) for number in range(600)]
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    settings = (*GPT, "training.learning_rate=0.02", "training.evaluate_every=30")
    run = trained(tmp_path, data=str(tmp_path / "a.jsonl"), settings=settings, max_steps=60)
    model = load(run, device="cpu")
    found = next(model.decode(["word"], beam=1, max_length=40))[0]
    assert found.text in ("word 0", "word 1", "word 2") and not found.cut
    outcome = model.outcome([Pair(1, "", "word 1", "", ("begins", "ends"))])
    assert outcome.tokens.tolist() == [7] and outcome.characters.tolist() == [6]


def test_sub_words_and_a_dev_file(tmp_path: Path, seq2see: Any) -> None:
    (tmp_path / "dev.txt").write_bytes(TEXT[:3000].encode())
    settings = (*GPT, "text.target.kind=bpe", "text.target.size=300")
    run = trained(tmp_path, settings=settings, dev=str(tmp_path / "dev.txt"), max_steps=4)
    model = load(run, device="cpu")
    assert model.facts.dev_sources_in_train == 0
    assert model("the cat 😀\r\n x", max_length=3).startswith("the cat 😀\r\n x")
    outcome = model.outcome(passages(TEXT[:3000]))
    assert outcome.characters.sum() == 3000 > outcome.tokens.sum()
    said = seq2see("check", tmp_path / "text.txt", tmp_path / "dev.txt", "--goal", "complete")
    assert said.code == 0 and "every line can be used" in said.out and "100.00% of the letters" in said.out
