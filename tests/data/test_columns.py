"""Every kind of column: learnt, encoded, collated, and the same after it was stored."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Pair
from seq2see.data.columns import (
    Column,
    Extras,
    Labels,
    LabelSets,
    Letters,
    Number,
    SourceText,
    Tags,
    TargetText,
    Words,
)
from seq2see.data.columns.aligned import AlignedText, WordEnds
from seq2see.data.columns.counts import Counts, CountsSettings
from seq2see.errors import DataError
from seq2see.text import SourceCodec, TextSettings, Tokenizer

EXAMPLES = [
    Pair(1, "the dog sees", "A B A", "", ("1", "red")),
    Pair(2, "a cat", "B A", "", ("2.5", "blue")),
    Pair(3, "dogs", "A", "", ("-3", "red")),
]
SIDE = type(TextSettings().source)


def tokenizer(kind: str, texts: Sequence[str]) -> Tokenizer:
    """A small tokenizer of a kind."""
    size = {"size": 270} if kind == "bpe" else {}
    return Tokenizer.learn(texts, SIDE(kind=kind, **size))


def target(*texts: str) -> list[Pair]:
    """Examples with these targets."""
    return [Pair(line, "text", text, "") for line, text in enumerate(texts, 1)]


SOURCES = [one.source for one in EXAMPLES]
COLUMNS: dict[str, Callable[[], Column]] = {
    "words": lambda: Words.learn(EXAMPLES, 100, 1),
    "letters": lambda: Letters.learn(EXAMPLES),
    "tags": lambda: Tags.learn(EXAMPLES, ["tags"]),
    "extras": lambda: Extras.learn(EXAMPLES, ["size", "colour"], 1),
    "text": lambda: SourceText(SourceCodec(tokenizer("characters", SOURCES), None)),
    "target": lambda: TargetText(tokenizer("symbols", [one.target for one in EXAMPLES])),
    "aligned": lambda: AlignedText(SourceCodec(tokenizer("bpe", SOURCES), None)),
    "ends": lambda: WordEnds(tokenizer("bpe", SOURCES)),
    "counts": lambda: Counts.learn(EXAMPLES, CountsSettings(least=1)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_survive_being_filled_up(name: str) -> None:
    """H: a row beside longer ones is the row alone, and the mask is True just where it stands."""
    column = COLUMNS[name]()
    rows = column.encode(EXAMPLES)
    kept = [np.array(row, column.dtype) for row in rows]
    together = column.collate(kept)
    assert len(together.values) == len(EXAMPLES)
    for place, row in enumerate(kept):
        alone = column.collate([row])
        shape = tuple(slice(0, size) for size in alone.values.shape[1:])
        assert torch.equal(together.values[place][shape], alone.values[0])
        if together.mask is not None and alone.mask is not None:
            assert torch.equal(together.mask[place][shape[: alone.mask.dim() - 1]], alone.mask[0])
            assert together.mask[place].sum() == alone.mask[0].sum()
        assert torch.equal(column.collate([rows[place]]).values, alone.values), "as encoded, and as kept"


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_stored_is_plain(name: str) -> None:
    """H: what a run keeps of a column can be written as JSON, and decides what rows it makes."""
    column = COLUMNS[name]()
    assert json.loads(json.dumps(column.stored())).keys() == column.stored().keys()
    assert COLUMNS[name]().stored() == column.stored()


def restored(column: Any) -> Any:
    """A column made of what it stored, through JSON."""
    kept = json.loads(json.dumps(column.stored()))
    kept.pop("kind")
    return type(column)(**kept)


@pytest.mark.parametrize("name", ["words", "letters", "tags", "extras"])
def test_stored_columns_make_the_same_rows(name: str) -> None:
    column = COLUMNS[name]()
    unseen = [Pair(9, "zebra sees", "B B", "", ("7", "green"))]
    assert restored(column).encode(EXAMPLES + unseen) == column.encode(EXAMPLES + unseen)


def test_labels() -> None:
    examples = target("b", "a ", "b", "b")
    column = Labels.learn(examples)
    assert (column.labels, column.counts) == (["a", "b"], [1, 3])
    assert column.encode(examples) == [[1], [0], [1], [1]]
    assert sum(w * c for w, c in zip(column.weights(), column.counts, strict=True)) == pytest.approx(4)
    assert column.weights()[0] == 3 * column.weights()[1]
    assert restored(column).encode(examples) == column.encode(examples)


def test_a_label_that_training_never_showed_is_masked() -> None:
    column = Labels(["a", "b"])
    values, mask = column.collate(column.encode(target("b", "new", "a")))
    assert mask is not None and mask.tolist() == [True, False, True]
    assert values[mask].tolist() == [1, 0]
    assert column.unknown(np.array([1, -1, 0])) == 1
    with pytest.raises(DataError, match=r"line 7: the label 'aa'.*did you mean 'a'"):
        column.class_of("aa", 7)


def test_several_labels() -> None:
    examples = target("a|b", "b", "-", " c | a ")
    column = LabelSets.learn(examples)
    assert column.labels == ["a", "b", "c"]
    assert column.collate(column.encode(examples)).values.tolist() == [
        [1, 1, 0],
        [0, 1, 0],
        [0, 0, 0],
        [1, 0, 1],
    ]
    assert column.collate(column.encode(target("a|new"))).values.tolist() == [[1, 0, 0]]
    assert restored(column).encode(examples) == column.encode(examples)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30).filter(
        lambda values: max(values) - min(values) > 1e-3
    )
)
def test_numbers_are_standardised(values: list[float]) -> None:
    examples = target(*map(repr, values))
    column = Number.learn(examples)
    rows = np.array(column.encode(examples))[:, 0]
    assert rows.mean() == pytest.approx(0, abs=1e-6)
    assert rows.std() == pytest.approx(1)
    assert rows * column.deviation + column.mean == pytest.approx(np.array(values), abs=1e-6)
    assert restored(column).encode(examples) == column.encode(examples)


def test_extras() -> None:
    """A number has a feature of its own and bins; an unknown word has none; a missing number is told."""
    column = Extras.learn(EXAMPLES, ["size", "colour"], 1)
    rows = column.collate(column.encode(EXAMPLES)).values
    assert rows.shape == (3, column.width)
    assert rows[:, 0].mean() == pytest.approx(0, abs=1e-6)
    bins = rows[:, 1:-2]
    assert bins.min() == -1 and bins.max() == 1
    assert (bins[1] >= bins[0]).all() and (bins[0] >= bins[2]).all(), "bins fill up as the number grows"
    assert rows[:, -2:].tolist() == [[1, 0], [0, 1], [1, 0]]
    (green,) = column.encode([Pair(4, "x", "A", "", ("1", "green"))])
    assert green[-2:] == [0, 0]
    with pytest.raises(DataError, match="line 5: the number in column 'size' '' is not a number"):
        column.encode([Pair(5, "x", "A", "", ("", "red"))])
    assert column.usual()[1] == "red"


def test_tags_of_several_columns() -> None:
    examples = [Pair(1, "a b", "X Y\tP Q", ""), Pair(2, "c", "X\tQ", "")]
    column = Tags.learn(examples, ["one", "two"])
    values, mask = column.collate(column.encode([*examples, Pair(3, "d", "new\tP", "")]))
    assert mask is not None
    assert values.shape == (3, 2, 2)
    assert values[0].tolist() == [[0, 0], [1, 1]]
    assert mask[2].tolist() == [[False, True], [False, False]], "an unknown tag, and no second word"
    assert column.known == {"a", "b", "c"}
    with pytest.raises(DataError, match="line 4 has 2 words and 1 tag"):
        column.encode([Pair(4, "a b", "X\tP Q", "")])


SENTENCES = st.lists(
    st.lists(st.text("abcdü'-", min_size=1, max_size=7), min_size=1, max_size=6), min_size=1, max_size=4
)


@pytest.mark.parametrize("kind", ["characters", "bpe", "words", "unigram"])
@given(sentences=SENTENCES)
def test_tokens_are_aligned_to_words(kind: str, sentences: list[list[str]]) -> None:
    """H: cut at the places of last tokens, a sentence falls into its words, whatever the tokenizer."""
    cut = TOKENIZERS[kind]
    examples = [Pair(line, " ".join(words), "", "") for line, words in enumerate(sentences, 1)]
    ids, ends = AlignedText(SourceCodec(cut, None)).encode(examples), WordEnds(cut).encode(examples)
    for words, row, places in zip(sentences, ids, ends, strict=True):
        assert len(places) == len(words)
        assert places[-1] == len(row) - 2, "the end symbol belongs to no word"
        starts = [0, *(place + 1 for place in places[:-1])]
        for word, start, place in zip(words, starts, places, strict=True):
            assert row[start : place + 1] == (cut.encode_many([word])[0] or [cut.special.unknown])


TOKENIZERS = {
    kind: tokenizer(kind, ["ab cd", "abc'd dü", "a-b bad cab", "dab bad"])
    for kind in ("characters", "bpe", "words", "unigram")
}


def test_long_words_keep_their_ends() -> None:
    column = Letters(list("abcdefghijklmnopqrstuvwxyz"))
    (row,) = column.encode([Pair(1, "a" * 50 + "z", "", "")])
    assert len(row) == 26 and row[-2] == column.encode([Pair(1, "z", "", "")])[0][1]


def test_words_fold_case_and_share_the_unknown_id(tmp_path: Path) -> None:
    examples = [Pair(1, "The the dog", "", ""), Pair(2, "THE cat", "", "")]
    column = Words.learn(examples, most=10, least=2)
    assert column.words == ["the"] and column.counts[-1] == 3
    (row,) = column.encode([Pair(3, "tHe Dog", "", "")])
    assert row == [4, column.special.unknown]
    assert column.unknown(np.array(row)) == 1
