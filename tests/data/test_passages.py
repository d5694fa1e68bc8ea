"""Running text: every character of it once, in passages and in windows, however it is stored."""

import gzip
import json
import tracemalloc
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data.columns import COLUMNS, Passages
from seq2see.data.encoded import Encoded, encode
from seq2see.data.pairs import Columns, Pair, Problem
from seq2see.data.passages import BEGINS, ENDS, TextFile, cut
from seq2see.data.survey import survey, tail
from seq2see.data.windows import Windows
from seq2see.errors import DataError, SettingsError
from seq2see.text import Tokenizer, TokenizerSettings

AWKWARD = "a line\r\nnext\n\n  é e\u0301 😀👩‍👩‍👧 \x00\x85\u2028\ufeff end without a line feed"
LONG = "".join(f"{number} words, and {'more' * (number % 7)}\n" for number in range(400)) + AWKWARD


def texts(file: TextFile) -> list[str]:
    return [one.target for one in file if isinstance(one, Pair)]


@given(st.text(max_size=2000), st.integers(1, 700))
def test_a_text_is_cut_without_loss_wherever_its_parts_end(text: str, size: int) -> None:
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    assert "".join(cut(parts)) == text
    assert list(cut(parts)) == list(cut([text]))


@given(
    st.lists(st.sampled_from([" word", "\n", "\r\n", "x" * 600, "é", "e\u0301", "😀", "\t"]), max_size=200)
)
def test_text_comes_back_from_any_tokenizer_across_cuts(pieces: list[str]) -> None:
    text = "".join(pieces)
    for tokenizer in (CHARACTERS, BPE, UNIGRAM):
        ids = [one for row in tokenizer.encode_many(list(cut([text]))) for one in row]
        assert tokenizer.decode(ids) == text


CHARACTERS, BPE, UNIGRAM = (
    Tokenizer.learn_running(cut([LONG, " word\n\r\t", "xé\u0301e😀"]), TokenizerSettings(kind=kind, size=400))
    for kind in ("characters", "bpe", "unigram")
)


@pytest.mark.parametrize("kind", ["words", "symbols"])
def test_tokens_that_lose_something_are_refused(kind: str) -> None:
    with pytest.raises(SettingsError, match="does not give a text back"):
        Tokenizer.learn_running(["a b"], TokenizerSettings.model_validate({"kind": kind}))


@given(st.text(max_size=300))
def test_bytes_know_any_text(text: str) -> None:
    assert BPE.decode(BPE.encode(text)) == text


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_file_is_read_as_it_is(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    content = LONG.encode()
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert "".join(texts(TextFile(path, Columns()))) == LONG
    lines = [one.line for one in TextFile(path, Columns())]
    assert lines == sorted(lines) and lines[0] == 1 and len(lines) > 10


def test_a_character_on_the_edge_of_a_block_is_whole(tmp_path: Path) -> None:
    text = "x" * ((1 << 20) - 1) + "😀" + "y" * 100
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert "".join(texts(TextFile(tmp_path / "a.txt", Columns()))) == text


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"one\ntwo \xff three", "byte 0xff at byte 9 of the file, on line 2"),
        (b"x" * (1 << 20) + b"\n\xc3\x28", f"byte 0xc3 at byte {(1 << 20) + 2} of the file, on line 2"),
        (b"cut off \xf0\x9f", "byte 0xf0 at byte 9 of the file, on line 1"),
    ],
)
def test_what_is_not_utf8_is_refused_with_its_place(content: bytes, place: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(DataError, match=place):
        list(TextFile(tmp_path / "a.txt", Columns()))


def test_a_gzip_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(
        gzip.compress(np.random.default_rng(1).bytes(5000).hex().encode())[:2000]
    )
    with pytest.raises(DataError, match="not a whole gzip file"):
        list(TextFile(tmp_path / "a.txt.gz", Columns()))


def test_tasks_are_refused() -> None:
    with pytest.raises(DataError, match="makes pairs"):
        TextFile("task:reverse", Columns())


def test_documents_begin_and_end(tmp_path: Path) -> None:
    documents = ["short", "long " * 300, "tab\there"]
    (tmp_path / "a.txt").write_text("".join(f"{one}\n\n" for one in documents))
    rows = [json.dumps({"text": one, "more": 1}) for one in documents]
    (tmp_path / "a.jsonl").write_text(
        "\n".join([*rows, '{"text": ""}', '{"other": "x"}', '{"text": "\\ud800"}'])
    )
    by_line = [
        one for one in TextFile(tmp_path / "a.txt", Columns(documents="line")) if isinstance(one, Pair)
    ]
    by_key = list(TextFile(tmp_path / "a.jsonl", Columns()))
    passages = [one for one in by_key if isinstance(one, Pair)]
    assert [one[1:] for one in by_line] == [one[1:] for one in passages]
    assert passages[0].extras == (BEGINS, ENDS) and passages[1].extras == (BEGINS,)
    problems = [one for one in by_key if isinstance(one, Problem)]
    assert [one.line for one in problems] == [4, 5, 6] and [one.fatal for one in problems] == [
        False,
        True,
        True,
    ]
    column = Passages(CHARACTERS)
    begin, end = column.tokenizer.special.begin, column.tokenizer.special.end
    ids = [one for row in column.encode(passages) for one in row]
    assert ids.count(begin) == ids.count(end) == 3 and ids[0] == begin and ids[-1] == end
    again = COLUMNS["passages"](column.stored())
    assert again.encode(passages) == column.encode(passages)


def test_the_end_is_held_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LONG, encoding="utf-8")
    found = survey(TextFile(tmp_path / "a.txt", Columns()), "refuse")
    held = tail(found, 0.1, 1000)
    kept = [held.holds_out(one, place) for place, one in enumerate(found.examples)]
    assert kept == sorted(kept) and sum(kept) == round(0.1 * found.count)
    assert sum(tail(found, 0.9, 3).holds_out(one, place) for place, one in enumerate(found.examples)) == 3
    (tmp_path / "b.txt").write_text("little")
    with pytest.raises(DataError, match="too short"):
        tail(survey(TextFile(tmp_path / "b.txt", Columns()), "refuse"), 0.1, 1000)
    (tmp_path / "c.txt").write_text("")
    with pytest.raises(DataError, match="no usable example"):
        survey(TextFile(tmp_path / "c.txt", Columns()), "refuse")


