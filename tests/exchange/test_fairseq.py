"""Transformers of fairseq as runs; transformers' port of fairseq's models is what they are compared with."""

import argparse
from pathlib import Path
from typing import Any

import foreign
import pytest
import torch
import transformers

import seq2see
from seq2see.errors import DataError
from seq2see.exchange.importing import import_model

WORDS = [
    ["the", "quick", "brown", "fo@@", "x", "b"],
    ["le", "vite", "brun", "re@@", "nard", "ch@@", "at", "z"],
]
SOURCES = ["the quick fo@@ x", "brown", "unseen the x"]
TARGETS = ["le re@@ nard brun", "vite ch@@ at", ""]


def make(folder: Path, **changed: Any) -> Any:
    """A small checkpoint, with two rows more than its dictionaries have tokens."""
    folder.mkdir()
    sizes = []
    for side, words in zip(("en", "fr"), WORDS, strict=True):
        lines = "".join(f"{word} {100 - number}\n" for number, word in enumerate(words))
        (folder / f"dict.{side}.txt").write_text(lines, encoding="utf-8")
        sizes.append(len(words) + 6)
    config = transformers.FSMTConfig(
        langs=["en", "fr"],
        src_vocab_size=sizes[0],
        tgt_vocab_size=sizes[1],
        d_model=16,
        max_position_embeddings=64,
        tie_word_embeddings=False,
        scale_embedding=True,
        attn_implementation="eager",
        **foreign.SIDES,
    )
    model = transformers.FSMTForConditionalGeneration(config)
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data += torch.randn_like(parameter) * 0.2
    for side in (model.model.encoder, model.model.decoder):
        table = side.embed_positions
        table.weight.data = table.get_embedding(*table.weight.shape, table.padding_idx)
    weights = {name.removeprefix("model."): tensor for name, tensor in model.state_dict().items()}
    weights = {name: tensor for name, tensor in weights.items() if "embed_positions" not in name}
    tied = torch.equal(weights["decoder.embed_tokens.weight"], weights["decoder.output_projection.weight"])
    weights["encoder.embed_positions._float_tensor"] = torch.zeros(1)
    settings = {
        **{f"{side}_embed_dim": 16 for side in ("encoder", "decoder")},
        **{f"{side}_ffn_embed_dim": 24 for side in ("encoder", "decoder")},
        **{f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in SIZES.items()},
        "source_lang": "en",
        "target_lang": "fr",
        "activation_fn": "relu",
        "share_decoder_input_output_embed": tied,
        "max_source_positions": 64,
        "max_target_positions": 64,
    }
    args = argparse.Namespace(**(settings | changed))
    torch.save({"args": args, "model": weights, "extra_state": {}}, folder / "checkpoint_best.pt")
    return model.eval()


SIZES = {"layers": 2, "attention_heads": 4}


def rows(words: list[str], text: str) -> list[int]:
    """Numbers as fairseq gives them: after four symbols, 3 for what is unknown."""
    return [words.index(word) + 4 if word in words else 3 for word in text.split()]


def test_the_same_log_probabilities(tmp_path: Path) -> None:
    """E5: tokens with spaces between them, as the dictionaries have them."""
    theirs = make(tmp_path / "theirs")
    import_model(tmp_path / "theirs", tmp_path / "run", allow_pickle=True, tell=lambda note: None)
    ours = seq2see.load(tmp_path / "run", "cpu")
    expected = []
    for source, target in zip(SOURCES, TARGETS, strict=True):
        wanted = [*rows(WORDS[1], target), 2]
        with torch.no_grad():
            logits = theirs(
                torch.tensor([[*rows(WORDS[0], source), 2]]),
                decoder_input_ids=torch.tensor([[2, *wanted[:-1]]]),
                use_cache=False,
            ).logits
        expected.append(float(logits.log_softmax(-1)[0, range(len(wanted)), wanted].sum()))
    found = list(ours.score(zip(SOURCES, TARGETS, strict=True)))
    assert found == pytest.approx(expected, abs=1e-4)


def test_sub_words_are_cut_by_their_codes(tmp_path: Path) -> None:
    """E5: with the merges of subword-nmt, texts are plain; a piece without a number is unknown."""
    make(tmp_path / "theirs")
    merges = ["f o", "r e", "t h", "th e</w>", "r d</w>", "a rd</w>", "n ard</w>", "a t</w>", "c h"]
    (tmp_path / "theirs" / "bpe.codes").write_text("#version: 0.2\n" + "\n".join(merges), encoding="utf-8")
    import_model(tmp_path / "theirs", tmp_path / "run", allow_pickle=True, tell=lambda note: None)
    codec = seq2see.load(tmp_path / "run", "cpu").codec
    assert codec.target.tokens(codec.target.encode("renard chat")) == ["re", "nard</w>", "ch", "at</w>"]
    assert codec.target.decode(codec.target.encode("renard chat")) == "renard chat"
    assert codec.source.encode("fox") == [codec.source.vocabulary["fo"], codec.source.vocabulary["x</w>"]]
    assert codec.source.encode("é") == [codec.source.special.unknown]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "widths": ({"decoder_embed_dim": 32}, "our model has one width"),
    "adaptive": ({"adaptive_softmax_cutoff": "100,200"}, "a plain one"),
    "layers": ({"encoder_layers": 1}, "of a part that our model does not have"),
    "wider": ({"encoder_embed_dim": 32, "decoder_embed_dim": 32}, "by the configuration"),
    "before": ({"encoder_normalize_before": True}, "encoder.layer_norm.weight is missing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name: str, tmp_path: Path) -> None:
    """E5: each with its reason."""
    changed, reason = REFUSED[name]
    make(tmp_path / "theirs", **changed)
    with pytest.raises(DataError, match=reason):
        import_model(tmp_path / "theirs", tmp_path / "run", allow_pickle=True, tell=lambda note: None)
    assert not (tmp_path / "run").exists()


def test_only_if_asked(tmp_path: Path) -> None:
    """E5: a checkpoint of fairseq is a pickle; and one that is none is refused."""
    make(tmp_path / "theirs")
    with pytest.raises(DataError, match="--allow-pickle"):
        import_model(tmp_path / "theirs", tmp_path / "run")
    (tmp_path / "theirs" / "checkpoint_best.pt").write_bytes(b"no checkpoint")
    with pytest.raises(DataError, match="is not a checkpoint of fairseq"):
        import_model(tmp_path / "theirs", tmp_path / "run", allow_pickle=True)
