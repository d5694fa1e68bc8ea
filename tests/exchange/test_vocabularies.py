"""Tokenizers from elsewhere cut texts as they did there; only the numbers are others."""

import json
import warnings
from pathlib import Path
from typing import Any

import foreign
import pytest
import sentencepiece
import tokenizers
import torch
import transformers
from foreign import TEXTS
from tokenizers import AddedToken, decoders, models, normalizers, trainers

import seq2see
from seq2see.errors import DataError
from seq2see.exchange.importing import import_model
from seq2see.exchange.sentencepiece import read_pieces
from seq2see.exchange.vocabularies import Foreign, Symbols, renumbered

AWKWARD = [
    *TEXTS,
    "",
    " ",
    "  two  spaces ",
    "Ünïcödé, naïve façade",
    "日本語と中文",
    "tabs\tand\nlines",
    "[SEP] is <s> only <|endoftext|> text </s>",
    "a" * 300,
    "emoji 👩‍👩‍👧 and ﬁ ligature",
    "don't stop: it's 3.14 (or so)!",
]


def plain(inner: tokenizers.Tokenizer, text: str) -> list[int]:
    """The ids of a text for a tokenizer that looks for no symbol in it."""
    parts = json.loads(inner.to_str())
    parts["added_tokens"] = [one for one in parts["added_tokens"] if not one["special"]]
    return tokenizers.Tokenizer.from_str(json.dumps(parts)).encode(text, add_special_tokens=False).ids


def byte_fallback() -> tokenizers.Tokenizer:
    """Llama's kind: pairs of characters over ▁, bytes for what is unknown, and a word that was added."""
    inner = tokenizers.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    inner.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    inner.decoder = decoders.Sequence(steps)
    special = ["<unk>", "<s>", "</s>", *(f"<0x{number:02X}>" for number in range(256))]
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=special, show_progress=False)
    inner.train_from_iterator(TEXTS, trainer)
    parts = json.loads(inner.to_str())
    parts["added_tokens"] = parts["added_tokens"][:3]
    inner = tokenizers.Tokenizer.from_str(json.dumps(parts))
    inner.add_tokens([AddedToken("naïve", normalized=False)])
    return inner


