"""Runs go out as folders that `transformers` loads, with the same answers, and come back as they were."""

from pathlib import Path
from typing import Any

import foreign
import pytest
import torch
import transformers
from foreign import TEXTS, side
from torch import Tensor

import seq2see
from seq2see.data.columns import Passages, SourceText
from seq2see.errors import Seq2seeError
from seq2see.exchange.exporting import export_run
from seq2see.exchange.importing import import_model, write_run
from seq2see.exchange.texts import Texts
from seq2see.goals import goal_named
from seq2see.goals.generate import columns_of
from seq2see.models.weights import read_tensors, weights_of
from seq2see.recipe import Recipe
from seq2see.text import MASK, Codec, SourceCodec, Tokenizer, TokenizerSettings

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
PART = {"layers": 2, "heads": 4, "feedforward": 24}
LEARNED = PART | {"positions": "learned", "norm": "before", "activation": "gelu-tanh"}
ROTARY = PART | {"positions": "rotary", "norm_kind": "rms", "activation": "swiglu", "bias": False}
SINES = PART | {"positions": "sinusoidal"}
AFTER = SINES | {"norm": "after", "activation": "silu"}
NONE = {"kind": "none"}
BERT = {
    "front": {"scale": False, "norm": True, "epsilon": 1e-12},
    "encoder": PART | {"positions": "learned", "norm": "after", "activation": "gelu", "epsilon": 1e-12},
    "decoder": None,
    "head": {"transform": {"epsilon": 1e-12}},
}
PLAIN = {"front": {"scale": False}}
MODELS: dict[str, tuple[str, dict[str, Any], str]] = {
    "gpt2": ("complete", {"encoder": NONE, "decoder": LEARNED, **PLAIN}, "GPT2LMHeadModel"),
    "gpt2, scaled": (
        "complete",
        {"encoder": NONE, "decoder": LEARNED | {"activation": "relu-squared"}},
        "GPT2LMHeadModel",
    ),
    "llama": ("complete", {"encoder": NONE, "decoder": ROTARY, **PLAIN}, "LlamaForCausalLM"),
    "llama, groups": (
        "complete",
        {"encoder": NONE, "decoder": ROTARY | {"groups": 2, "bias": True, "rotary_base": 500.0}, **PLAIN},
        "LlamaForCausalLM",
    ),
    "bert": ("fill", BERT, "BertForMaskedLM"),
    "marian": ("generate", {"encoder": AFTER, "decoder": AFTER}, "MarianMTModel"),
    "marian, shared": (
        "generate",
        {"encoder": AFTER, "decoder": AFTER | {"layers": 1}, "share_embeddings": True, "output_bias": True},
        "MarianMTModel",
    ),
    "marian, untied": (
        "generate",
        {"encoder": AFTER, "decoder": AFTER, "share_embeddings": True, "tie_output": False},
        "MarianMTModel",
    ),
    "pegasus": ("generate", {"encoder": SINES, "decoder": SINES}, "PegasusForConditionalGeneration"),
    "pegasus, shared": (
        "generate",
        {"encoder": SINES, "decoder": SINES, "share_embeddings": True},
        "PegasusForConditionalGeneration",
    ),
}
RETURNING = [name for name in MODELS if name not in ("gpt2, scaled", "pegasus")]
"""Those that come back weight by weight; of the others the embedding was scaled or untied."""


def make_run(folder: Path, goal: str, model: dict[str, Any], kind: str = "bpe") -> Path:
    """A random model of ours, as a run."""
    settings = TokenizerSettings(kind=kind, size=320)
    shared = bool(model.get("share_embeddings"))
    text: dict[str, Any] = {"source": settings, "target": settings, "shared": shared}
    if goal == "complete":
        columns: Any = {"target": Passages(Tokenizer.learn_running(TEXTS, settings))}
    elif goal == "fill":
        tokenizer = Tokenizer.learn_masked(TEXTS, settings)
        columns = {"source": SourceText(SourceCodec(tokenizer, begins=True))}
        text["begins"] = True
    else:
        source = Tokenizer.learn(TEXTS[:2], settings)
        columns = columns_of(Codec(source, source if shared else Tokenizer.learn(TEXTS, settings)))
    values = {"goal": goal, "data": {"train": "-", "max_length": 40}, "text": text}
    values["training"] = {"masking": {}} if goal == "fill" else {}
    recipe = Recipe.model_validate(values | {"model": {"width": 16, "max_length": 40, **model}})
    torch.manual_seed(1)
    network = goal_named(goal).network(recipe, columns)
    for parameter in network.parameters():
        parameter.data += torch.randn_like(parameter) * 0.2
    write_run(folder, recipe, Texts(columns, {}, {}), weights_of(network), "here", 40)
    return folder


