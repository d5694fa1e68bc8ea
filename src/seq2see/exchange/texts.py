"""What turns texts into ids in a model from elsewhere, for each goal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seq2see.data.columns import Passages, SourceText
from seq2see.errors import DataError
from seq2see.exchange.config import Config
from seq2see.exchange.marian_text import marian_vocabularies
from seq2see.exchange.names import Orders
from seq2see.exchange.vocabularies import Foreign, Symbols, Vocabulary, renumbered
from seq2see.goals import Columns
from seq2see.goals.generate import columns_of
from seq2see.text import Codec, SourceCodec

__all__ = ["TEXTS", "Texts"]


@dataclass(frozen=True)
class Texts:
    """The columns of a run, the foreign id of each of its ids, and what its recipe says under `text`."""

    columns: Columns
    orders: Orders
    settings: dict[str, Any]
    data: dict[str, Any] = field(default_factory=dict)
    """Under `data` in its recipe."""

    @property
    def shared(self) -> bool:
        """Whether both sides have one vocabulary."""
        return bool(self.settings.get("shared", False))


def _complete(folder: Path, config: Config) -> Texts:
    foreign = Foreign.read(folder)
    known = set(foreign.ids.values())
    end = _known(config.token("eos_token_id"), known, foreign.symbol("eos_token", "</s>", "<|endoftext|>"))
    begin = _known(config.token("bos_token_id"), known, foreign.symbol("bos_token", "<s>"))
    begin = end if begin is None else begin
    taken = {begin, end}
    unknown = _apart(foreign.symbol("unk_token", "<unk>"), taken)
    pad = _apart(_known(config.token("pad_token_id"), known, foreign.symbol("pad_token")), taken | {unknown})
    text = renumbered(foreign, Symbols(pad, begin, end, unknown), running=True)
    before = foreign.around()[0]
    if before not in (None, begin):
        raise DataError(f"the tokenizer of {folder} begins texts with another symbol than config.json says")
    settings = {"target": _kind(foreign), "begins": before is not None}
    return Texts({"target": Passages(text.tokenizer)}, {"target": text.order}, settings)


def _generate(folder: Path, config: Config) -> Texts:
    symbols = [config.token(f"{name}_token_id") for name in ("pad", "decoder_start", "eos")]
    if None in symbols:
        raise DataError(f"{config.path} does not say pad_token_id, decoder_start_token_id and eos_token_id")
    pad, start, end = symbols
    if (folder / "source.spm").is_file():
        source, target = marian_vocabularies(folder, pad, start, end)
        return _pair(source, target, {"source": _UNIGRAM, "target": _UNIGRAM})
    foreign = Foreign.read(folder)
    unknown = _apart(foreign.symbol("unk_token", "<unk>"), {pad, start, end})
    before, after = foreign.around()
    if after != end:
        raise DataError(f"the tokenizer of {folder} does not end sources with the end symbol, as ours does")
    kind = _kind(foreign)
    target = renumbered(foreign, Symbols(pad, start, end, unknown))
    other = folder / "target_tokenizer"
    if other.is_dir():
        written = Foreign.read(other)
        target = renumbered(
            written, Symbols(pad, start, end, _apart(written.symbol("unk_token"), {pad, start}))
        )
        source = renumbered(foreign, Symbols(pad, start, end, unknown))
        return _pair(source, target, {"source": kind, "target": _kind(written)})
    if before in (None, start):
        settings = {"source": kind, "target": kind, "shared": True, "begins": before is not None}
        codec = Codec(target.tokenizer, target.tokenizer, begins=before is not None)
        return Texts(columns_of(codec), {"source": target.order, "target": target.order}, settings)
    # The symbol that sources begin with is not the one that the decoder begins with.
    source = renumbered(foreign, Symbols(pad, before, end, unknown))
    return _pair(source, target, {"source": kind, "target": kind, "begins": True})


def _pair(source: Vocabulary, target: Vocabulary, settings: dict[str, Any]) -> Texts:
    codec = Codec(source.tokenizer, target.tokenizer, begins=settings.get("begins", False))
    return Texts(columns_of(codec), {"source": source.order, "target": target.order}, settings)


def _fill(folder: Path, config: Config) -> Texts:
    foreign = Foreign.read(folder)
    roles = {"pad": "<pad>", "cls": "<s>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
    found = [
        foreign.symbol(f"{role}_token", f"[{role.upper()}]", other, f"< {name} >")
        for (role, other), name in zip(roles.items(), ("pad", "begin", "end", "unknown", "mask"), strict=True)
    ]
    for role, number in zip(roles, found, strict=True):
        if number is None:
            raise DataError(
                f"the tokenizer of {folder} has no {role}_token, which a model that fills gaps needs; name "
                "it in tokenizer_config.json"
            )
    symbols = Symbols(*found)
    if foreign.around() != (symbols.begin, symbols.end):
        raise DataError(f"the tokenizer of {folder} does not put its cls_token and sep_token around a text")
    text = renumbered(foreign, symbols)
    columns = {"source": SourceText(SourceCodec(text.tokenizer, begins=True))}
    return Texts(columns, {"source": text.order}, {"source": _kind(foreign), "begins": True})


TEXTS: Mapping[str, Callable[[Path, Config], Texts]] = {
    "complete": _complete,
    "generate": _generate,
    "fill": _fill,
}

_UNIGRAM = {"kind": "unigram"}


def _kind(foreign: Foreign) -> dict[str, Any]:
    """The kind of a tokenizer among ours that comes nearest."""
    kinds = {"Unigram": "unigram", "WordLevel": "words"}
    return {"kind": kinds.get(foreign.parts["model"]["type"], "bpe")}


def _known(number: int | None, known: set[int], otherwise: int | None) -> int | None:
    """The id that a configuration names, if the tokenizer has it."""
    return number if number in known else otherwise


def _apart(number: int | None, taken: set[int | None]) -> int | None:
    """An id, unless it is that of another symbol too."""
    return None if number in taken else number
