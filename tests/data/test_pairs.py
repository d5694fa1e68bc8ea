"""Pairs from every format, and what is wrong with a line."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Columns, Pair, PairFile, Problem
from seq2see.data.lines import LONGEST_LINE
from seq2see.data.survey import survey
from seq2see.errors import DataError, SettingsError
from seq2see.settings import build


@pytest.fixture
def write(tmp_path):
    """Writes bytes or text under a name, and gives the path."""

    def write(content: bytes | str, name: str = "pairs.tsv"):
        path = tmp_path / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def sides(file: PairFile) -> list[tuple[str, str, str]]:
    """The pairs without their lines."""
    return [pair[1:4] for pair in file.pairs()]


def test_columns_by_number(write):
    """H: columns counted from one, in any order."""
    path = write("a\tb\tc\nd\te\tf\n")
    assert list(PairFile(path, Columns()).pairs()) == [Pair(1, "a", "b", ""), Pair(2, "d", "e", "")]
    file = PairFile(path, Columns(source=3, target=1, features=2))
    assert list(file.pairs()) == [Pair(1, "c", "a", "b"), Pair(2, "f", "d", "e")]


@pytest.mark.parametrize("column", [0, -1])
def test_columns_begin_with_one(column):
    """H: a column before the first is refused, not counted from the end."""
    with pytest.raises(SettingsError, match=f"source: there is no column {column}; .*counted from 1"):
        build(Columns, {"source": column}, "test")


def test_columns_by_header_name(write):
    """H: names stand in the first line, which is no pair, and lines are counted from it."""
    path = write("lemma\tform\ttags\nwalk\twalked\tV;PST\n")
    file = PairFile(path, Columns(source="lemma", target="form", features="tags"))
    assert list(file) == [Pair(2, "walk", "walked", "V;PST")]
    assert list(PairFile(path, Columns(source="form", target=1))) == [Pair(2, "walked", "walk", "")]


def test_a_header_without_the_name(write):
    """H: a name that is not in the header is refused with the nearest that is."""
    with pytest.raises(DataError, match="no column 'lema' in its first line; did you mean 'lemma'"):
        list(PairFile(write("lemma\tform\nwalk\twalked\n"), Columns(source="lema")))


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.ndjson.gz", "pairs.JSON"])
def test_json_lines(write, name):
    """H: one object a line, by its keys; lists of features are joined."""
    records = [
        {"source": "ä\tb", "target": "c", "tags": ["V", "PST"]},
        {"target": "e", "source": "d", "tags": "N"},
        {"source": "f", "target": "g", "tags": None},
    ]
    path = write("\n".join(map(json.dumps, records)), name)
    assert sides(PairFile(path, Columns(features="tags"))) == [
        ("ä\tb", "c", "V;PST"),
        ("d", "e", "N"),
        ("f", "g", ""),
    ]
    assert sides(PairFile(path, Columns(source="target", target="source")))[1] == ("e", "d", "")


def test_json_lines_that_are_no_pairs(write):
    """H: each line that is no object with both texts is a problem on its own line."""
    lines = ['{"source": "a", "target": "b"}', "{broken", '["a", "b"]', '{"source": "a", "other": 1}']
    lines += ['{"source": 3, "target": "b"}', r'{"source": "\ud800", "target": "b"}']
    found = list(PairFile(write("\n".join(lines), "pairs.jsonl"), Columns()))
    assert found[0] == Pair(1, "a", "b", "")
    assert [(item.line, item.kind, item.fatal) for item in found[1:]] == [
        (2, "not JSON", True),
        (3, "not JSON", True),
        (4, "missing column", True),
        (5, "missing column", True),
        (6, "not JSON", True),
    ]
    details = " | ".join(item.detail for item in found[1:])
    for reason in (
        "Expecting property name",
        "not a JSON object",
        "under 'target'; it has 'source', 'other'",
        "surrogate",
    ):
        assert reason in details


def test_gzip(write):
    """H: packed files are read as they are; broken ones are refused by name."""
    path = write("a\tb\n", "pairs.tsv.gz")
    assert sides(PairFile(path, Columns())) == [("a", "b", "")]
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(DataError, match=r"pairs\.tsv\.gz is not a whole gzip file"):
        list(PairFile(path, Columns()))
    path.write_bytes(b"a\tb\n")
    with pytest.raises(DataError, match="gzip"):
        list(PairFile(path, Columns()))


def test_parallel_files(write):
    """H: line-aligned files are columns; tabs inside are spaces, and either kind of line end will do."""
    first, second = write("a x\r\nb\ty\r\n", "text.en"), write("1\n2\n", "text.de.gz")
    file = PairFile(f"{first},{second}", Columns())
    assert list(file) == [Pair(1, "a x", "1", ""), Pair(2, "b y", "2", "")]
    assert sides(PairFile(f"{first},{second}", Columns(source=2, target=1)))[0] == ("1", "a x", "")


@pytest.mark.parametrize("longer", [0, 1])
def test_parallel_files_of_unequal_length(write, longer):
    """H: when one file ends before the other, it is named with its last line."""
    texts = ["a\nb\n", "a\nb\n"]
    texts[longer] += "c\n"
    paths = [write(text, name) for text, name in zip(texts, ("text.en", "text.de"), strict=True)]
    with pytest.raises(DataError, match=rf"{paths[1 - longer].name} ends after line 2"):
        list(PairFile(",".join(map(str, paths)), Columns()))


def test_parallel_files_are_named_by_their_endings(write):
    """H: a column of parallel files can be asked for by the ending of its file, if just one has it."""
    first, second = write("a\n", "text.en"), write("b\n", "text.de")
    both = f"{first},{second}"
    assert sides(PairFile(both, Columns(source="de", target="en"))) == [("b", "a", "")]
    with pytest.raises(DataError, match=r"not one of them ends in \.german.*number"):
        list(PairFile(both, Columns(target="german")))
    with pytest.raises(DataError, match=r"not one of them ends in \.de"):
        list(PairFile(f"{both},{second}", Columns(target="de")))


def test_a_file_with_a_comma_in_its_name(write):
    """H: a file that has just that name is one file."""
    assert sides(PairFile(write("a\tb\n", "one,two.tsv"), Columns())) == [("a", "b", "")]


def test_line_ends(write):
    """H: CRLF ends a line, the last line needs no end, and a lone U+2028 ends nothing."""
    file = PairFile(write("a\tb\r\nc\u2028d\te\x85f\ng\th"), Columns())
    assert sides(file) == [("a", "b", ""), ("c\u2028d", "e\x85f", ""), ("g", "h", "")]
    assert [item.line for item in file] == [1, 2, 2, 3]


def test_a_byte_order_mark_is_no_text(write):
    """H: the mark that some programs put first belongs neither to the first pair nor to the header."""
    path = write("\ufefflemma\tform\nwalk\twalked\n")
    assert sides(PairFile(path, Columns()))[0] == ("lemma", "form", "")
    assert sides(PairFile(path, Columns(source="lemma"))) == [("walk", "walked", "")]


def test_every_problem_has_its_line(write):
    """H: each kind of problem is found on its own line, fatal where the line cannot be used."""
    lines = [
        b"good\tone",
        b"",
        b"only one",
        b"bad \xff byte\tx",
        b"null\x00\tx",
        b"bell\x07\tx",
        b"\ttarget",
        b"source\t ",
        b"x" * (LONGEST_LINE + 1) + b"\ty",
        b"good\ttwo",
    ]
    found = list(PairFile(write(b"\n".join(lines)), Columns()))
    problems = [(item.line, item.kind, item.fatal) for item in found if isinstance(item, Problem)]
    assert problems == [
        (2, "blank", False),
        (3, "missing column", True),
        (4, "not UTF-8", True),
        (5, "NUL byte", True),
        (6, "control character", False),
        (7, "empty side", False),
        (8, "empty side", False),
        (9, "too long", True),
    ]
    details = {item.line: item.detail for item in found if isinstance(item, Problem)}
    assert "1 column between tabs, column 2 is needed" in details[3]
    assert "0xff at byte 5" in details[4]
    assert "U+0007 at character 5" in details[6]
    assert ["source" in details[7], "target" in details[8]] == [True, True]
    assert [item.line for item in found if isinstance(item, Pair)] == [1, 6, 10]


def test_bad_lines_are_refused_together(write):
    """H: refusing names the first bad lines, how many there are and the ways out; skipping goes on."""
    path = write("a\tb\n" + "bad\n" * 5 + "c\td\n")
    with pytest.raises(DataError) as refusal:
        list(PairFile(path, Columns()).pairs("refuse"))
    message = str(refusal.value)
    assert [f"line {line}" in message for line in (2, 3, 4, 5)] == [True, True, True, False]
    assert "5 bad lines" in message
    assert "seq2see check" in message
    with pytest.raises(DataError, match=r"data\.bad_lines=skip"):
        survey(PairFile(path, Columns()), "refuse")
    assert [pair.line for pair in PairFile(path, Columns()).pairs("skip")] == [1, 7]


def test_without_targets(write):
    """H: a file to decode needs no target, and its empty lines stay in their places."""
    file = PairFile(write("a\n\nb\tc\n"), Columns(), needs_target=False)
    assert list(file) == [Pair(1, "a", "", ""), Pair(2, "", "", ""), Pair(3, "b", "", "")]


def test_files_that_are_not_there(write, tmp_path):
    """H: a missing file is named with its packed neighbour, a directory for what it is."""
    write("a\tb\n", "pairs.tsv.gz")
    with pytest.raises(DataError, match=r"no file .*pairs\.tsv; did you mean .*pairs\.tsv\.gz"):
        list(PairFile(tmp_path / "pairs.tsv", Columns()))
    with pytest.raises(DataError, match="is a directory"):
        list(PairFile(tmp_path, Columns()))


def test_the_fingerprint_follows_contents_and_columns(write):
    """H: another content or column is another fingerprint, another name is not."""
    first = PairFile(write("a\tb\n"), Columns()).fingerprint()
    assert PairFile(write("a\tb\n", "other.tsv"), Columns()).fingerprint() == first
    assert PairFile(write("a\tc\n", "third.tsv"), Columns()).fingerprint() != first
    assert PairFile(write("a\tb\n"), Columns(source=2, target=1)).fingerprint() != first


field = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)


@given(rows=st.lists(st.tuples(field, field), max_size=8))
def test_any_text_is_read_as_written(tmp_path_factory, rows):
    """H: whatever stands between tabs comes out as it stands there."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_bytes("".join(f"{source}\t{target}\n" for source, target in rows).encode())
    assert sides(PairFile(path, Columns())) == [(source, target, "") for source, target in rows]


@pytest.mark.parametrize("name", ["source", "target", "features", "size", "kind"])
@pytest.mark.parametrize("value", [r"\ud800", r"\u0000"])
def test_half_characters_are_found_in_every_column(write, name, value):
    """Whatever column they stand in, no line with them can be encoded or written."""
    columns = Columns(features="features", numbers=("size",), categories=("kind",))
    good = {"source": "a", "target": "b", "features": "V", "size": "1", "kind": "x"}
    lines = [json.dumps(good), json.dumps(good).replace(f'"{good[name]}"', f'"{value}"')]
    one, other = PairFile(write("\n".join(lines), "pairs.jsonl"), columns)
    assert isinstance(one, Pair)
    assert isinstance(other, Problem) and other.fatal and other.line == 2
