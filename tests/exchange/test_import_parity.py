"""Models from elsewhere say here what they said there: states, attention, logits and outputs."""

from pathlib import Path
from typing import Any

import foreign
import pytest
import torch
from foreign import TEXTS, Foreign, Seen, side, states_of
from torch import Tensor

import seq2see
from seq2see.decoding.filters import never_chosen
from seq2see.exchange.importing import import_model
from seq2see.models.contracts import Prefix
from seq2see.text import MASK, Tokenizer

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
HALVES = torch.arange(16).view(2, 8).T.flatten()
SYMBOLS = {
    "< pad >": ("<pad>", "[PAD]"),
    "< begin >": ("[CLS]",),
    "< end >": ("</s>", "[SEP]", "<|endoftext|>"),
    "< unknown >": ("<unk>", "[UNK]"),
    "[MASK]": ("<mask>",),
}


def imported(one: Foreign, tmp_path: Path) -> Any:
    """The model as a run of ours, read back."""
    import_model(one.folder, tmp_path / "run", tell=lambda note: None)
    return seq2see.load(tmp_path / "run", "cpu")


def same_tokens(one: Foreign, tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Our ids and the foreign ones of all tokens that both have; symbols that are copies are left out."""
    theirs = one.inner.get_vocab()
    pairs = []
    for token, place in tokenizer.vocabulary.items():
        options = [token, *SYMBOLS.get(token, ())]
        if token.startswith("< "):
            options.append(token[2:-2])
        if token == "< begin >" and "< <s> >" not in tokenizer.vocabulary:
            options.append("<s>")
        found = [theirs[name] for name in options if name in theirs]
        if found:
            pairs.append((place, found[0]))
    assert len(pairs) >= len(theirs)
    return [ours for ours, _ in pairs], [number for _, number in pairs]


def same_logits(ours: Tensor, theirs: Tensor, one: Foreign, tokenizer: Tokenizer) -> None:
    """Log-probabilities of all tokens, which nothing else takes a share of."""
    places, numbers = same_tokens(one, tokenizer)
    known = theirs[..., : one.inner.get_vocab_size()]
    torch.testing.assert_close(
        ours.log_softmax(-1)[..., places], known.log_softmax(-1)[..., numbers], **CLOSE
    )


DECODERS = {
    "gpt2": lambda folder: foreign.gpt2(folder),
    "gpt2, relu, untied": lambda folder: foreign.gpt2(
        folder, activation_function="relu", tie_word_embeddings=False, n_inner=20
    ),
    "llama": lambda folder: foreign.llama(folder),
    "llama, tied": lambda folder: foreign.llama(folder, tie_word_embeddings=True, num_key_value_heads=1),
    "llama, biases": lambda folder: foreign.llama(folder, attention_bias=True),
}


@pytest.mark.parametrize("kind", DECODERS)
def test_decoders(kind: str, tmp_path: Path) -> None:
    """E5: every state, head and logit of a decoder alone, and what it writes."""
    one = DECODERS[kind](tmp_path / "theirs")
    model = imported(one, tmp_path)
    network, tokenizer = model.network, model.tokenizer
    begins = model.recipe.text.begins
    for text in TEXTS:
        ids, own = one.inner.encode(text).ids, tokenizer.encode(text)
        assert len(own) + begins == len(ids)
        rows = torch.tensor([[tokenizer.special.begin] * begins + own])
        seen = Seen()
        with torch.no_grad(), states_of(network.decoder.blocks) as states:
            theirs = one.model(torch.tensor([ids]), output_hidden_states=True, output_attentions=True)
            logits = network.logits(rows, seen)
        last = network.decoder.final_norm(states[-1])
        torch.testing.assert_close(last, theirs.hidden_states[-1], **CLOSE)
        for ours, expected in zip(states[:-1], theirs.hidden_states[1:-1], strict=True):
            torch.testing.assert_close(ours, expected, **CLOSE)
        for layer, expected in enumerate(theirs.attentions):
            torch.testing.assert_close(seen[f"decoder.{layer}.self"], expected, **CLOSE)
        same_logits(logits, theirs.logits, one, tokenizer)
        told = one.model.generate(
            torch.tensor([ids]),
            max_new_tokens=12,
            do_sample=False,
            suppress_tokens=_never(one),
            eos_token_id=one.model.config.eos_token_id,
        )[0].tolist()
        expected = one.inner.decode(told, skip_special_tokens=True).strip()
        assert (text + tokenizer.decode(_greedy(network, rows.tolist()[0]))).strip() == expected
        assert model([text], beam=1, max_length=12)[0].strip() == expected


@torch.inference_mode()
def _greedy(network: Any, row: list[int]) -> list[int]:
    """The likeliest tokens one after another, by cached steps."""
    logits, state = network.prefill(None, Prefix.of([row], network.special.pad, network.device))
    found, scores = [], logits[:, -1]
    never = torch.tensor(never_chosen(network.special))
    while len(found) < 12:
        token = scores.index_fill(1, never, -torch.inf).argmax(-1)
        if token.item() == network.special.end:
            break
        found.append(int(token))
        scores, state = network.step(token, state)
    return found


def _never(one: Foreign) -> list[int] | None:
    """Symbols and rows without a token, which our models do not write."""
    never = [number for name in ("<unk>", "<s>") if (number := one.inner.token_to_id(name)) is not None]
    never += range(one.inner.get_vocab_size(), one.model.config.vocab_size)
    return never or None


PAIRS = {
    "marian": ("Marian", {}),
    "marian, relu": ("Marian", {"activation_function": "relu", "scale_embedding": False}),
    "pegasus": ("Pegasus", {}),
    "pegasus, untied": ("Pegasus", {"tie_word_embeddings": False}),
    "bart": ("Bart", {"activation_function": "gelu", "scale_embedding": False}),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_encoder_decoders(kind: str, tmp_path: Path) -> None:
    """E5: every state and head of both sides, the logits, and greedy outputs."""
    name, options = PAIRS[kind]
    one = foreign.pair(tmp_path / "theirs", name, **options)
    model = imported(one, tmp_path)
    network, codec, config = model.network, model.codec, one.model.config
    order = HALVES if name != "Bart" else torch.arange(16)
    for text, target in zip(TEXTS, reversed(TEXTS), strict=True):
        source, wanted = one.inner.encode(text).ids, one.inner.encode(target, add_special_tokens=False).ids
        own = codec.encode_sources([text])[0]
        assert len(own) == len(source)
        inputs = torch.tensor([[codec.target.special.begin, *codec.target.encode(target)]])
        seen = Seen()
        with torch.no_grad(), states_of([*network.encoder.blocks, *network.decoder.blocks]) as states:
            theirs = one.model(
                torch.tensor([source]),
                decoder_input_ids=torch.tensor([[config.decoder_start_token_id, *wanted]]),
                output_hidden_states=True,
                output_attentions=True,
            )
            logits = network.logits(torch.tensor([own]), inputs, seen)
        for which, own_states in (("encoder", states[:2]), ("decoder", states[2:])):
            expected = getattr(theirs, f"{which}_hidden_states")
            ends = [own_states[0], getattr(network, which).final_norm(own_states[1])]
            if name != "Pegasus":
                ends = own_states
            for ours, there in zip(ends, expected[1:], strict=True):
                torch.testing.assert_close(ours, there[..., order], **CLOSE)
            for layer, there in enumerate(getattr(theirs, f"{which}_attentions")):
                torch.testing.assert_close(seen[f"{which}.{layer}.self"], there, **CLOSE)
        for layer, there in enumerate(theirs.cross_attentions):
            torch.testing.assert_close(seen[f"decoder.{layer}.cross"], there, **CLOSE)
        same_logits(logits, theirs.logits, one, codec.target)
    _same_outputs(one, model)


def _same_outputs(one: Foreign, model: Any) -> None:
    config = one.model.config
    never = [config.pad_token_id, one.inner.token_to_id("<unk>")]
    never += [config.decoder_start_token_id] * (config.decoder_start_token_id != config.eos_token_id)
    for text in TEXTS:
        found = one.model.generate(
            torch.tensor([one.inner.encode(text).ids]),
            max_new_tokens=12,
            do_sample=False,
            num_beams=1,
            suppress_tokens=never,
        )[0].tolist()
        said = model([text], beam=1, max_length=13)[0]
        assert said.strip() == one.inner.decode(found, skip_special_tokens=True).strip()


FILLERS = {
    "bert": lambda folder: foreign.bert(folder),
    "bert, relu": lambda folder: foreign.bert(folder, hidden_act="relu", layer_norm_eps=1e-3),
    "roberta": foreign.roberta,
}


@pytest.mark.parametrize("kind", FILLERS)
def test_fillers(kind: str, tmp_path: Path) -> None:
    """E5: every state and head of an encoder alone, and what it says of hidden tokens."""
    one = FILLERS[kind](tmp_path / "theirs")
    model = imported(one, tmp_path)
    network, codec = model.network, model.run.columns["source"].codec
    mask = "<mask>" if kind == "roberta" else MASK
    for text in TEXTS:
        hidden = text.replace(" quick", f" {mask}")
        ids = one.inner.encode(hidden).ids
        (own,) = codec.encode_sources([hidden.replace(mask, MASK)])
        assert len(ids) == len(own)
        seen = Seen()
        with torch.no_grad(), states_of(network.encoder.blocks) as states:
            theirs = one.model(torch.tensor([ids]), output_hidden_states=True, output_attentions=True)
            rows = torch.tensor([own])
            memory = network.encode({"source": side(rows)}, seen)
            logits = network.head.logits(memory.states)
        for ours, there in zip(states, theirs.hidden_states[1:], strict=True):
            torch.testing.assert_close(ours, there, **CLOSE)
        for layer, there in enumerate(theirs.attentions):
            torch.testing.assert_close(seen[f"encoder.{layer}.self"], there, **CLOSE)
        same_logits(logits, theirs.logits, one, codec.source)
