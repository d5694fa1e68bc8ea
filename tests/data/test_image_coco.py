"""COCO JSON: captions or one category for each image, and what is wrong with such files."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from seq2see.data import image_coco
from seq2see.data.image_file import ImageFile
from seq2see.data.image_sets import image_name
from seq2see.data.kinds import guess_goal
from seq2see.data.pairs import Columns, Pair, Problem
from seq2see.errors import DataError

IMAGES = [{"id": 7, "file_name": "a.png"}, {"id": 3, "file_name": "b.png"}, {"id": 9, "file_name": "c.png"}]
CAPTIONS = [
    {"id": 1, "image_id": 3, "caption": "a cat"},
    {"id": 2, "image_id": 7, "caption": "a dog\n runs"},
    {"id": 3, "image_id": 3, "caption": "one cat"},
]
CLASSES = [
    {"image_id": 7, "category_id": 2},
    {"image_id": 7, "category_id": 2},
    {"image_id": 3, "category_id": 1},
]
CATEGORIES = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]


def _file(folder: Path, found: Any, name: str = "coco.json", **options: Any) -> ImageFile:
    for one in IMAGES:
        Image.new("RGB", (2, 2)).save(folder / str(one["file_name"]))
    text = found if isinstance(found, str) else json.dumps(found, indent=2)
    write = gzip.open if name.endswith(".gz") else open
    with write(folder / name, "wt", encoding="utf-8") as file:
        file.write(text)
    return ImageFile(folder / name, Columns(images=str(folder)), **options)


@pytest.mark.parametrize("name", ["coco.json", "coco.json.gz"])
@pytest.mark.parametrize("lines", [True, False])
def test_captions_of_one_image_follow_one_another(tmp_path: Path, name: str, lines: bool) -> None:
    found: Any = {"info": {}, "images": IMAGES, "annotations": CAPTIONS}
    file = _file(tmp_path, found if lines else json.dumps(found), name, check=lambda example: None)
    items = list(file)
    pairs = [one for one in items if isinstance(one, Pair)]
    assert [(one.line, image_name(one.source), one.target) for one in pairs] == [
        (1, "a.png", "a dog runs"),
        (2, "b.png", "a cat"),
        (3, "b.png", "one cat"),
    ]
    (problem,) = (one for one in items if isinstance(one, Problem))
    assert (problem.kind, problem.fatal) == ("no annotation", False) and "c.png" in problem.detail
    assert guess_goal(file)[0] == "generate"


def test_categories_are_classes_and_several_of_them_are_a_problem(tmp_path: Path) -> None:
    found = {"images": IMAGES[:2], "annotations": CLASSES, "categories": CATEGORIES}
    assert [one.target for one in _file(tmp_path, found).pairs()] == ["dog", "cat"]
    found["annotations"] = [*CLASSES, {"image_id": 7, "category_id": 1}]
    with pytest.raises(DataError, match=r"several classes \('a\.png' has dog, cat"):
        list(_file(tmp_path, found).pairs())


def test_answers_need_no_annotations(tmp_path: Path) -> None:
    file = _file(tmp_path, {"images": IMAGES}, needs_target=False)
    assert [image_name(one.source) for one in file.pairs()] == ["a.png", "b.png", "c.png"]


def test_objects_on_lines_stay_what_they_are(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"file": "a.png", "text": str(n)}) + "\n" for n in range(2))
    _file(tmp_path, lines)
    file = ImageFile(tmp_path / "coco.json", Columns(images=str(tmp_path), source="file", target="text"))
    assert [one.target for one in file.pairs()] == ["0", "1"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"images": IMAGES}, "no list of annotations"),
        ({"images": [], "annotations": CAPTIONS}, "no list of images"),
        ({"images": ["a.png"], "annotations": CAPTIONS}, r"images\[0\]"),
        ({"images": [{"id": 1}], "annotations": CAPTIONS}, "an id and a file_name are needed"),
        ({"images": [*IMAGES, IMAGES[0]], "annotations": CAPTIONS}, "the id 7 twice"),
        ({"images": IMAGES, "annotations": [{"image_id": 1, "caption": "x"}]}, r"annotations\[0\]"),
        ({"images": IMAGES, "annotations": [{"image_id": 7, "caption": 1}]}, r"annotations\[0\]"),
        ({"images": IMAGES, "annotations": CLASSES}, "no list of categories"),
        (
            {"images": IMAGES, "annotations": [{"image_id": 7}], "categories": CATEGORIES},
            r"annotations\[0\]",
        ),
        ('{"images": [', "neither one JSON object"),
        ("{" * 5000, "neither one JSON object"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, found: Any, said: str) -> None:
    with pytest.raises(DataError, match=rf"coco\.json.*{said}"):
        list(_file(tmp_path, found).pairs())


def test_huge_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_coco, "_MOST_BYTES", 10)
    with pytest.raises(DataError, match="more than 10 bytes"):
        list(_file(tmp_path, {"images": IMAGES, "annotations": CAPTIONS}).pairs())
