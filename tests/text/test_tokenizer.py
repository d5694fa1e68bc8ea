"""Texts to ids and back, for every kind of tokenizer."""

from pydoc_data.topics import topics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2see.errors import RunError
from seq2see.text import BEGIN, END, PAD, UNKNOWN, Tokenizer, TokenizerSettings

KINDS = ["characters", "symbols", "words", "bpe", "unigram"]
texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=5)
English = [line for text in topics.values() for line in text.splitlines() if line.strip()][:800]


def learn(kind: str, lines: list[str], **options) -> Tokenizer:
    """A tokenizer of one kind."""
    return Tokenizer.learn(lines, TokenizerSettings(kind=kind, **options))


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def subwords(request) -> Tokenizer:
    """Sub-words learnt from English."""
    return learn(request.param, English, size=600)


@pytest.mark.parametrize("kind", ["characters", "words"])
@given(lines=texts)
def test_known_texts_come_back_as_they_were(kind, lines):
    """H: what was learnt from comes back to the last space."""
    tokenizer = learn(kind, lines)
    for line in lines:
        ids = tokenizer.encode(line)
        assert UNKNOWN not in ids
        assert tokenizer.decode(ids) == line


@settings(max_examples=60)
@given(lines=texts)
def test_any_text_comes_back_from_subwords(subwords, lines):
    """H: sub-words spell any text, also one in letters never seen."""
    for line, ids in zip(lines, subwords.encode_many(lines), strict=True):
        assert subwords.decode(ids) == line
        assert not {PAD, BEGIN, END, UNKNOWN} & set(ids)


@pytest.mark.parametrize("kind", KINDS)
@given(lines=texts, others=texts)
def test_many_texts_at_once_equal_one_after_another(kind, lines, others):
    """The quick way to encode many texts and the library's way give the same ids, also for unknown pieces."""
    tokenizer = learn(kind, lines)
    mixed = lines + others
    assert tokenizer.encode_many(mixed) == [tokenizer.encode(text) for text in mixed]


@given(lines=texts)
def test_symbols_come_back_with_single_spaces(lines):
    """H: symbols stand between spaces, and how many there are says nothing."""
    lines = [line.replace("\uffff", "") for line in lines]
    tokenizer = learn("symbols", lines)
    for line in lines:
        expected = " ".join(symbol for symbol in line.split(" ") if symbol)
        assert tokenizer.decode(tokenizer.encode(line)) == expected
        assert len(tokenizer.encode(line)) == len(expected.split(" ")) * bool(expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["< pad >", "< end >", "</s>", "<s> < begin > < unknown >", "<pad>"])
def test_names_of_special_symbols_stay_text(kind, name):
    """H: a text with the name of a special symbol in it is only a text."""
    lines = [f"a {name} b", name, "a b"]
    tokenizer = learn(kind, lines * 3)
    for line in lines:
        ids = tokenizer.encode(line)
        assert min(ids) > UNKNOWN
        assert tokenizer.decode(ids) == line


@pytest.mark.parametrize("kind", KINDS)
def test_special_symbols_come_first_and_leave_no_trace(kind):
    """H: the first ids are the special symbols; decoding shows none of them but the unknown."""
    tokenizer = learn(kind, ["a b"] * 5)
    shown = tokenizer.tokens([PAD, BEGIN, END, UNKNOWN])
    assert shown == ["<pad>", "<begin>", "<end>", "<unknown>"]
    ids = tokenizer.encode("a b")
    assert tokenizer.decode([BEGIN, *ids, END, PAD, PAD]) == "a b"
    assert "�" in tokenizer.decode([*ids, UNKNOWN])
    assert max(ids) < tokenizer.size


def test_unknown_pieces_are_counted():
    """H: pieces without an id are counted as they stand in the text."""
    lines = ["the cat sat", "a cat"]
    assert learn("characters", lines).unknown(["cät", "zzz cat"]) == {"ä": 1, "z": 3}
    assert learn("words", lines).unknown(["zebra cat dog", "the dog", "Katze"]) == {
        "zebra": 1,
        "dog": 2,
        "Katze": 1,
    }
    assert learn("symbols", ["AH0 B"]).unknown(["AH1 B AH1"]) == {"AH1": 2}
    assert learn("bpe", lines).unknown(["ΩΩ zebra"]) == {}


def test_vocabularies_have_the_size_asked_for():
    """H: size caps the vocabulary, the most frequent first; least drops what is rare."""
    lines = ["a a a a b b b c c d"]
    small = learn("symbols", lines * 5 + [" ".join(f"s{n}" for n in range(30))], size=16)
    assert small.size == 16
    assert UNKNOWN not in small.encode("a b c d")
    rare = learn("symbols", lines, least=3)
    assert rare.unknown(lines) == {"c": 2, "d": 1}
    assert learn("bpe", English, size=500).size == 500
    assert learn("unigram", English, size=500).size <= 500


def test_subwords_are_longer_than_letters(subwords):
    """H: sub-words shorten English to less than half of its letters."""
    letters = sum(map(len, English[:100]))
    assert sum(map(len, subwords.encode_many(English[:100]))) < letters / 2


@pytest.mark.parametrize("kind", KINDS)
def test_learning_twice_gives_the_same(kind):
    """H: the same lines give the same file, byte for byte."""
    first, second = (learn(kind, English, size=500).to_json() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("size", [500, 1000])
def test_learning_twice_with_letters_never_seen(size):
    """H: bytes that no line holds get the same scores each time, also where all letters are frequent."""
    lines = ["".join(letter for letter in line if letter in "etaoinsrhld ") for line in English]
    assert len({learn("unigram", lines, size=size).to_json() for _ in range(4)}) == 1
    assert len({learn("unigram", English, size=size).to_json() for _ in range(6)}) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_tokenizer_comes_back_from_its_file(kind, tmp_path):
    """H: a tokenizer read from its file cuts as the first one does."""
    tokenizer = learn(kind, English[:200], size=400)
    (tmp_path / "one.json").write_text(tokenizer.to_json(), encoding="utf-8")
    again = Tokenizer.load(tmp_path / "one.json")
    assert again.encode_many(English) == tokenizer.encode_many(English)
    assert [again.encode(line) for line in English[:20]] == again.encode_many(English[:20])
    assert again.to_json() == tokenizer.to_json()


def test_tokens_are_readable():
    """H: spaces are visible, bytes are letters again."""
    words = learn("words", ["über alles"])
    assert words.tokens(words.encode("über alles")) == ["▁über", "▁alles"]
    pairs = learn("bpe", ["über alles"] * 5)
    assert pairs.tokens(pairs.encode("über alles")) == ["▁über", "▁alles"]
    characters = learn("characters", ["ab c"])
    assert characters.tokens(characters.encode("b c")) == ["b", "▁", "c"]


def test_files_that_are_no_tokenizer(tmp_path):
    """H: a missing file and a damaged one are each named."""
    with pytest.raises(RunError, match=r"none\.json is missing"):
        Tokenizer.load(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(RunError, match=r"bad\.json is damaged"):
        Tokenizer.load(tmp_path / "bad.json")
