"""Each kind of problem is found, on its line, and counted in full."""

import gzip
import json
from pathlib import Path

import pytest

from seq2see.data.check import FileCheck, check
from seq2see.data.pairs import Columns, Problem
from seq2see.errors import DataError

CLEAN = [(f"w{number:03d}", f"W {number % 10} X") for number in range(100)]


def write(path: Path, pairs: list[tuple[str, ...]]) -> str:
    path.write_text("".join("\t".join(pair) + "\n" for pair in pairs), encoding="utf-8")
    return str(path)


def check_pairs(folder: Path, pairs: list[tuple[str, ...]], columns: Columns | None = None) -> FileCheck:
    return check([write(folder / "pairs.tsv", pairs)], columns or Columns())[0]


def lines(found: FileCheck, kind: str) -> list[int]:
    return [item.line for item in found.problems if item.kind == kind]


def test_a_clean_file_has_no_problems(tmp_path: Path) -> None:
    found = check_pairs(tmp_path, CLEAN)
    assert (found.lines, found.pairs, found.problems, found.counts) == (100, 100, [], {})
    assert found.unusable == 0
    assert found.coverage == {}


def test_an_empty_file_is_summarised_as_nothing(tmp_path: Path) -> None:
    found = check_pairs(tmp_path, [])
    assert (found.lines, found.pairs, found.problems) == (0, 0, [])
    assert found.source is found.target is found.features is None


def test_an_empty_file_beside_a_full_one(tmp_path: Path) -> None:
    empty, full = write(tmp_path / "empty", []), write(tmp_path / "full", CLEAN)
    assert check([full, empty], Columns())[1].coverage == {}
    assert check([empty, full], Columns())[1].coverage["source"].share == 0


def test_the_sides_are_summarised(tmp_path: Path) -> None:
    found = check_pairs(tmp_path, [("ab", "A B"), ("abcd", "A B C D"), ("é", "E")])
    assert found.source is not None and found.target is not None
    assert found.source.mean == pytest.approx(7 / 3)
    assert (found.source.median, found.source.longest, found.source.symbols) == (2, 4, 5)
    assert found.source.rarest == [("c", 1), ("d", 1), ("é", 1), ("a", 2), ("b", 2)]
    assert (found.target.mean_words, found.target.longest_words) == (pytest.approx(7 / 3), 4)
    assert (found.source.words, found.target.words) == (3, 5)
    assert found.target.listed and not found.source.listed


def test_too_many_words_are_not_counted(tmp_path: Path) -> None:
    found = check_pairs(tmp_path, [(f"s{number}", "t") for number in range(5001)])
    assert found.source is not None and found.target is not None
    assert (found.source.words, found.target.words) == (None, 1)


def test_lines_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    rows = [b"a\tA", b"alone", b"", b"\tB", b"c\xff\tC", b"d\x00\tD", b"x" * 100_001 + b"\tX", b"e\tE"]
    path.write_bytes(b"\n".join(rows) + b"\n")
    found = check([str(path)], Columns())[0]
    assert [(item.line, item.kind, item.fatal) for item in found.problems] == [
        (2, "missing column", True),
        (3, "blank", False),
        (4, "empty side", False),
        (5, "not UTF-8", True),
        (6, "NUL byte", True),
        (7, "too long", True),
    ]
    assert (found.lines, found.pairs, found.unusable) == (8, 2, 4)