def load_foreign(folder: Path, kind: str) -> tuple[Any, Any]:
    """Model and tokenizer as `transformers` reads them."""
    model, report = getattr(transformers, kind).from_pretrained(folder, output_loading_info=True)
    missing = {name for name in report["missing_keys"] if "embed_positions" not in name}
    assert not missing and not report["unexpected_keys"] and not report["mismatched_keys"]
    return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)


@torch.no_grad()
def logits_of(model: Any, text: str, target: str) -> tuple[list[int], list[int], Tensor]:
    """What our model reads and writes, and its logits."""
    network, goal = model.network, model.recipe.goal
    if goal == "complete":
        ids = model.tokenizer.encode(text)
        return ids, [], network.logits(torch.tensor([ids]))
    (ids,) = model.run.columns["source"].codec.encode_sources([text])
    if goal == "fill":
        return ids, [], network.head.logits(network.encode({"source": side(torch.tensor([ids]))}).states)
    wanted = model.codec.target.encode(target)
    inputs = torch.tensor([[model.codec.target.special.begin, *wanted]])
    return ids, wanted, network.logits(torch.tensor([ids]), inputs)


@pytest.mark.parametrize("name", MODELS)
def test_transformers_says_the_same(name: str, tmp_path: Path) -> None:
    """E6: the same ids of texts, and the same logits."""
    goal, settings, kind = MODELS[name]
    run = make_run(tmp_path / "run", goal, settings)
    assert export_run(run, tmp_path / "out") == kind
    ours = seq2see.load(run, "cpu")
    theirs, tokenizer = load_foreign(tmp_path / "out", kind)
    target_tokenizer = tokenizer
    if (tmp_path / "out" / "target_tokenizer").exists():
        target_tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out" / "target_tokenizer")
    for text in TEXTS:
        text = text.replace(" quick", f" {MASK}") if goal == "fill" else text
        ids, wanted, expected = logits_of(ours, text, TEXTS[1])
        assert tokenizer(text)["input_ids"] == ids
        given: dict[str, Any] = {}
        if goal == "generate":
            assert target_tokenizer(TEXTS[1])["input_ids"][:-1] == wanted
            assert target_tokenizer.decode(wanted, skip_special_tokens=True).strip() == TEXTS[1]
            given = {"decoder_input_ids": torch.tensor([[theirs.config.decoder_start_token_id, *wanted]])}
        with torch.no_grad():
            found = theirs(torch.tensor([ids]), **given).logits
        torch.testing.assert_close(found[..., : expected.shape[-1]], expected, **CLOSE)
        if goal == "generate":
            outputs = theirs.generate(torch.tensor([ids]), num_beams=1, max_new_tokens=8, do_sample=False)
            said = target_tokenizer.decode(outputs[0], skip_special_tokens=True)
            assert said.strip() == ours([text], beam=1, max_length=9)[0].strip()


@pytest.mark.parametrize("name", RETURNING)
def test_what_went_out_comes_back(name: str, tmp_path: Path) -> None:
    """E6: import(export(x)) = x, weight by weight and text by text."""
    goal, settings, _ = MODELS[name]
    run = make_run(tmp_path / "run", goal, settings)
    export_run(run, tmp_path / "out")
    import_model(tmp_path / "out", tmp_path / "back", tell=lambda note: None)
    first, second = (seq2see.load(folder, "cpu") for folder in (run, tmp_path / "back"))
    of_training = {"dropout": 0.0, "max_length": 40}  # which Llama's configuration does not have
    expected, found = (one.recipe.model.model_dump() | of_training for one in (first, second))
    assert expected == found
    before, after = (read_tensors(folder / "model.safetensors")[0] for folder in (run, tmp_path / "back"))
    assert before.keys() == after.keys()
    assert all(before[weight].equal(after[weight]) for weight in before)
    for text in TEXTS:
        assert logits_of(first, text, TEXTS[0])[:2] == logits_of(second, text, TEXTS[0])[:2]


