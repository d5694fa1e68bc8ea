"""Tokenizers of other tools as ours: the same cuts, with the special symbols first."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers

from seq2see.errors import DataError
from seq2see.exchange.reading import read_json, read_lines
from seq2see.text import MASK, SPECIAL, UNKNOWN, Tokenizer
from seq2see.wording import quoted

__all__ = ["Foreign", "Symbols", "Vocabulary", "library_tokenizer", "renumbered"]


class Symbols(NamedTuple):
    """The foreign ids of the special symbols, in the order of ours; None for one that there is not."""

    pad: int | None
    begin: int | None
    end: int | None
    unknown: int | None
    mask: int | None = None


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer of ours, and the foreign id of each of its tokens."""

    tokenizer: Tokenizer
    order: list[int | None]


class Foreign:
    """The tokenizer of a folder as the `tokenizers` library describes it, and what its symbols are for."""

    def __init__(self, parts: dict[str, Any], folder: Path) -> None:
        self.parts, self.folder = parts, folder
        self._inner = library_tokenizer(parts, str(folder))
        self.ids: dict[str, int] = self._inner.get_vocab()
        self._named: dict[str, Any] = {}
        for name in ("special_tokens_map.json", "tokenizer_config.json"):
            if (folder / name).is_file():
                self._named |= {key: value for key, value in read_json(folder / name).items() if value}

    @classmethod
    def read(cls, folder: Path) -> "Foreign":
        """The tokenizer of a folder: `tokenizer.json`, or files of vocabularies from before that."""
        if (folder / "tokenizer.json").is_file():
            return cls(read_json(folder / "tokenizer.json"), folder)
        if (folder / "vocab.txt").is_file():
            return cls(_word_pieces(folder), folder)
        if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
            return cls(_byte_pairs(folder), folder)
        raise DataError(
            f"{folder} has no tokenizer: neither tokenizer.json, nor vocab.txt, nor vocab.json with "
            "merges.txt; in transformers, AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER) "
            "writes one"
        )

    def symbol(self, role: str, *usual: str) -> int | None:
        """The id of the symbol of a role such as `cls_token`, or else of the first usual name that exists."""
        named = self._named.get(role)
        if isinstance(named, Mapping):
            named = named.get("content")
        names = [named] if isinstance(named, str) and named in self.ids else usual
        return next((self.ids[name] for name in names if name in self.ids), None)

    def around(self) -> tuple[int | None, int | None]:
        """The symbols that the tokenizer puts before and after a text."""
        for text in ("a", "1", ".", "The."):
            plain, full = (self._inner.encode(text, add_special_tokens=add).ids for add in (False, True))
            for start in range(len(full) - len(plain) + 1) if plain else ():
                if full[start : start + len(plain)] == plain:
                    after = full[start + len(plain) :]
                    return full[start - 1] if start else None, after[0] if after else None
        return None, None


def library_tokenizer(parts: Mapping[str, Any], name: str) -> tokenizers.Tokenizer:
    """A tokenizer of the library from its description, which may be anything."""
    try:
        found = tokenizers.Tokenizer.from_str(json.dumps(parts))
        found.no_truncation()
        found.no_padding()
        return found
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # the library also raises panics, which are no exceptions
        raise DataError(f"the tokenizer of {name} cannot be used: {quoted(str(error))}") from None


def renumbered(foreign: Foreign, symbols: Symbols, running: bool = False) -> Vocabulary:
    """A tokenizer that cuts as the foreign one, with the special symbols as ours has them.

    Symbols are not looked for inside texts (but for the mask): a text with the name of one is only text.
    With `running`, a text is decoded as what goes on after another, so that it keeps its first space.
    """
    parts = json.loads(json.dumps(foreign.parts))
    added = parts.get("added_tokens") or []
    by_id = {number: token for token, number in foreign.ids.items()}
    if len(by_id) < len(foreign.ids):
        raise DataError(f"the tokenizer of {foreign.folder} has two tokens with one number")
    hidden = {one["id"] for one in added if one.get("special")}
    first = symbols if symbols.mask is not None else symbols[: len(SPECIAL)]
    named = [*SPECIAL, MASK][: len(first)]
    used = set(first)
    rest = [number for number in sorted(by_id) if number not in used]
    order: list[int | None] = [*first, *rest]
    names = named + [f"< {by_id[number]} >" if number in hidden else by_id[number] for number in rest]
    if len(set(names)) < len(names):
        raise DataError(f"the tokenizer of {foreign.folder} has a token that is called as a symbol of ours")
    _set_names(parts["model"], names, ["" if number is None else by_id[number] for number in order], foreign)
    kept = {
        by_id[number]: place for place, number in enumerate(order) if number in by_id and place >= len(first)
    }
    parts["added_tokens"] = [
        one | {"id": kept[one["content"]]}
        for one in added
        if one["content"] in kept and not one.get("special")
    ]
    if symbols.mask is not None:
        mask: dict[str, Any] = next((one for one in added if one["id"] == symbols.mask), {})
        parts["added_tokens"].insert(0, _MASK | mask | {"id": len(SPECIAL), "content": MASK, "special": True})
    parts |= {"truncation": None, "padding": None, "post_processor": None}
    parts["decoder"] = _decoder(parts, running)
    tokenizer = Tokenizer(library_tokenizer(parts, str(foreign.folder)))
    if tokenizer.size != len(order):
        raise DataError(f"the tokenizer of {foreign.folder} cannot be numbered anew")
    return Vocabulary(tokenizer, order)


