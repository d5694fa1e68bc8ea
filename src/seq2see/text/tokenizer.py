"""Strings to ids and back, over the `tokenizers` library."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import tokenizers
from pydantic import Field
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers

from seq2see.errors import RunError, SettingsError
from seq2see.settings import Settings, near
from seq2see.text.special import MASK, SPECIAL, STANDARD, UNKNOWN, WITH_MASK, Special

__all__ = ["Kind", "TextSettings", "Tokenizer", "TokenizerSettings"]

Kind = Literal["characters", "symbols", "words", "bpe", "unigram"]

# A word keeps the space before it, so that joining the tokens gives the text back.
_WORD = r"\s?[\p{L}\p{M}\p{N}_]+|\s?[^\p{L}\p{M}\p{N}_\s]+|\s+"
_FEATURE = r"[;,|\s]+"
_SYMBOL_NAME = re.compile("< .+ >")
"""How special symbols are called: those of `special.py`, and further ones of vocabularies from elsewhere."""
_TARGET_NAME = re.compile("< to:(.+) >")
"""How the symbols are called that say into which of several targets is written."""
_NO_PIECE = -1e4
"""The score of a symbol in a unigram model, which is no part of any text."""
_CHARACTER = r"[\s\S]"
_SYMBOL = " +"
_PLAIN_CUTS: dict[str, Callable[[str], Iterable[str]]] = {
    _CHARACTER: iter,
    _SYMBOL: lambda text: filter(None, text.split(" ")),
}


class TokenizerSettings(Settings):
    """How one side of the pairs is cut into tokens."""

    kind: Kind = "characters"
    size: int = Field(default=8000, ge=16, le=1_000_000)
    """The largest vocabulary; what is rarer becomes unknown (or is spelt in bytes by bpe and unigram)."""
    least: int = Field(default=1, ge=1)
    """How often a token must be seen to enter the vocabulary."""


class TextSettings(Settings):
    """Tokenisation of both sides."""

    source: TokenizerSettings = TokenizerSettings()
    target: TokenizerSettings = TokenizerSettings()
    shared: bool = False
    """One vocabulary, learnt from both sides with the settings of the source."""
    begins: bool = False
    """The begin symbol stands before each source, as BERT has it."""


class Tokenizer:
    """A vocabulary with its way of cutting texts; one JSON file holds it all."""

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self._inner = inner
        cuts = json.loads(inner.to_str())["pre_tokenizer"] or {}
        pattern = (cuts.get("pattern") or {}).get("Regex", "")
        steps = cuts.get("pretokenizers", [cuts])
        self._in_bytes = any(step.get("type") == "ByteLevel" for step in steps)
        added = inner.get_added_tokens_decoder()
        masks = WITH_MASK.mask in added and added[WITH_MASK.mask].content == MASK
        self.targets = _targets_of(inner)
        """The symbol of each of several targets, by its name; without any, there is one target."""
        self._special = (WITH_MASK if masks else STANDARD)._replace(targets=tuple(self.targets.values()))
        # Only the library finds the mask symbol inside a text.
        self._cut = _PLAIN_CUTS.get(pattern) if not masks else None
        self._ids: dict[str, int] = inner.get_vocab() if self._cut else {}

    @classmethod
    def learn(cls, texts: Iterable[str], settings: TokenizerSettings) -> "Tokenizer":
        """Collect a vocabulary from texts."""
        return cls(_train(*_KINDS[settings.kind](settings), texts))

    @classmethod
    def learn_masked(cls, texts: Iterable[str], settings: TokenizerSettings) -> "Tokenizer":
        """Collect a vocabulary that also has the mask symbol, which is found wherever a text has it.

        Where tokens carry the space before them, that symbol does too.
        """
        inner, trainer = _KINDS[settings.kind](settings)
        trainer.special_tokens = [*SPECIAL, MASK]  # type: ignore[attr-defined]
        carries = inner.normalizer is not None
        if carries:  # a lone symbol keeps its name, by which the library looks for it
            lone = normalizers.Replace(Regex(rf"\A {re.escape(MASK)}\z"), MASK)
            inner.normalizer = normalizers.Sequence([inner.normalizer, lone])
        inner = _train(inner, trainer, texts, len(SPECIAL) + 1)
        inner.add_special_tokens([tokenizers.AddedToken(MASK, lstrip=carries, normalized=True)])
        return cls(inner)

    @classmethod
    def learn_running(cls, texts: Iterable[str], settings: TokenizerSettings) -> "Tokenizer":
        """Collect a vocabulary from passages of running text, which come back as they are end to end.

        Nothing is put before a passage, as is done before a text that stands alone.
        """
        inner, trainer = _KINDS[settings.kind](settings)
        if settings.kind in ("bpe", "unigram"):
            inner.normalizer = normalizers.Sequence([])
            inner.decoder = decoders.ByteLevel()
        elif settings.kind != "characters":
            raise SettingsError(
                f"text.target.kind = {settings.kind} does not give a text back as it was; "
                "choose characters, bpe or unigram"
            )
        return cls(_train(inner, trainer, texts))

    def with_targets(self, names: Iterable[str]) -> "Tokenizer":
        """The same vocabulary with a symbol for each of several targets, after all else."""
        parts = json.loads(self._inner.to_str())
        known = parts["model"]["vocab"]
        for place, name in enumerate(names, self.size):
            symbol = f"< to:{name} >"
            if isinstance(known, list):
                known.append((symbol, _NO_PIECE))
            else:
                known[symbol] = place
        return Tokenizer(tokenizers.Tokenizer.from_str(json.dumps(parts)))

    def opening(self, into: str | None = None) -> int:
        """What stands before an output: the begin symbol, or that of a target, by default the first."""
        if not self.targets:
            if into:
                raise SettingsError(
                    f"the model writes into one target, so there is no {into!r}; leave it out"
                )
            return self.special.begin
        name = into or next(iter(self.targets))
        if name not in self.targets:
            raise SettingsError(f"the model has no target {name!r}; {near(name, self.targets)}")
        return self.targets[name]

    @classmethod
    def learn_features(cls, texts: Iterable[str]) -> "Tokenizer":
        """Collect the features (such as morphological tags) of a column like `V;IND;PL`."""
        return cls(_train(*_listed(TokenizerSettings(kind="symbols", size=1_000_000), _FEATURE), texts))

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a tokenizer that was written with `to_json`."""
        try:
            return cls.of_json(path.read_text(encoding="utf-8"), str(path))
        except OSError:
            raise RunError(f"the tokenizer {path} is missing; the run directory is not complete") from None
        except UnicodeDecodeError as error:
            raise RunError(f"the tokenizer {path} is damaged: {error}") from None

    @classmethod
    def of_json(cls, text: str, name: str) -> "Tokenizer":
        """The tokenizer that `to_json` gave, from a file of some name."""
        try:
            return cls(tokenizers.Tokenizer.from_str(text))
        except Exception as error:  # the library raises bare Exception for any malformed file
            raise RunError(f"the tokenizer {name} is damaged: {error}") from None

    def to_json(self) -> str:
        """The whole tokenizer as JSON text."""
        return str(self._inner.to_str(pretty=True))

    @property
    def special(self) -> Special:
        """The ids of the special symbols."""
        return self._special

    @property
    def size(self) -> int:
        """How many ids there are."""
        return int(self._inner.get_vocab_size())

    @property
    def vocabulary(self) -> dict[str, int]:
        """Every token with its id."""
        return dict(self._inner.get_vocab())

    def encode(self, text: str) -> list[int]:
        """The ids of one text, without special symbols."""
        return list(self._inner.encode(text, add_special_tokens=False).ids)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts; where a text is cut so plainly that Python does it faster, Python does."""
        if self._cut:
            cut, find = self._cut, self._ids.get
            return [[find(piece, UNKNOWN) for piece in cut(text)] for text in texts]
        return [found.ids for found in self._inner.encode_batch_fast(texts, add_special_tokens=False)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token of a text begins and ends, in characters; bytes of a character have its span."""
        return list(self._inner.encode(text, add_special_tokens=False).offsets)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; special symbols leave no trace but the unknown one, shown as �."""
        shown = self._shown
        tokens = [token for i in ids if (token := shown[i]) is not None]
        return str(self._inner.decoder.decode(tokens))

    @cached_property
    def _shown(self) -> list[str | None]:
        """What each id leaves in a text, before tokens are joined; None for symbols that leave nothing."""
        ids = self.vocabulary
        by_id = sorted(ids, key=ids.__getitem__)
        shown = [None if _SYMBOL_NAME.fullmatch(token) else token for token in by_id]
        shown[UNKNOWN] = "�"
        return shown

    @cached_property
    def _knows_all(self) -> bool:
        """Whether every text has ids, because every byte has."""
        return self._in_bytes and self.vocabulary.keys() >= set(pre_tokenizers.ByteLevel.alphabet())

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Each id as a person would read it: spaces visible, special symbols included."""
        return [self._show(i) for i in ids]

    def _show(self, i: int) -> str:
        if i < len(SPECIAL):
            return SPECIAL[i].replace(" ", "")
        token = str(self._inner.id_to_token(i))
        if _SYMBOL_NAME.fullmatch(token):
            return token.replace(" ", "")
        if self._in_bytes:
            token = decoders.ByteLevel().decode([token])
        return str(token.replace(" ", "▁"))

    def unknown(self, texts: Iterable[str]) -> Counter[str]:
        """The pieces of texts that have no id, with their counts."""
        missing: Counter[str] = Counter()
        if self._knows_all:
            return missing
        if self._cut:
            known = self._ids.__contains__
            for text in texts:
                if not all(map(known, self._cut(text))):
                    missing.update(piece for piece in self._cut(text) if not known(piece))
            return missing
        for text in texts:
            found = self._inner.encode(text, add_special_tokens=False)
            for i, (start, end) in zip(found.ids, found.offsets, strict=True):
                if i == UNKNOWN:
                    missing[text[start:end].strip() or text[start:end]] += 1
        return missing


