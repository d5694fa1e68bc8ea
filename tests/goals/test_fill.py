"""The goal `fill`: hidden tokens are learnt, told and filled in."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from compared import Killed, same
from fill_runs import NOUNS, PLACES, SMALL, filler, sentences

from seq2see import load
from seq2see.data import Pair
from seq2see.data.columns import SourceText
from seq2see.data.passages import BEGINS, ENDS, packed
from seq2see.errors import DataError, SettingsError
from seq2see.goals.filler import Filler
from seq2see.lens.edits import parse_edit
from seq2see.text import MASK, Kind, SourceCodec, Tokenizer, TokenizerSettings
from seq2see.text.words import word_starts

KINDS: tuple[Kind, ...] = ("characters", "symbols", "words", "bpe", "unigram")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fill")


@pytest.fixture(scope="module")
def model(folder: Path) -> Filler:
    settings = (
        *SMALL,
        "model.width=32",
        "training.learning_rate=0.01",
        "model.dropout=0",
        "training.evaluate_every=60",
    )
    return load(filler(folder, settings=settings, max_steps=120), device="cpu")


@pytest.mark.parametrize("kind", KINDS)
def test_the_mask_symbol_is_found_whatever_the_tokenizer(kind: Kind) -> None:
    learnt = Tokenizer.learn_masked(sentences(), TokenizerSettings(kind=kind, size=320))
    tokenizer = Tokenizer.of_json(learnt.to_json(), "text.json")
    assert tokenizer.special.mask == 4 and tokenizer.special.first == 5
    text = "the cat sat on the mat , now"
    whole, hidden = tokenizer.encode(text), tokenizer.encode(text.replace("cat", MASK))
    place = hidden.index(4)
    assert hidden.count(4) == 1 and 4 not in whole
    assert hidden[:place] == whole[:place]
    after = hidden[place + 1 :]
    assert whole[-len(after) :] == after
    assert tokenizer.encode_many([MASK, f"{MASK} sat", f"({MASK})"]) == [
        tokenizer.encode(one) for one in (MASK, f"{MASK} sat", f"({MASK})")
    ]
    assert tokenizer.encode(MASK) == [4] and tokenizer.encode(f"{MASK} sat")[0] == 4
    assert tokenizer.encode(f"({MASK})").count(4) == 1


def test_other_vocabularies_have_no_such_symbol() -> None:
    tokenizer = Tokenizer.learn([f"a {MASK} b"] * 5, TokenizerSettings(kind="symbols"))
    assert tokenizer.special.mask is None and tokenizer.special.first == 4


def test_where_words_begin() -> None:
    assert word_starts(["▁the", "re", ",", "▁", "x1"]) == [True, False, True, True, False]
    assert word_starts(["un", "##able", "."]) == [True, False, True]
    assert word_starts(["AA", "K"]) == [True, True]


def test_passages_are_packed_and_cut() -> None:
    tokenizer = Tokenizer.learn(["a b c d e f g h"], TokenizerSettings(kind="symbols"))

    def found(*texts: tuple[str, tuple[str, ...]], most: int = 6) -> list[str]:
        passages = [Pair(line, "", text, "", ends) for line, (text, ends) in enumerate(texts, 1)]
        return [one.source for one in packed(passages, tokenizer, most)]

    assert found(("a b", ()), ("c\n d", ()), ("e f", ())) == ["a b c d", "e f"]
    both = (BEGINS, ENDS)
    assert found(("a b", both), ("c d", both)) == ["a b", "c d"]
    assert found(("a b", (BEGINS,)), ("c", (ENDS,)), ("d", both)) == ["a b c", "d"]
    long = found(("a b c d e f g h", ()))
    assert " ".join(long) == "a b c d e f g h" and all(len(one.split()) <= 6 for one in long)
    assert [one.source for one in packed([Pair(1, "a", "", "")], tokenizer, 6)] == ["a"]


@pytest.mark.parametrize("most", [6, 9, 30])
def test_no_word_of_a_text_is_lost_and_all_parts_are_short(most: int) -> None:
    tokenizer = Tokenizer.learn_masked(sentences(), TokenizerSettings(kind="bpe", size=300))
    text = " ".join([*sentences(5), "antidisestablishmentarianism" * 3, *sentences(5)])
    passages = [Pair(1, "", text[start : start + 99], "") for start in range(0, len(text), 99)]
    column = SourceText(SourceCodec(tokenizer, None, True))
    found = list(packed(passages, tokenizer, most - 2))
    assert max(map(len, column.encode(found))) <= most
    assert "".join("".join(one.source.split()) for one in found) == "".join(text.split())


def test_what_belongs_into_a_gap_is_learnt(model: Filler) -> None:
    for noun, place in zip(NOUNS, PLACES, strict=False):
        assert model(f"the {noun} sat on the {MASK} , now") == f"the {noun} sat on the {place} , now"
    both = model(f"{MASK} {NOUNS[0]} sat on the {MASK} , now")
    assert both == f"the {NOUNS[0]} sat on the {PLACES[0]} , now"
    assert model("no gap here") == "no gap here"


def test_candidates_add_up_and_are_ordered(model: Filler) -> None:
    (found,) = model.predict([f"the {MASK} sat on the {MASK} , now"])
    assert len(found.gaps) == 2
    for gap in found.gaps:
        chances = [one.probability for one in gap]
        assert chances == sorted(chances, reverse=True) and 0.5 < sum(chances) <= 1 + 1e-6
    scores = [score for _, score in found.texts]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(sum(math.log(gap[0].probability) for gap in found.gaps))
    assert len({text for text, _ in found.texts}) == len(found.texts)


def test_the_masking_of_an_evaluation_is_fixed(model: Filler) -> None:
    examples = [Pair(line, text, "", "") for line, text in enumerate(sentences(30, 3), 1)]
    whole = model.outcome(examples)
    state = torch.get_rng_state()
    order = np.random.default_rng(1).permutation(len(examples))
    mixed = model.outcome([examples[place] for place in order])
    assert torch.equal(torch.get_rng_state(), state)
    alone = [model.outcome([one]) for one in examples]
    for name in ("nats", "tokens", "hits"):
        values = getattr(whole, name)
        assert getattr(mixed, name) == pytest.approx(values[order], rel=1e-4, abs=1e-5)
        assert [float(getattr(one, name)[0]) for one in alone] == pytest.approx(values, rel=1e-4, abs=1e-5)


@torch.inference_mode()
def test_the_pseudo_log_likelihood_hides_one_token_at_a_time(model: Filler) -> None:
    text = f"the {NOUNS[0]} sat on the {PLACES[0]} , now"
    (ids,) = model.column.encode([Pair(1, text, "", "")])
    total = 0.0
    for place in range(1, len(ids) - 1):
        hidden = [*ids[:place], model.mask, *ids[place + 1 :]]
        states = model.network.encode({"source": model.column.collate([hidden])}).states
        total += float(model.network.head.logits(states)[0, place].log_softmax(-1)[ids[place]])
    (found,) = model.target_scores([Pair(1, "", text, "")])
    assert found == pytest.approx(total, rel=1e-4)
    words = text.split()
    (shuffled,) = model.target_scores([Pair(1, "", " ".join(words[::-1]), "")])
    assert shuffled < found


def test_the_lens_shows_gaps_and_edits_change_them(model: Filler) -> None:
    text = f"the {NOUNS[1]} sat on the {MASK} , {MASK}"
    view = model.attention(text)
    assert view.kind == "gaps" and view.read == [f"{MASK} 1", f"{MASK} 2"]
    assert view.predicted[0] == f"▁{PLACES[1]}" and view.output.startswith(f"the {NOUNS[1]} sat on the")
    assert view.steps[0].top[0][1] == f"▁{PLACES[1]}"
    size = len(view.source)
    assert {tuple(one.shape) for one in view.weights.values()} == {(2, size, size)}
    edited = model.attention(text, edits=[parse_edit("off at=encoder.*.self heads=0,1 how=uniform")])
    assert edited.effect is not None and edited.effect.change is not None and edited.effect.change < -0.01
    for kind in ("gradient", "occlusion"):
        assert model.attribution(text, kind=kind).shape == (2, size)
    noun = view.source.index(f"▁{NOUNS[1]}")
    assert int(model.attribution(text, kind="occlusion")[0].argmax()) == noun


def test_a_text_without_gaps_still_has_attention(model: Filler) -> None:
    view = model.attention("the cat sat on the cat", edits=[parse_edit("off at=encoder.0.self heads=0")])
    assert view.predicted == [] and view.log_probability is None and "no [MASK]" in view.note
    assert view.effect is not None and view.effect.change == 0
    assert {"previous", "next", "special", "same"} <= view.summaries("encoder.0.self")[0].keys()
    for kind in ("gradient", "occlusion"):
        with pytest.raises(DataError, match=r"there is no \[MASK\]"):
            model.attribution("no gap", kind=kind)


@pytest.mark.parametrize("unit", ["tokens", "spans"])
def test_a_killed_run_goes_on_to_the_same_weights(unit: str, tmp_path: Path) -> None:
    settings = (*SMALL, f"training.masking.unit={unit}", "training.evaluate_every=4")
    asked: dict[str, Any] = {"settings": settings, "max_steps": 12}
    whole = filler(tmp_path, "whole", **asked)
    for number, killed in enumerate(np.random.default_rng(5).permutation(11)[:3] + 1):
        with pytest.raises(Killed):
            filler(tmp_path, f"killed {number}", int(killed), **asked)
        run = filler(tmp_path, f"killed {number}", resume=True, **asked)
        assert same(run, whole)
        records = [
            [json.loads(line) for line in (one / "metrics.jsonl").read_text().splitlines()]
            for one in (run, whole)
        ]
        losses = [[(one["step"], one.get("loss"), one.get("dev")) for one in every] for every in records]
        assert losses[0] == losses[1]


@pytest.mark.parametrize(
    "encoder",
    [
        ("model.encoder.kind=recurrent", "model.encoder.hidden=24", "model.tie_output=false"),
        ("model.encoder.kind=convolution", "model.encoder.layers=1"),
    ],
)
def test_any_encoder_can_learn_it(tmp_path: Path, encoder: tuple[str, ...]) -> None:
    kept = tuple(one for one in SMALL if "encoder" not in one)
    model = load(filler(tmp_path, settings=(*kept, *encoder), preset="reader-cnn", max_steps=10), "cpu")
    assert MASK not in model(f"the cat {MASK} on the mat")


def test_the_verbs(seq2see: Any, model: Filler, folder: Path) -> None:
    run, asked = folder / "filler", folder / "asked.txt"
    asked.write_text(f"the cat sat on the {MASK} , now\n\nno gap\n")
    assert seq2see("predict", run, asked).out.split("\n") == [
        "the cat sat on the mat , now",
        "",
        "no gap",
        "",
    ]
    rows = [line.split("\t") for line in seq2see("predict", run, asked, "--nbest", 3).out.splitlines()]
    assert [(row[0], row[1]) for row in rows] == [("1", "1"), ("1", "2"), ("1", "3"), ("2", "1"), ("3", "1")]
    found = [json.loads(line) for line in seq2see("predict", run, asked, "--json").out.splitlines()]
    best = found[0]["gaps"][0][0]
    assert best["token"] == "▁mat" and 0 < best["probability"] <= 1
    scores = json.loads(seq2see("evaluate", run, folder / "text.txt", "--json").out)
    assert {"loss", "perplexity", "accuracy"} <= set(scores) and 0 <= scores["accuracy"] <= 100
    assert scores["perplexity"] == pytest.approx(math.exp(scores["loss"]))
    asked.write_text("the cat sat on the mat , now\nmat the on sat cat the now ,\n")
    first, second = map(float, seq2see("score", run, asked).out.split())
    assert second < first < 0
    assert "encoder.1.self" in seq2see("heads", run, folder / "text.txt").out
    assert "the goal fill, which searches for nothing" in seq2see("predict", run, asked, "--beam", 2).err


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("model.front.kind=words", "model.front.kind=tokens"),
        ("model.encoder.kind=recurrent model.encoder.hidden=24", "model.tie_output"),
        ("training.masking.masked=0.9 training.masking.random=0.2", "together they may be 1"),
        ("data.features=2", "--goal fill has none"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, setting: str, said: str) -> None:
    kept = tuple(one for one in SMALL if "encoder" not in one)
    with pytest.raises(SettingsError, match=said):
        filler(tmp_path, settings=(*kept, *setting.split()), preset="reader-cnn")


@pytest.mark.parametrize("name", ["bert-tiny", "bert-small", "filler-tiny"])
def test_presets_are_the_published_sizes(name: str) -> None:
    from seq2see.goals import GOALS
    from seq2see.recipe import compose, preset
    from seq2see.text import SourceCodec

    tokenizer = Tokenizer.learn_masked(sentences(), TokenizerSettings(kind="words"))
    recipe = compose([preset(name), {"goal": "fill", "data": {"train": "x"}}], name)
    columns = {"source": SourceText(SourceCodec(tokenizer, None, True))}
    with torch.device("meta"):
        network = GOALS["fill"].network(recipe, columns)
    sizes = {"bert-tiny": 396_544, "bert-small": 12_609_536, "filler-tiny": 793_344}
    found = sum(size for part, size in network.parameter_counts().items() if part.startswith("encoder"))
    assert found == sizes[name]
