"""Several columns of texts: an example for each cell that holds something."""

import json
from pathlib import Path

import pytest

from seq2see.data.pairs import Columns, Pair, Problem
from seq2see.data.several import SeveralTexts, every
from seq2see.data.survey import survey
from seq2see.errors import DataError

ROWS = [
    {"en": "a dog", "de": "ein Hund", "fr": "un chien", "cs": "pes"},
    {"en": "a cat", "de": "", "fr": "un chat", "cs": None},
    {"en": "nothing", "de": "", "fr": "", "cs": ""},
]
EXPECTED = [
    ("a dog", "ein Hund", "de"),
    ("a dog", "un chien", "fr"),
    ("a dog", "pes", "cs"),
    ("a cat", "un chat", "fr"),
]


def written(folder: Path, kind: str) -> str:
    """The rows as a file of some format."""
    path = folder / f"a.{kind}"
    if kind == "jsonl":
        rows = [{key: value for key, value in row.items() if value is not None} for row in ROWS]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif kind == "parallel":
        for side in ROWS[0]:
            (folder / f"a.{side}").write_text("".join(f"{row[side] or ''}\n" for row in ROWS))
        return ",".join(str(folder / f"a.{side}") for side in ROWS[0])
    else:
        between = "\t" if kind == "tsv" else ","
        lines = [between.join(row[key] or "" for key in ROWS[0]) for row in ROWS]
        # A spreadsheet may leave out the cells at the end of a line.
        path.write_text("\n".join([between.join(ROWS[0]), lines[0], lines[1].rstrip(between), lines[2]]))
    return str(path)


@pytest.mark.parametrize("kind", ["tsv", "csv", "jsonl", "parallel"])
def test_each_cell_is_an_example(tmp_path: Path, kind: str) -> None:
    """D10: cells that are empty or not there are counted, and a row without any is an empty side."""
    file = SeveralTexts(written(tmp_path, kind), Columns(source="en", target=("de", "fr", "cs")))
    items = list(file)
    found = [(one.source, one.target, one.into) for one in items if isinstance(one, Pair)]
    assert found == EXPECTED
    problems = [(one.kind, one.detail) for one in items if isinstance(one, Problem)]
    assert problems == [
        ("missing target", "nothing in column 'de'"),
        ("missing target", "nothing in column 'cs'"),
        ("empty side", "the target is empty"),
    ]
    surveyed = survey(file, "refuse")
    assert surveyed.count == 4 and surveyed.skipped == {"missing target": 2, "empty side": 1}
    assert [one.into for one in surveyed.examples] == ["de", "fr", "cs", "fr"]


def test_targets_by_number_and_tabs_inside_cells(tmp_path: Path) -> None:
    """D10: columns by number are named after it; a tab inside a cell is no border of cells."""
    (tmp_path / "a.csv").write_text('en,de,fr\na,"x\ty",z\n')
    file = SeveralTexts(tmp_path / "a.csv", Columns(target=(2, 3)))
    assert [(one.target, one.into) for one in file.pairs()] == [("x y", "2"), ("z", "3")]


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    """D10: a missing cell is one thing, a name that no column has another."""
    name = written(tmp_path, "tsv")
    with pytest.raises(DataError, match="no column 'da' in its first line; choose from cs, de, en, fr"):
        list(SeveralTexts(name, Columns(source="en", target=("da", "fr"))))


def test_a_sample_has_all_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D10: whatever the stride of a sample is, no target falls between its steps."""
    lines = [f"{number}\ta\tb\n" for number in range(100)]
    (tmp_path / "a.tsv").write_text("".join(lines))
    monkeypatch.setattr(SeveralTexts, "sampled", 20)
    found = survey(SeveralTexts(tmp_path / "a.tsv", Columns(target=(2, 3))), "refuse")
    assert found.count == 200 and 20 <= len(found.sample) <= 40
    assert [one.into for one in found.sample] == ["2", "3"] * (len(found.sample) // 2)
    (tmp_path / "b.tsv").write_text("".join(line.rpartition("\t")[0] + "\n" for line in lines))
    plain = survey(SeveralTexts(tmp_path / "b.tsv", Columns(target=2)), "refuse")
    assert [one.line for one in plain.sample] == list(range(1, 101, 4))
    assert [one.source for one in every(found.examples, 50)] == ["0", "0", "50", "50"]