def _targets_of(inner: tokenizers.Tokenizer) -> dict[str, int]:
    """The symbols of targets, which are the last of a vocabulary."""
    found: dict[str, int] = {}
    for place in range(inner.get_vocab_size() - 1, -1, -1):
        name = _TARGET_NAME.fullmatch(inner.id_to_token(place) or "")
        if name is None:
            break
        found[name[1]] = place
    return dict(reversed(found.items()))


def _train(
    inner: tokenizers.Tokenizer,
    trainer: trainers.Trainer,
    texts: Iterable[str],
    special: int = len(SPECIAL),
) -> tokenizers.Tokenizer:
    inner.train_from_iterator(texts, trainer)
    # The trainer also lists the special symbols as "added tokens", which would be found inside texts.
    parts = json.loads(inner.to_str()) | {"added_tokens": []}
    if parts["model"]["type"] == "Unigram":
        parts["model"]["vocab"] = _settled(parts["model"]["vocab"], special)
    return tokenizers.Tokenizer.from_str(json.dumps(parts))


def _settled(pieces: list[tuple[str, float | None]], count: int) -> list[tuple[str, float]]:
    """The pieces of a unigram model in a fixed order; the first `count` are special, and stay so.

    The library sums in an order that changes from run to run, and gives bytes that it never saw scores
    in a random order, in small steps up from the least score of all: the last digits are dropped, and
    single bytes that could be such get one score below all others.
    """
    # Of texts without a letter in them the library learns scores that are not numbers.
    scored = [(token, 0.0 if score is None else score) for token, score in pieces]
    special, rest = scored[:count], scored[count:]
    steps = 256 * 0.0001
    bound = min((score for _, score in rest), default=0.0) + 1.01 * steps
    least = min((score for token, score in rest if len(token) > 1), default=0.0)
    bound, floor = max(bound, least - 1e-6), round(least, 4) - 1
    settled = [
        (token, floor if len(token) == 1 and score < bound else round(score, 6)) for token, score in rest
    ]
    return special + sorted(settled, key=lambda piece: (-piece[1], piece[0]))