_MASK = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def _set_names(model: dict[str, Any], names: Sequence[str], before: Sequence[str], foreign: Foreign) -> None:
    """Give the tokens of a model of the library these names, by id; before, they had others."""
    kind = model.get("type")
    if kind == "Unigram":
        scores = dict(model["vocab"])
        model["vocab"] = [[name, scores.get(old, 0.0)] for name, old in zip(names, before, strict=True)]
        model["unk_id"] = UNKNOWN
        return
    if kind not in ("BPE", "WordPiece", "WordLevel"):
        raise DataError(f"the tokenizer of {foreign.folder} is of the kind {quoted(kind)}, which ours is not")
    model["vocab"] = {name: place for place, name in enumerate(names)}
    if model.get("unk_token") is not None or kind != "BPE":
        model["unk_token"] = SPECIAL[UNKNOWN]


def _decoder(parts: Mapping[str, Any], running: bool) -> Any:
    """How tokens become text; with `running`, without what takes away a space at the beginning."""
    decoder: dict[str, Any] = parts.get("decoder") or {"type": "Fuse"}
    if parts.get("decoder") is None and parts["model"]["type"] == "WordPiece":
        decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    if not running:
        return decoder
    steps = decoder["decoders"] if decoder["type"] == "Sequence" else [decoder]
    steps = [one | {"prepend_scheme": "never"} if one["type"] == "Metaspace" else one for one in steps]
    return {"type": "Sequence", "decoders": [one for one in steps if one["type"] != "Strip"]}


def _described(inner: tokenizers.Tokenizer, special: Iterable[str]) -> dict[str, Any]:
    inner.add_special_tokens([name for name in special if inner.token_to_id(name) is not None])
    found: dict[str, Any] = json.loads(inner.to_str())
    return found


def _word_pieces(folder: Path) -> dict[str, Any]:
    """BERT's tokenizer from its list of pieces, one a line."""
    pieces = read_lines(folder / "vocab.txt")
    asked = folder / "tokenizer_config.json"
    config = read_json(asked) if asked.is_file() else {}
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    if "[UNK]" not in vocabulary:
        raise DataError(f"{folder / 'vocab.txt'} lacks [UNK], so it is no list of word pieces")
    inner = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(
        lowercase=bool(config.get("do_lower_case", True)),
        handle_chinese_chars=bool(config.get("tokenize_chinese_chars", True)),
        strip_accents=config.get("strip_accents"),
    )
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    parts = _described(inner, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"))
    if {"[CLS]", "[SEP]"} <= vocabulary.keys():
        around = {"cls": ["[CLS]", vocabulary["[CLS]"]], "sep": ["[SEP]", vocabulary["[SEP]"]]}
        parts["post_processor"] = {"type": "BertProcessing", **around}
    return parts


def _byte_pairs(folder: Path) -> dict[str, Any]:
    """GPT-2's tokenizer from its vocabulary and merges."""
    lines = [line for line in read_lines(folder / "merges.txt") if line and not line.startswith("#version")]
    merges = [(first, second) for first, _, second in (line.partition(" ") for line in lines)]
    vocabulary = read_json(folder / "vocab.json")
    if not all(second for _, second in merges) or not all(type(i) is int for i in vocabulary.values()):
        raise DataError(f"{folder}: vocab.json and merges.txt are not those of a byte-pair encoding")
    asked = folder / "tokenizer_config.json"
    config = read_json(asked) if asked.is_file() else {}
    try:
        inner = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    except Exception as error:  # the library raises bare Exception
        raise DataError(f"{folder / 'merges.txt'} does not fit vocab.json: {error}") from None
    spaced = bool(config.get("add_prefix_space", False))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced)
    inner.decoder = decoders.ByteLevel()
    parts = _described(inner, ("<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"))
    around = [config.get("cls_token", "<s>"), config.get("sep_token", "</s>")]
    if all(isinstance(name, str) and name in vocabulary for name in around) and "<mask>" in vocabulary:
        pairs = {"cls": [around[0], vocabulary[around[0]]], "sep": [around[1], vocabulary[around[1]]]}
        settings = {"trim_offsets": True, "add_prefix_space": spaced}
        parts["post_processor"] = {"type": "RobertaProcessing", **pairs, **settings}
    return parts
