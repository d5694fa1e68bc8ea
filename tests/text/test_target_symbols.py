"""Symbols that say into which of several targets is written."""

import pytest

from seq2see.decoding.filters import never_chosen
from seq2see.errors import SettingsError
from seq2see.text import Tokenizer
from seq2see.text.tokenizer import TokenizerSettings

TEXTS = ["ein Hund und < to:de > eine Katze", "un chien et un chat"] * 20
KINDS = ["characters", "symbols", "words", "bpe", "unigram"]


@pytest.mark.parametrize("kind", KINDS)
def test_symbols_come_after_all_else_and_leave_no_trace(kind: str) -> None:
    """D10: texts are cut as without them, even those that hold the name of a symbol; a file keeps them."""
    plain = Tokenizer.learn(TEXTS, TokenizerSettings(kind=kind, size=300))
    told = plain.with_targets(["de", "fr"])
    told = Tokenizer.of_json(told.to_json(), "a file")
    assert told.targets == {"de": plain.size, "fr": plain.size + 1} and told.size == plain.size + 2
    assert told.encode_many(TEXTS) == plain.encode_many(TEXTS)
    assert [told.encode(text) for text in TEXTS] == [plain.encode(text) for text in TEXTS]
    ids = plain.encode(TEXTS[1])
    assert told.decode([told.opening("fr"), *ids]) == plain.decode(ids)
    assert told.tokens([told.opening("fr")]) == ["<to:fr>"]
    assert set(told.targets.values()) <= set(never_chosen(told.special))
    assert not plain.targets and plain.opening() == plain.special.begin


def test_names_of_targets() -> None:
    """D10: the first target is meant where none is named, and wrong names are told."""
    plain = Tokenizer.learn(TEXTS, TokenizerSettings())
    told = plain.with_targets(["de", "fr"])
    assert told.opening() == told.targets["de"]
    with pytest.raises(SettingsError, match="no target 'df'; choose from de, fr"):
        told.opening("df")
    with pytest.raises(SettingsError, match="one target, so there is no 'de'"):
        plain.opening("de")
