"""Our tokenizers as files that `transformers` reads without our code."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seq2see.files import replace_text
from seq2see.text import MASK, SPECIAL, Tokenizer

__all__ = ["write_tokenizer"]

_HIDDEN = re.compile("< .+ >")
_PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def write_tokenizer(
    folder: Path, tokenizer: Tokenizer, kept: Sequence[int], around: tuple[bool, bool], longest: int
) -> dict[str, int]:
    """Write `tokenizer.json` and its configuration; gives the number of each special symbol.

    Only the tokens `kept` are written, numbered anew. Around a text stand begin and end symbols, as told.
    """
    parts = json.loads(tokenizer.to_json())
    by_id = {place: token for token, place in tokenizer.vocabulary.items()}
    numbers = {by_id[place]: number for number, place in enumerate(kept)}
    _renumber(parts["model"], numbers)
    special = [name for name in numbers if _HIDDEN.fullmatch(name) or name == MASK]
    listed = {one["content"]: one for one in parts["added_tokens"]}
    parts["added_tokens"] = [
        {**_PLAIN, **listed.get(name, {}), "id": numbers[name], "content": name, "special": name in special}
        for name in sorted({*special, *listed} & numbers.keys(), key=numbers.__getitem__)
    ]
    symbols = dict(zip(("pad", "begin", "end", "unknown"), SPECIAL, strict=True))
    if symbols["begin"] not in numbers:  # a copy of the end symbol, which is there
        symbols["begin"] = symbols["end"]
    parts["post_processor"] = _template(symbols, numbers, around)
    names = {role: name for role, name in symbols.items() if name in numbers}
    roles = {"pad": "pad_token", "begin": "bos_token", "end": "eos_token", "unknown": "unk_token"}
    config: dict[str, Any] = {roles[role]: name for role, name in names.items()}
    if MASK in numbers:
        config |= {"mask_token": MASK, "cls_token": names["begin"], "sep_token": names["end"]}
    config |= {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": longest}
    config |= {"clean_up_tokenization_spaces": False}
    replace_text(folder / "tokenizer.json", json.dumps(parts, ensure_ascii=False, indent=1) + "\n")
    replace_text(folder / "tokenizer_config.json", json.dumps(config, ensure_ascii=False, indent=1) + "\n")
    return {role: numbers[name] for role, name in names.items()}


def _renumber(model: dict[str, Any], numbers: dict[str, int]) -> None:
    """Give the tokens of a model of the library these numbers, and drop all others."""
    if model["type"] == "Unigram":
        scores = dict(model["vocab"])
        model["vocab"] = [[name, scores[name]] for name in numbers]
        unknown = numbers.get(SPECIAL[3])
        model["unk_id"] = unknown
        return
    model["vocab"] = numbers
    if model.get("unk_token") not in numbers:
        model["unk_token"] = None if model["type"] == "BPE" else SPECIAL[2]


def _template(symbols: dict[str, str], numbers: dict[str, int], around: tuple[bool, bool]) -> Any:
    """The symbols around a text, as the library describes them."""
    names = [symbols["begin"]] * around[0], [symbols["end"]] * around[1]
    if not any(around):
        return None
    first, last = ([{"SpecialToken": {"id": name, "type_id": 0}} for name in part] for part in names)
    text = {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 0}}
    used = {name: {"id": name, "ids": [numbers[name]], "tokens": [name]} for part in names for name in part}
    return {
        "type": "TemplateProcessing",
        "single": [*first, text, *last],
        "pair": [*first, text, *last, second, *last],
        "special_tokens": used,
    }