def encoded(folder: Path) -> tuple[Encoded, dict[str, Passages]]:
    columns = {"target": Passages(CHARACTERS)}
    pairs = [Pair(number, "", text, "") for number, text in enumerate(cut([LONG]), 1)]
    return encode(lambda: pairs, columns, 512, folder / "encoded"), columns


@pytest.mark.parametrize("context", [1, 7, 64, 100_000])
def test_every_token_is_foretold_once_in_an_epoch(context: int, tmp_path: Path) -> None:
    data, columns = encoded(tmp_path)
    stream = Windows(data, columns, context, 512, 3, None)
    expected = sorted(data["target"].values.tolist())
    orders = []
    for epoch in (0, 1):
        seen = []
        for batch in stream:
            values, mask = batch["target"]
            assert mask is not None and values.shape[1] <= context + 1
            assert (values[:, 0] == columns["target"].tokenizer.special.begin).all()
            seen += values[:, 1:][mask[:, 1:]].tolist()
            if len(seen) == len(expected):
                break
        assert sorted(seen) == expected and stream.epoch == epoch
        orders.append(seen)
    assert orders[0] != orders[1] or context == 100_000
    whole = [one for batch in stream.in_order() for one in batch["target"].values[:, 1:].flatten().tolist()]
    assert [one for one in whole if one != 0] == data["target"].values.tolist()


def test_windows_go_on_where_they_stopped(tmp_path: Path) -> None:
    data, columns = encoded(tmp_path)
    stream = Windows(data, columns, 16, 256, 5, 8)
    steps = [(batch["target"].values.tolist(), batch.lines.tolist()) for batch in islice(stream, 200)]
    for stop in (1, 77, 130):
        first = Windows(data, columns, 16, 256, 5, 8)
        list(islice(first, stop))
        second = Windows(data, columns, 16, 256, 5, 8)
        second.restore(first.state())
        after = [(batch["target"].values.tolist(), batch.lines.tolist()) for batch in islice(second, 20)]
        assert after == steps[stop : stop + 20]


def test_memory_stays_small_however_large_the_file_is(tmp_path: Path) -> None:
    line = "a line of text that comes again and again\n"
    peaks = []
    for lines in (100_000, 400_000):
        path = tmp_path / f"{lines}.txt"
        path.write_text(line * lines)
        tracemalloc.start()
        assert survey(TextFile(path, Columns()), "refuse").count > 5000
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + (2 << 20)