@pytest.mark.parametrize("kind", ["gpt2", "llama", "marian", "pegasus", "bert"])
def test_a_model_from_elsewhere_goes_out_again(kind: str, tmp_path: Path) -> None:
    """E6: export(import(x)) says what x said; symbols that x does not have are left out."""
    makers = {"gpt2": foreign.gpt2, "llama": foreign.llama, "bert": foreign.bert}
    make = makers.get(kind) or (lambda folder: foreign.pair(folder, kind.capitalize()))
    one = make(tmp_path / "theirs")
    import_model(one.folder, tmp_path / "run", tell=lambda note: None)
    theirs, tokenizer = load_foreign(tmp_path / "out", export_run(tmp_path / "run", tmp_path / "out"))
    for text in TEXTS:
        ids, before = tokenizer(text)["input_ids"], one.inner.encode(text).ids
        start = one.model.config.decoder_start_token_id if kind in ("marian", "pegasus") else None
        with torch.no_grad():
            if start is not None:
                now = theirs(
                    torch.tensor([ids]),
                    decoder_input_ids=torch.tensor([[theirs.config.decoder_start_token_id]]),
                )
                then = one.model(torch.tensor([before]), decoder_input_ids=torch.tensor([[start]]))
            else:
                now, then = theirs(torch.tensor([ids])), one.model(torch.tensor([before]))
        known = then.logits[..., : one.inner.get_vocab_size()].log_softmax(-1)
        best, expected = now.logits.log_softmax(-1).amax(-1), known.amax(-1)
        torch.testing.assert_close(best, expected, **CLOSE)
        assert tokenizer.convert_ids_to_tokens(ids[1:-1]) == one.inner.encode(text).tokens[1:-1]


REFUSED = {
    "rotary cross": ("generate", {"encoder": PART, "decoder": PART}, "positions = sinusoidal"),
    "pointer": ("generate", {"encoder": SINES, "decoder": SINES, "pointer": True}, "model.pointer"),
    "recurrent": ("generate", {"encoder": {"kind": "recurrent"}, "decoder": SINES}, "recurrent encoder"),
    "norms differ": ("generate", {"encoder": SINES, "decoder": AFTER}, "model.decoder.norm = before"),
    "recurrent decoder": (
        "complete",
        {"encoder": NONE, "decoder": {"kind": "recurrent", "attention": "none"}},
        "recurrent decoder",
    ),
    "rotary gpt": ("complete", {"encoder": NONE, "decoder": PART}, "model.decoder.positions = learned"),
    "bias": ("complete", {"encoder": NONE, "decoder": LEARNED, "output_bias": True}, "output layer"),
    "bert before": (
        "fill",
        BERT | {"encoder": BERT["encoder"] | {"norm": "before"}},
        "model.encoder.norm = after",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nothing_fits_is_refused(name: str, tmp_path: Path) -> None:
    """E6: with the setting that has no counterpart; nothing is left behind."""
    goal, settings, reason = REFUSED[name]
    run = make_run(tmp_path / "run", goal, settings)
    with pytest.raises(Seq2seeError, match=reason):
        export_run(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["characters", "symbols", "words", "unigram"])
def test_every_tokenizer_goes_out(kind: str, tmp_path: Path) -> None:
    """E6: `transformers` cuts texts as we do, and joins them again."""
    run = make_run(tmp_path / "run", "generate", {"encoder": SINES, "decoder": SINES}, kind)
    export_run(run, tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    codec = seq2see.load(run, "cpu").codec
    for text in (*TEXTS, "unseen Öl"):
        (ids,) = codec.encode_sources([text])
        assert tokenizer(text)["input_ids"] == ids
        if codec.source.special.unknown not in ids:
            assert tokenizer.decode(ids, skip_special_tokens=True) == codec.source.decode(ids)
