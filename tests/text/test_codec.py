"""The tokenizers of a run together."""

import pytest

from seq2see.text import END, UNKNOWN, Codec, TextSettings

SOURCES, TARGETS, FEATURES = ["walk", "talk"], ["walked", "talks"], ["V;PST", "V;3;SG"]


def codec_of(shared: bool = False, features: bool = True) -> Codec:
    """Characters on both sides."""
    return Codec.learn(SOURCES, TARGETS, FEATURES if features else None, TextSettings(shared=shared))


def keep(codec: Codec, folder) -> Codec:
    """Write a codec's files and read them again."""
    for name, text in codec.files().items():
        (folder / name).write_text(text, encoding="utf-8")
    return Codec.load(folder)


def test_features_stand_before_the_source():
    """H: features are the first ids, past those of the source's own vocabulary."""
    codec = codec_of()
    (ids,) = codec.encode_sources(["walk"], ["V;PST"])
    shift = codec.source.size
    assert ids == [
        *(shift + tag for tag in codec.features.encode("V;PST")),
        *codec.source.encode("walk"),
        END,
    ]
    assert all(shift <= tag < codec.source_size for tag in ids[:2])
    assert codec.source_tokens(ids) == ["[V]", "[PST]", "w", "a", "l", "k", "<end>"]


@pytest.mark.parametrize("written", ["V;PST", "V,PST", "V|PST", " V PST ", "V; PST;"])
def test_features_may_be_written_in_many_ways(written):
    """H: semicolons, commas, bars and spaces all separate features."""
    codec = codec_of()
    assert codec.encode_sources(["walk"], [written]) == codec.encode_sources(["walk"], ["V;PST"])


def test_features_missing_or_unknown():
    """H: a pair may lack features, and one that was never seen is an unknown feature."""
    codec = codec_of()
    plain = [*codec.source.encode("walk"), END]
    assert codec.encode_sources(["walk"]) == codec.encode_sources(["walk"], [""]) == [plain]
    assert codec.encode_sources(["walk"], ["FUT"]) == [[codec.source.size + UNKNOWN, *plain]]
    assert codec_of(features=False).encode_sources(["walk"], ["V"]) == [
        [*codec_of(features=False).source.encode("walk"), END]
    ]


def test_targets_end():
    """A5: targets end with the end symbol."""
    codec = codec_of()
    assert codec.encode_targets(["walks", ""]) == [[*codec.target.encode("walks"), END], [END]]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("features", [False, True])
def test_a_codec_comes_back_from_its_files(tmp_path, shared, features):
    """H: files and back; one file for a shared vocabulary, one more for features."""
    codec = codec_of(shared, features)
    names = {"shared.json"} if shared else {"source.json", "target.json"}
    assert set(codec.files()) == names | ({"features.json"} if features else set())
    again = keep(codec, tmp_path)
    assert again.files() == codec.files()
    assert again.shared == shared
    assert (again.source_size, again.target_size) == (codec.source_size, codec.target_size)
    assert again.encode_sources(SOURCES, FEATURES) == codec.encode_sources(SOURCES, FEATURES)
    assert again.encode_targets(TARGETS) == codec.encode_targets(TARGETS)


def test_a_shared_vocabulary_knows_both_sides():
    """D8: one vocabulary learnt from both sides, with the same ids on each."""
    codec = codec_of(shared=True)
    assert codec.encode_sources(["walked"])[0] == codec.encode_targets(["walked"])[0]
    assert not codec.source.unknown(SOURCES + TARGETS)
    assert codec_of().source.unknown(TARGETS) == {"e": 1, "d": 1, "s": 1}
