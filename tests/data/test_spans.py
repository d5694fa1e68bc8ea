"""Where the tokens of a text stand in it, for every tokenizer and every column that is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Pair
from seq2see.data.columns import SourceText, Words
from seq2see.data.columns.aligned import AlignedText
from seq2see.text import SourceCodec, Tokenizer
from seq2see.text.tokenizer import TokenizerSettings

KINDS = ["characters", "symbols", "words", "bpe", "unigram"]
TEXTS = ["the old cat", "a cät sat  down", "日本 語", "old dogs do sit"] * 4
texts = st.text(st.sampled_from("abcde öß日本 "), min_size=1, max_size=12).filter(str.strip)


@pytest.fixture(scope="module", params=KINDS)
def codec(request):
    settings = TokenizerSettings(kind=request.param, size=300)
    return SourceCodec(Tokenizer.learn(TEXTS, settings), Tokenizer.learn_features(["V;PST", "N"]))


@given(text=texts, features=st.sampled_from(["", "V", "V;PST", "N;X"]))
def test_every_id_has_a_span(codec, text, features):
    """As many as ids: features and the end symbol have none, the others cover every letter in order."""
    example = Pair(1, text, "", features)
    column = SourceText(codec)
    spans, ids = column.spans(example), column.encode([example])[0]
    assert len(spans) == len(ids)
    inside = [span for span in spans if span is not None]
    assert len(spans) - len(inside) == 1 + len(list(filter(None, features.split(";"))))
    covered = {place for start, end in inside for place in range(start, end)}
    assert covered >= {place for place, sign in enumerate(text) if sign != " "}
    assert [start for start, _ in inside] == sorted(start for start, _ in inside)


@given(text=texts)
def test_tokens_of_words_stay_within_their_words(codec, text):
    example = Pair(1, text, "", "")
    column = AlignedText(codec)
    spans, ids = column.spans(example), column.encode([example])[0]
    assert len(spans) == len(ids) and spans[-1] is None
    assert not any(" " in text[start:end] for start, end in spans[:-1])
    words = Words.learn([example], 100, 1)
    assert [text[start:end] for start, end in words.spans(example)] == [w for w in text.split(" ") if w]
