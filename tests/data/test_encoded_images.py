"""Pixels in encoded corpora: one copy for all examples of an image."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seq2see.data import Pair
from seq2see.data import encoded as encoded_module
from seq2see.data.batches import Batch, Batches
from seq2see.data.columns import Images, TargetText
from seq2see.data.columns import image as image_column
from seq2see.data.columns.contract import ImageShape
from seq2see.data.encoded import Encoded, encode
from seq2see.text import TextSettings, Tokenizer

COLUMN = Images(ImageShape(1, 3, 5, (0.0,), (1.0,)), "letterbox")


@pytest.fixture
def examples(tmp_path: Path) -> list[Pair]:
    """Five captions for each of nine images, some of them far from one another, one of them long."""
    for number in range(9):
        Image.new("L", (5, 3), 20 * number + 1).save(tmp_path / f"{number}.png")
    rows = [(number, f"caption {line} {number}") for number in range(9) for line in range(4)]
    rows += [(number, "once more" * (20 if number == 8 else 1)) for number in range(9)]
    return [
        Pair(line, f"{tmp_path}//{number}.png", target, "") for line, (number, target) in enumerate(rows, 1)
    ]


@pytest.mark.parametrize(("chunk", "remembered", "kept"), [(4096, 1 << 16, 9), (7, 1 << 16, 9), (7, 1, 18)])
def test_examples_of_an_image_share_its_pixels(
    examples: list[Pair],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    chunk: int,
    remembered: int,
    kept: int,
) -> None:
    monkeypatch.setattr(encoded_module, "_CHUNK", chunk)
    monkeypatch.setattr(encoded_module, "_REMEMBERED", remembered)
    decoded: list[str] = []
    read = image_column.read_image
    monkeypatch.setattr(
        image_column, "read_image", lambda name, size: decoded.append(name) or read(name, size)
    )
    written = TargetText(Tokenizer.learn([one.target for one in examples], TextSettings().target))
    columns = {"source": COLUMN, "target": written}
    found = encode(lambda: examples, columns, 60, tmp_path / "corpus")
    assert len(decoded) == kept == len(found["source"].values)
    assert found.left_out == 1 and len(found) == len(examples) - 1
    for row, one in enumerate(examples[:-1]):
        assert (found["source"][row] == COLUMN.encode([one])[0]).all()
    assert (found["source"].lengths == 1).all()
    batches = Batches(Encoded.open(tmp_path / "corpus"), columns, 100_000, 1, 6)
    for batch in _some(batches):
        numbers = [examples[line - 1].source.rpartition("//")[2][0] for line in batch.lines.tolist()]
        pixels = batch.sides["source"].values
        if batch.shared is not None:
            pixels = pixels[batch.shared]
        assert pixels[:, 0, 0, 0].tolist() == [20 * int(number) + 1 for number in numbers]


def _some(batches: Batches) -> Iterator[Batch]:
    return (batch for batch, _ in zip(iter(batches), range(8), strict=False))


def test_order_is_kept_where_images_are_decoded_side_by_side(examples: list[Pair]) -> None:
    rows = np.concatenate(COLUMN.encode(examples))
    assert rows[:, 0].tolist() == [20 * int(one.source[-5]) + 1 for one in examples]
