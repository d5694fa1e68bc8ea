"""The tokenizers of a run together."""

import pytest

from seq2see.data import Columns, PairFile
from seq2see.text import END, PAD, UNKNOWN, Codec, TextSettings
from seq2see.text.special import SPECIAL

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


def test_what_can_be_copied_with_two_vocabularies():
    """H: a source token has the target id of the same token; others and special symbols have padding."""
    codec = codec_of(features=False)
    copies = codec.copies()
    assert len(copies) == codec.source_size
    assert copies[: len(SPECIAL)] == [END if place == END else PAD for place in range(len(SPECIAL))]
    for token, place in codec.source.vocabulary.items():
        if place >= len(SPECIAL):
            assert copies[place] == codec.target.vocabulary[token]
    other = Codec.learn(["walk"], ["w2"], None, TextSettings())
    found = {token: other.copies()[place] for token, place in other.source.vocabulary.items()}
    assert found["w"] == other.target.vocabulary["w"] >= len(SPECIAL)
    assert [found[letter] for letter in "alk"] == [PAD] * 3


def test_what_can_be_copied_with_one_vocabulary():
    """H: with a shared vocabulary a token is copied as itself."""
    codec = codec_of(shared=True, features=False)
    size = codec.target_size
    assert codec.copies() == [
        place if place >= len(SPECIAL) or place == END else PAD for place in range(size)
    ]


@pytest.mark.parametrize("shared", [False, True])
def test_features_cannot_be_copied(shared):
    """H: features stand past the source's vocabulary, and none of them is a token of the target."""
    codec = Codec.learn(["walk"], ["walked V"], ["V;PST"], TextSettings(shared=shared))
    copies = codec.copies()
    assert len(copies) == codec.source_size > codec.source.size
    assert copies[codec.source.size :] == [PAD] * codec.features.size


def test_the_case_task_begins_with_its_feature():
    """A6: <U> or <L> is one token, and the first of the source; the letters follow."""
    file = PairFile("task:case:pairs=300:lengths=10-20", Columns(features=3), training=True)
    _, sources, targets, features, *_ = zip(*file.pairs(), strict=True)
    codec = Codec.learn(sources, targets, features, TextSettings())
    firsts = set()
    for source, target, feature, ids in zip(
        sources, targets, features, codec.encode_sources(sources, features), strict=True
    ):
        shown = codec.source_tokens(ids)
        assert len(ids) == 1 + len(source) + 1
        assert shown[0] == f"[{feature}]"
        assert ids[1:] == [*codec.source.encode(source), END]
        assert target == (source.upper() if feature == "<U>" else source.lower())
        firsts.add(shown[0])
    assert firsts == {"[<U>]", "[<L>]"}
