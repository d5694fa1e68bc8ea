"""Examples of every format: the right texts, the right lines, columns by name and by number."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Pair, PairFile, Problem
from seq2see.data.pairs import Columns, columns_of
from seq2see.errors import DataError

CONLLU = """# sent_id = 1
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tVB\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tPP\t_\t1\tobj\t_\t_
2.1\tfuimos\tir\tVERB\tVB\t_\t_\t_\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\tIN\t_\t5\tcase\t_\t_
4\tel\tel\tDET\tDT\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\tNN\t_\t1\tobl\t_\t_

# sent_id = 2
1\tNew York\tNY\tPROPN\tNNP\t_\t0\troot\t_\t_
"""


def read(path: Path, **columns: str) -> list[Pair]:
    """The examples of a file without problems."""
    found = list(PairFile(path, columns_of(**columns)))
    assert all(isinstance(item, Pair) for item in found), found
    return found


def written(folder: Path, name: str, text: str) -> Path:
    """A file with a text, packed if its name says so."""
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_tsv_by_number_and_by_name(tmp_path: Path, ending: str) -> None:
    numbered = written(tmp_path, f"a.tsv{ending}", "x\tone\tA;B\ny\ttwo\tC\n")
    assert read(numbered) == [Pair(1, "x", "one", ""), Pair(2, "y", "two", "")]
    assert read(numbered, source="2", target="1", features="3")[1] == Pair(2, "two", "y", "C")
    named = written(tmp_path, f"b.tsv{ending}", "id\ttext\tlabel\n7\tone\tgood\n")
    assert read(named, source="text", target="label") == [Pair(2, "one", "good", "")]
    assert read(named, source="text", target="label", numbers="id") == [Pair(2, "one", "good", "", ("7",))]


def test_csv_with_quotes_commas_and_newlines(tmp_path: Path) -> None:
    text = 'id,text,label\n1,"one, ""two""",good\n2,"first\nsecond",bad\n\n3,plain,good\n'
    found = read(written(tmp_path, "a.csv", text))
    assert [(one.line, one.source, one.target) for one in found] == [
        (2, 'one, "two"', "good"),
        (3, "first\nsecond", "bad"),
        (6, "plain", "good"),
    ]


def test_csv_columns_are_found_by_their_usual_names(tmp_path: Path) -> None:
    """With other names, the first two columns are taken; a name that is given comes before all."""
    usual = written(tmp_path, "a.csv", "year,label,sentence\n1999,good,one two\n")
    assert read(usual) == [Pair(2, "one two", "good", "")]
    other = written(tmp_path, "b.csv", "opinion,verdict\none two,good\n")
    assert read(other) == [Pair(2, "one two", "good", "")]
    assert read(usual, target="year")[0].target == "1999"


@given(
    st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]))] * 2)
    )
)
def test_whatever_csv_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    import csv

    rows = [row for row in rows if all(text.strip() for text in row)]
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    assert [(one.source, one.target) for one in read(path)] == rows


def test_jsonl_takes_texts_numbers_and_lists(tmp_path: Path) -> None:
    rows = [
        {"text": "one", "label": "good", "age": 3},
        {"text": ["New York", "is"], "label": ["PROPN", "AUX"], "age": 1.5},
        {"text": "three", "label": 4, "age": 0},
        {"text": "four", "label": True, "age": 0},
    ]
    path = written(tmp_path, "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = read(path, numbers="age")
    assert [one.source for one in found] == ["one", "New\u00a0York is", "three", "four"]
    assert [one.target for one in found] == ["good", "PROPN AUX", "4", "True"]
    assert [one.extras for one in found] == [("3",), ("1.5",), ("0",), ("0",)]


def test_conllu_leaves_ranges_and_empty_nodes_out(tmp_path: Path) -> None:
    first, second = read(written(tmp_path, "a.conllu", CONLLU))
    assert first == Pair(4, "Vamos nos a el mar", "VERB PRON ADP DET NOUN", "")
    assert second == Pair(13, "New\u00a0York", "PROPN", ""), "a file may end without a blank line"


def test_conllu_with_several_targets(tmp_path: Path) -> None:
    first, _ = read(written(tmp_path, "a.conllu.gz", CONLLU), source="lemma", target="upos,xpos")
    assert first.source == "ir nosotros a el mar"
    assert first.target == "VERB PRON ADP DET NOUN\tVB PP IN DT NN"


@pytest.mark.parametrize("between", [" ", "\t", "   "])
@pytest.mark.parametrize("ending", ["conll", "bio", "iob"])
def test_two_columns_with_blank_lines(tmp_path: Path, between: str, ending: str) -> None:
    text = "\n\nJohn_B-PER\nSmith_I-PER\nsleeps_O\n\n\n\n# a comment\nHe_O\nsleeps_O".replace("_", between)
    found = read(written(tmp_path, f"a.{ending}", text))
    assert found == [Pair(3, "John Smith sleeps", "B-PER I-PER O", ""), Pair(10, "He sleeps", "O O", "")]


def test_further_columns_of_conll(tmp_path: Path) -> None:
    text = "John NNP B-NP B-PER\nsleeps VBZ B-VP O\n\n"
    assert read(written(tmp_path, "a.conll", text), target="4")[0].target == "B-PER O"
    assert read(written(tmp_path, "a.conll", text), target="2,3")[0].target == "NNP VBZ\tB-NP B-VP"


def test_a_bad_word_spoils_its_sentence_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "a.conll", "a A\nb\nc C\n\nd D\n")
    bad, good = PairFile(path, Columns())
    assert isinstance(bad, Problem) and (bad.line, bad.fatal) == (2, True)
    assert good == Pair(5, "d", "D", "")


def test_fasta_joins_lines(tmp_path: Path) -> None:
    text = ">sp|P1 some protein 51.5\nACD\nEFG\n\n; a remark\n>P2 40\nKL\n"
    assert read(written(tmp_path, "a.fasta", text)) == [
        Pair(1, "ACDEFG", "51.5", ""),
        Pair(6, "KL", "40", ""),
    ]


def test_several_targets_of_a_table(tmp_path: Path) -> None:
    path = written(tmp_path, "a.tsv", "a b\tX Y\tP Q\n")
    assert read(path, target="2,3") == [Pair(1, "a b", "X Y\tP Q", "")]


def test_emoji_and_other_scripts(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "text,label\n👩‍👩‍👧 très ﷽,😀\n")
    assert read(path) == [Pair(2, "👩‍👩‍👧 très ﷽", "😀", "")]


def test_names_need_a_header(tmp_path: Path) -> None:
    path = written(tmp_path, "a.conll", "a A\n")
    with pytest.raises(DataError, match="no names for its columns"):
        read(path, target="tag")
