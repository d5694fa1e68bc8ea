"""Sets of images take time in proportion to their number."""

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from seq2see.data import image_sets
from seq2see.data.image_file import ImageFile
from seq2see.data.pairs import Columns


def test_the_names_of_an_archive_are_gone_through_a_few_times_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = io.BytesIO()
    Image.new("L", (1, 1)).save(held, "BMP")
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as file:
        for number in range(200):
            file.writestr(f"all/{number % 3}/{number}.bmp", held.getvalue())
    looks: list[str] = []
    hidden = image_sets._hidden
    monkeypatch.setattr(image_sets, "_hidden", lambda name: bool(looks.append(name)) or hidden(name))
    name = str(tmp_path / "many.zip")
    found = list(ImageFile(name, Columns(images=name)).pairs())
    assert {one.target for one in found} == {"0", "1", "2"} and len(found) == 200
    assert len(looks) <= 4 * 3 * 200