@pytest.mark.parametrize("odd", ["\u2028", "\u0085", "\x0b", "\r", "\x07"])
def test_odd_separators_and_controls(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(f"a\tA\nb{odd}b\tB\n".encode())
    found = check([str(path)], Columns())[0]
    assert found.problems == [
        Problem(2, "control character", f"U+{ord(odd):04X} at character 2", fatal=False)
    ]
    assert found.pairs == 2


def test_duplicates_name_the_first_line(tmp_path: Path) -> None:
    found = check_pairs(tmp_path, [("a", "A"), ("b", "B"), ("a", "A"), ("a", "Z"), ("a", "A"), ("a", "Z")])
    assert found.problems == [
        Problem(3, "duplicate", "the same as line 1", fatal=False),
        Problem(4, "same source", "line 1 has another target for it", fatal=False),
        Problem(5, "duplicate", "the same as line 1", fatal=False),
        Problem(6, "duplicate", "the same as line 4", fatal=False),
    ]


def test_features_tell_sources_apart(tmp_path: Path) -> None:
    pairs = [("go", "goes", "V;3"), ("go", "went", "V;PST"), ("go", "gone", "V;PST"), ("go", "goes", "V;3")]
    found = check_pairs(tmp_path, pairs, Columns(features=3))
    assert found.counts == {"duplicate": 1, "same source": 1}
    assert (lines(found, "same source"), lines(found, "duplicate")) == ([3], [4])
    assert found.features is not None
    assert (found.features.words, found.features.longest_words) == (3, 2)


def test_sources_seen_in_the_first_file(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [("a", "A"), ("b", "B"), ("b", "BB"), ("z", "Z")])
    dev = write(tmp_path / "dev.tsv", [("c", "C"), ("zz", "ZZ"), ("b", "X"), ("a", "A"), ("b", "Y")])
    test = write(tmp_path / "test.tsv", [("c", "C")])
    first, second, third = check([train, dev, test], Columns())
    kind = f"seen in {train}"
    assert first.counts == {"same source": 1}
    assert [item for item in second.problems if item.kind == kind] == [
        Problem(3, kind, "its source is on line 2 there", fatal=False),
        Problem(4, kind, "its source is on line 1 there", fatal=False),
        Problem(5, kind, "its source is on line 2 there", fatal=False),
    ]
    assert third.counts == {}


def test_coverage_of_the_other_files(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [("ab", "AB AB"), ("ba", "BA C")])
    dev = write(tmp_path / "dev.tsv", [("a😀b😀", "AB D"), ("ax", "C AC")])
    covered = check([train, dev], Columns())[1].coverage
    assert covered["source"].share == pytest.approx(3 / 6)
    assert covered["source"].unseen == [("😀", 2), ("x", 1)]
    assert covered["source"].unseen_words is None
    assert covered["target"].share == pytest.approx(7 / 8)
    assert covered["target"].unseen == [("D", 1)]
    assert covered["target"].unseen_words == [("AC", 1), ("D", 1)]


def test_coverage_of_features(tmp_path: Path) -> None:
    train = write(tmp_path / "train.tsv", [("a", "b", "V;SG")])
    dev = write(tmp_path / "dev.tsv", [("a", "b", "V;PL"), ("c", "b", "N;PL")])
    covered = check([train, dev], Columns(features=3))[1].coverage
    assert covered["features"].unseen_words == [("PL", 2), ("N", 1)]


def test_a_transcription_far_too_long(tmp_path: Path) -> None:
    pairs = [("word" + "s" * (number % 7), "P " * (3 + number % 7) + "Q") for number in range(200)]
    pairs[120] = ("cat", " ".join("K" * 60))
    found = check_pairs(tmp_path, [(f"{source}{i}", target) for i, (source, target) in enumerate(pairs)])
    assert lines(found, "length ratio") == [121]
    assert "60 symbols" in next(item.detail for item in found.problems if item.kind == "length ratio")


def test_a_misaligned_line_of_a_translation(tmp_path: Path) -> None:
    text = "the young dogs are running over green grass near some children today"
    sentences = [text.replace("green", "very " * (number % 9) + str(number)) for number in range(300)]
    pairs = [(sentence, sentence.replace("over", "ueber das").upper()) for sentence in sentences]
    pairs[40], pairs[250] = (sentences[40], "JA ."), ("yes .", pairs[250][1])
    found = check_pairs(tmp_path, pairs)
    assert found.counts == {"length ratio": 2}
    assert lines(found, "length ratio") == [41, 251]


def test_tags_are_measured_against_words(tmp_path: Path) -> None:
    pairs = [("see the page " + "x " * (number % 9) + str(number), "") for number in range(60)]
    pairs[30] = ("https://example.org/" + "long/" * 20, "")
    tagged = [(source, " ".join("PROPN" for _ in source.split())) for source, _ in pairs]
    assert check_pairs(tmp_path, tagged).counts == {}
    tagged[7] = (tagged[7][0], "PROPN")
    assert lines(check_pairs(tmp_path, tagged), "length ratio") == [8]


def test_surrounding_space(tmp_path: Path) -> None:
    pairs = [
        (" a", "A"),
        ("b ", "B"),
        ("c", "C  C"),
        ("d e", "D E"),
        ("\u00a0f", " F"),
        ("g", "G"),
        (" h", "H"),
    ]
    found = check_pairs(tmp_path, pairs)
    assert found.counts == {"surrounding space": 5}
    assert lines(found, "surrounding space") == [1, 2, 3, 5, 7]
    assert [item.detail for item in found.problems] == [
        "in the source",
        "in the source",
        "in the target",
        "in the source and target",
        "in the source",
    ]


def test_text_that_is_not_normalised(tmp_path: Path) -> None:
    found = check_pairs(tmp_path, [("é", "E"), ("e\u0301", "F"), ("\u0301e", "G"), ("h", "\u212b")])
    assert found.counts == {"not normalised": 2}
    assert lines(found, "not normalised") == [2, 4]
    assert not any(item.fatal for item in found.problems)


def test_equal_sides_are_told_only_where_rare(tmp_path: Path) -> None:
    rare = check_pairs(tmp_path, [*CLEAN, ("same", "same")])
    assert (rare.counts, lines(rare, "same on both sides")) == ({"same on both sides": 1}, [101])
    common = check_pairs(tmp_path, [*CLEAN, *((f"same{i}", f"same{i}") for i in range(10))])
    assert (common.counts, common.problems) == ({}, [])


def test_counts_go_on_when_the_list_is_full(tmp_path: Path) -> None:
    pairs = [("a ", "A"), ("",), *[("a ", "A"), ("",)] * 5000]
    found = check_pairs(tmp_path, pairs)
    assert found.counts == {"surrounding space": 5001, "blank": 5001, "duplicate": 5000}
    assert lines(found, "duplicate") == list(range(3, 2003, 2))
    assert lines(found, "surrounding space") == list(range(1, 2001, 2))
    assert lines(found, "blank") == list(range(2, 2002, 2))
    assert [item.line for item in found.problems] == sorted(item.line for item in found.problems)


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows = [{"in": "a\nb", "out": "A"}, {"in": "a"}, {"in": "a\nb", "out": "A"}, {"in": "b", "out": "B"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = check([str(path)], Columns(source="in", target="out"))[0]
    assert (lines(found, "missing column"), lines(found, "duplicate")) == ([2], [3])
    assert found.lines == 4


def test_parallel_files_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "a.en.gz").write_bytes(gzip.compress(b"one\ntwo\n\none\n"))
    (tmp_path / "a.de").write_bytes(b"eins\nzwei\n\neins\n")
    found = check([f"{tmp_path}/a.en.gz,{tmp_path}/a.de"], Columns())[0]
    assert (found.lines, found.pairs) == (4, 3)
    assert found.counts == {"blank": 1, "duplicate": 1}


def test_a_header_counts_as_a_line(tmp_path: Path) -> None:
    pairs = [("to", "from"), ("A", "a"), ("A", "a")]
    found = check_pairs(tmp_path, pairs, Columns(source="from", target="to"))
    assert (found.lines, found.pairs, lines(found, "duplicate")) == (3, 2, [3])


@pytest.mark.parametrize("name", ["nowhere.tsv", "."])
def test_what_is_not_a_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"no file|is a directory"):
        check([write(tmp_path / "train.tsv", CLEAN), str(tmp_path / name)], Columns())
