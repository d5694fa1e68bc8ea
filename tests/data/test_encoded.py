"""Encoded corpora: right, made once, and whole or not at all."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seq2see.data import Pair
from seq2see.data import encoded as encoded_module
from seq2see.data.columns import Words
from seq2see.data.encoded import cache_folder, encode, key_of
from seq2see.errors import DataError
from seq2see.goals.generate import columns_of
from seq2see.text import Codec, TextSettings

PAIRS = [Pair(line, f"word{line % 7}" * (1 + line % 3), f"said{line % 5}", "A;B") for line in range(1, 60)]


@pytest.fixture
def codec() -> Codec:
    """Characters, with some letters of the pairs unknown on the target side."""
    features = [pair.features for pair in PAIRS]
    return Codec.learn([pair.source for pair in PAIRS], ["said012"], features, TextSettings())


@pytest.mark.parametrize("chunk", [7, 4096])
def test_arrays_are_what_the_tokenizers_say(codec, tmp_path, monkeypatch, chunk):
    """H: each side of each pair, across chunks, with lines and unknown tokens counted."""
    monkeypatch.setattr(encoded_module, "_CHUNK", chunk)
    data = encode(lambda: PAIRS, columns_of(codec), 100, tmp_path / "corpus")
    sources = codec.encode_sources([p.source for p in PAIRS], [p.features for p in PAIRS])
    targets = codec.encode_targets([p.target for p in PAIRS])
    assert len(data) == len(PAIRS)
    for row in range(len(PAIRS)):
        assert data["source"][row].tolist() == sources[row]
        assert data["target"][row].tolist() == targets[row]
    assert data.lines.tolist() == [pair.line for pair in PAIRS]
    assert data["source"].lengths.tolist() == list(map(len, sources))
    assert data["target"].lengths.tolist() == list(map(len, targets))
    missing = sum("3" in pair.target or "4" in pair.target for pair in PAIRS)
    assert data.unknown == {"source": 0, "target": missing}
    assert data.left_out == 0


def test_long_pairs_are_left_out(codec, tmp_path):
    """H: a pair with a side past the limit is left out and counted."""
    data = encode(lambda: PAIRS, columns_of(codec), 13, tmp_path / "corpus")
    fitting = [pair.line for pair in PAIRS if len(pair.source) + 3 <= 13]
    assert 0 < len(fitting) < len(PAIRS)
    assert data.lines.tolist() == fitting
    assert data.left_out == len(PAIRS) - len(fitting)


def test_nothing_left(codec, tmp_path):
    """H: a corpus of nothing but long pairs is empty, not an error."""
    data = encode(lambda: PAIRS, columns_of(codec), 2, tmp_path / "corpus")
    assert len(data) == 0
    assert data.left_out == len(PAIRS)
    assert data["source"].lengths.tolist() == []


def test_a_corpus_is_encoded_once(codec, tmp_path):
    """H: the second time the arrays are opened, and no pair is read."""
    first = encode(lambda: PAIRS, columns_of(codec), 100, tmp_path / "corpus")

    def refuse():
        raise AssertionError("read again")

    second = encode(refuse, columns_of(codec), 100, tmp_path / "corpus")
    assert np.array_equal(first["source"].values, second["source"].values)
    assert second.unknown == first.unknown
    assert isinstance(second["source"].values, np.memmap)


@pytest.mark.parametrize("error", [DataError("line 30"), KeyboardInterrupt(), OSError(28, "No space left")])
def test_a_failure_leaves_nothing_behind(codec, tmp_path, error):
    """H: when reading fails half-way there is no draft and no corpus, and the next try succeeds."""

    def failing():
        yield from PAIRS[:30]
        raise error

    expected = DataError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected, match="SEQ2SEE_CACHE" if isinstance(error, OSError) else None):
        encode(failing, columns_of(codec), 100, tmp_path / "cache" / "corpus")
    assert list((tmp_path / "cache").iterdir()) == []
    assert len(encode(lambda: PAIRS, columns_of(codec), 100, tmp_path / "cache" / "corpus")) == len(PAIRS)


def test_two_at_once(codec, tmp_path):
    """H: who comes second waits for the first, and opens what that one made."""
    reading, made = threading.Event(), []

    def slow():
        reading.set()
        time.sleep(0.2)
        made.append(1)
        yield from PAIRS

    def work():
        return encode(slow, columns_of(codec), 100, tmp_path / "corpus")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(work)
        reading.wait()
        second = pool.submit(work)
        assert len(first.result()) == len(second.result()) == len(PAIRS)
    assert made == [1]
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_progress_counts_pairs(codec, tmp_path, monkeypatch):
    """H: progress is told after every chunk."""
    monkeypatch.setattr(encoded_module, "_CHUNK", 25)
    told: list[int] = []
    encode(lambda: PAIRS, columns_of(codec), 100, tmp_path / "corpus", told.append)
    assert told == [25, 50, 59]


def test_keys_follow_everything_that_matters(codec):
    """H: file, tokenizers, limit and part each make another corpus."""
    other = Codec.learn(["xyz"], ["xyz"], None, TextSettings())
    keys = [
        key_of("file", columns_of(codec), 10, "train"),
        key_of("other", columns_of(codec), 10, "train"),
        key_of("file", columns_of(other), 10, "train"),
        key_of("file", columns_of(codec), 11, "train"),
        key_of("file", columns_of(codec), 10, "dev"),
    ]
    assert len(set(keys)) == 5
    assert key_of("file", columns_of(codec), 10, "train") == keys[0]


def test_where_corpora_are_kept(monkeypatch, tmp_path):
    """H: SEQ2SEE_CACHE comes first, then the user's cache folder."""
    monkeypatch.setenv("SEQ2SEE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("SEQ2SEE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_folder() == tmp_path / "user" / "seq2see"


def test_large_vocabularies_need_wider_numbers(tmp_path):
    """H: ids past two bytes are kept whole."""

    class Wide(Words):
        size = 70_000

        def encode(self, examples):
            return [[69_999, 65_536] for _ in examples]

    data = encode(lambda: PAIRS, {"source": Wide([], [])}, 100, tmp_path / "corpus")
    assert data["source"][0].tolist() == [69_999, 65_536]