def _listed(settings: TokenizerSettings, separator: str) -> tuple[tokenizers.Tokenizer, trainers.Trainer]:
    """Tokens written with separators between them, which are not kept."""
    inner = tokenizers.Tokenizer(models.WordLevel(unk_token=SPECIAL[UNKNOWN]))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(separator), "removed")
    inner.decoder = decoders.WordPiece(prefix="\uffff", cleanup=False)  # joins with single spaces
    return inner, _whole_tokens(settings)


def _symbols(settings: TokenizerSettings) -> tuple[tokenizers.Tokenizer, trainers.Trainer]:
    return _listed(settings, _SYMBOL)


def _characters(settings: TokenizerSettings) -> tuple[tokenizers.Tokenizer, trainers.Trainer]:
    inner = tokenizers.Tokenizer(models.WordLevel(unk_token=SPECIAL[UNKNOWN]))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(_CHARACTER), "isolated")
    inner.decoder = decoders.Fuse()
    return inner, _whole_tokens(settings)


def _words(settings: TokenizerSettings) -> tuple[tokenizers.Tokenizer, trainers.Trainer]:
    inner = tokenizers.Tokenizer(models.WordLevel(unk_token=SPECIAL[UNKNOWN]))
    inner.normalizer = normalizers.Prepend(" ")
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD), "isolated")
    inner.decoder = decoders.Sequence([decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return inner, _whole_tokens(settings)


def _whole_tokens(settings: TokenizerSettings) -> trainers.Trainer:
    return trainers.WordLevelTrainer(
        vocab_size=settings.size,
        min_frequency=settings.least,
        special_tokens=list(SPECIAL),
        show_progress=False,
    )


def _in_bytes(model: models.Model) -> tokenizers.Tokenizer:
    """Sub-words over bytes: any text comes back as it was, and nothing is unknown."""
    inner = tokenizers.Tokenizer(model)
    inner.normalizer = normalizers.Prepend(" ")
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return inner


def _bpe(settings: TokenizerSettings) -> tuple[tokenizers.Tokenizer, trainers.Trainer]:
    return _in_bytes(models.BPE()), trainers.BpeTrainer(
        vocab_size=settings.size,
        min_frequency=max(2, settings.least),
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )


def _unigram(settings: TokenizerSettings) -> tuple[tokenizers.Tokenizer, trainers.Trainer]:
    return _in_bytes(models.Unigram()), trainers.UnigramTrainer(
        vocab_size=settings.size,
        unk_token=SPECIAL[UNKNOWN],
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )


_KINDS = {
    "characters": _characters,
    "symbols": _symbols,
    "words": _words,
    "bpe": _bpe,
    "unigram": _unigram,
}