KINDS: dict[str, tuple[Any, tuple[str | None, ...]]] = {
    "word pieces": (foreign.word_pieces, ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")),
    "byte pairs": (
        lambda: foreign.byte_pairs("<|endoftext|>"),
        (None, "<|endoftext|>", "<|endoftext|>", None),
    ),
    "unigram": (
        lambda: foreign.unigram("<s>", "<pad>", "</s>", "<unk>"),
        ("<pad>", "<pad>", "</s>", "<unk>"),
    ),
    "byte fallback": (byte_fallback, (None, "<s>", "</s>", "<unk>")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_cuts(kind: str, tmp_path: Path) -> None:
    """E5: tokens and texts are the same; names of symbols inside a text are only text."""
    make, symbols = KINDS[kind]
    inner = make()
    inner.save(str(tmp_path / "tokenizer.json"))
    numbers = [inner.token_to_id(name) if name is not None else None for name in symbols]
    found = renumbered(Foreign.read(tmp_path), Symbols(*numbers))
    for text in AWKWARD:
        ids = found.tokenizer.encode(text)
        assert found.tokenizer.encode_many([text]) == [ids]
        assert not {0, 1, 2} & set(ids)
        if kind == "unigram" and "<s>" in text:
            continue  # where the library takes the name for the symbol
        assert [found.order[one] for one in ids] == plain(inner, text)
        if inner.token_to_id("<unk>") not in [found.order[one] for one in ids] and kind != "word pieces":
            assert found.tokenizer.decode(ids) == inner.decode(plain(inner, text), skip_special_tokens=False)
    assert found.tokenizer.tokens([0, 1, 2, 3]) == ["<pad>", "<begin>", "<end>", "<unknown>"]


@pytest.mark.parametrize("lower", [True, False])
def test_a_list_of_word_pieces(lower: bool, tmp_path: Path) -> None:
    """E5: `vocab.txt` with its configuration is the same as `tokenizer.json`."""
    whole = foreign.bert(tmp_path / "theirs").folder
    parts = json.loads((whole / "tokenizer.json").read_text())
    parts["normalizer"]["lowercase"] = lower
    (whole / "tokenizer.json").write_text(json.dumps(parts))
    import_model(whole, tmp_path / "whole", tell=lambda note: None)
    pieces = sorted(parts["model"]["vocab"], key=parts["model"]["vocab"].__getitem__)
    (whole / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    (whole / "tokenizer.json").unlink()
    (whole / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
    import_model(whole, tmp_path / "listed", tell=lambda note: None)
    models_read = [seq2see.load(tmp_path / name, "cpu") for name in ("whole", "listed")]
    first, second = (one.run.columns["source"].codec for one in models_read)
    assert first.encode_sources([*AWKWARD, "The QUICK"]) == second.encode_sources([*AWKWARD, "The QUICK"])
    assert first.source.special == second.source.special


def test_merges_beside_a_vocabulary(tmp_path: Path) -> None:
    """E5: `vocab.json` and `merges.txt` are the same as `tokenizer.json`."""
    one = foreign.gpt2(tmp_path / "theirs")
    import_model(one.folder, tmp_path / "whole", tell=lambda note: None)
    parts = json.loads((one.folder / "tokenizer.json").read_text())
    vocabulary = parts["model"]["vocab"] | {"<|endoftext|>": one.inner.token_to_id("<|endoftext|>")}
    (one.folder / "vocab.json").write_text(json.dumps(vocabulary))
    lines = "".join(f"{first} {second}\n" for first, second in parts["model"]["merges"])
    (one.folder / "merges.txt").write_text(f"#version: 0.2\n{lines}", encoding="utf-8")
    (one.folder / "tokenizer.json").unlink()
    import_model(one.folder, tmp_path / "listed", tell=lambda note: None)
    first, second = (seq2see.load(tmp_path / name, "cpu").tokenizer for name in ("whole", "listed"))
    assert first.vocabulary == second.vocabulary
    assert first.encode_many(AWKWARD) == second.encode_many(AWKWARD)


def piece_model(path: Path, texts: list[str], size: int, kind: str = "unigram") -> None:
    """Train a SentencePiece model."""
    lines = path.with_suffix(".txt")
    lines.write_text("\n".join(texts * 4), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(lines),
        model_prefix=str(path.with_suffix("")),
        vocab_size=size,
        model_type=kind,
        bos_id=-1,
        minloglevel=2,
        hard_vocab_limit=False,
    )
    path.with_suffix(".model").rename(path)


def ordinary(spm: Any) -> list[int]:
    """The numbers of pieces that are found in texts."""
    return [one for one in range(spm.get_piece_size()) if not spm.is_control(one) and not spm.is_unknown(one)]


def marian(folder: Path) -> tuple[Any, Any]:
    """A small Marian with SentencePiece models; each lacks pieces of the other, and some have no number."""
    folder.mkdir()
    piece_model(folder / "source.spm", TEXTS[:2], 60)
    piece_model(folder / "target.spm", [text.upper() for text in TEXTS[2:]], 60)
    pieces: list[str] = []
    for name in ("source", "target"):
        spm = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
        pieces += [spm.id_to_piece(number) for number in ordinary(spm)][:-2]
    listed = ["</s>", "<unk>", ">>deu<<", *dict.fromkeys(pieces), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({name: number for number, name in enumerate(listed)}))
    config = transformers.MarianConfig(
        vocab_size=len(listed),
        d_model=16,
        pad_token_id=len(listed) - 1,
        decoder_start_token_id=len(listed) - 1,
        **foreign.SIDES,
    )
    model = foreign.noisy(transformers.MarianMTModel(config))
    model.save_pretrained(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = {f"{name}_spm": str(folder / f"{name}.spm") for name in ("source", "target")}
        tokenizer = transformers.MarianTokenizer(**files, vocab=str(folder / "vocab.json"))
    return model, tokenizer


def test_marian_cuts_both_sides(tmp_path: Path) -> None:
    """E5: Marian's SentencePiece models: the same numbers and probabilities of pairs; languages are found."""
    theirs, tokenizer = marian(tmp_path / "theirs")
    import_model(tmp_path / "theirs", tmp_path / "run", tell=lambda note: None)
    ours = seq2see.load(tmp_path / "run", "cpu")
    # The name of a symbol is the symbol there, and only text here.
    texts = [*(text for text in AWKWARD if "<s>" not in text), ">>deu<< the quick fox"]
    for text in texts:
        target = text.removeprefix(">>deu<< ").upper()
        source = tokenizer(text)["input_ids"]
        wanted = tokenizer(text_target=target)["input_ids"]
        own = ours.codec.encode_sources([text])[0]
        assert len(own) == len(source), text
        inputs = torch.tensor([[theirs.config.decoder_start_token_id, *wanted[:-1]]])
        with torch.no_grad():
            logits = theirs(torch.tensor([source]), decoder_input_ids=inputs).logits.log_softmax(-1)
        ids = ours.codec.target.encode(target)
        assert len(ids) + 1 == len(wanted)
        known = [place for place, number in enumerate(wanted) if number != tokenizer.unk_token_id]
        expected = logits[0, known, torch.tensor(wanted)[known]]
        rows = torch.tensor([[ours.codec.target.special.begin, *ids]])
        with torch.no_grad():
            found = ours.network.logits(torch.tensor([own]), rows).log_softmax(-1)
        mine = found[0, known, torch.tensor([*ids, ours.codec.target.special.end])[known]]
        torch.testing.assert_close(mine, expected, rtol=1e-4, atol=1e-5)
    back = ours.codec.target.decode(ours.codec.target.encode(TEXTS[2].upper()))
    assert back == TEXTS[2].upper()


def test_other_piece_models_are_refused(tmp_path: Path) -> None:
    """E5: not a unigram model, cut short, or anything else."""
    piece_model(tmp_path / "bpe.spm", TEXTS, 60, "bpe")
    with pytest.raises(DataError, match="of the kind unigram"):
        read_pieces(tmp_path / "bpe.spm")
    piece_model(tmp_path / "whole.spm", TEXTS, 60)
    whole = (tmp_path / "whole.spm").read_bytes()
    spm = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "whole.spm"))
    scores = read_pieces(tmp_path / "whole.spm").scores
    assert scores == {spm.id_to_piece(one): pytest.approx(spm.get_score(one)) for one in ordinary(spm)}
    for content in (b"", whole[:-7], whole[1:], b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x7f"):
        (tmp_path / "part.spm").write_bytes(content)
        with pytest.raises(DataError, match=r"part\.spm is not a SentencePiece model"):
            read_pieces(tmp_path / "part.spm")
