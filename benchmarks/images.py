"""How fast images are looked at and encoded from a zip of JPEGs, and what memory a million of them need."""

import argparse
import io
import os
import random
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

BAR = 2000
"""Images a second, encoded."""
MORE = 300
"""Megabytes that a large set may need beyond a small one."""
_CLASSES = 10
_DISTINCT = 500

_MEASURED = """
import resource, sys, time
from pathlib import Path
from seq2see.data.columns import Images
from seq2see.data.columns.contract import ImageShape
from seq2see.data.encoded import encode
from seq2see.data.image_file import ImageFile
from seq2see.data.pairs import Columns
from seq2see.data.survey import survey

name, side, channels = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
started = time.perf_counter()
file = ImageFile(name, Columns(images=name), training=True, check=lambda example: None)
file.looks_at = "header"  # as training does
found = survey(file, "refuse")
looked = time.perf_counter()
column = Images(ImageShape(channels, side, side, (0.5,) * channels, (0.5,) * channels), "letterbox")
encoded = encode(lambda: found.examples, {"source": column}, 100, Path(name).with_suffix(".encoded"))
ended = time.perf_counter()
assert len(encoded) == found.count
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(found.count / (looked - started), found.count / (ended - looked), peak)
"""


def main() -> None:
    """Measure both and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=60_000, help="JPEGs at 64 x 64 whose encoding is timed")
    parser.add_argument("--small", type=int, default=50_000)
    parser.add_argument("--large", type=int, default=1_000_000, help="tiny images whose memory is measured")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        looked, encoded, _ = measure(photos(folder / "photos.zip", arguments.images), 64, 3)
        print(
            f"{arguments.images:,} JPEGs of 64 x 64 in a zip: looked at {looked:,.0f}/s, encoded "
            f"{encoded:,.0f}/s (bar {BAR:,}/s)"
        )
        peaks = []
        for count in (arguments.small, arguments.large):
            *_, peak = measure(dots(folder / f"{count}-images-idx3-ubyte", count), 4, 1)
            *_, listed = measure(dots_zipped(folder / f"{count}.zip", count), 4, 1)
            print(f"{count:,} images of 4 x 4: peak {peak:,.0f} MB from IDX, {listed:,.0f} MB from a zip")
            peaks.append(peak)
    extra = peaks[1] - peaks[0]
    print(f"{arguments.large:,} images need {extra:,.0f} MB more than {arguments.small:,} (limit {MORE} MB)")
    sys.exit(0 if encoded >= BAR and extra <= MORE else 1)


def measure(path: Path, side: int, channels: int) -> tuple[float, float, float]:
    """Images looked at and encoded in a second, and peak megabytes, in a process of its own."""
    words = [sys.executable, "-c", _MEASURED, str(path), str(side), str(channels)]
    said = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ)
    if said.returncode:
        sys.exit(said.stderr)
    looked, encoded, peak = map(float, said.stdout.split())
    return looked, encoded, peak


def photos(path: Path, count: int) -> Path:
    """A zip of JPEGs that look a little like photos: smooth colours with some noise."""
    drawn = np.random.default_rng(7)
    kinds = []
    for _ in range(_DISTINCT):
        smooth = Image.fromarray(drawn.integers(0, 256, (6, 6, 3), np.uint8)).resize((64, 64))
        noisy = np.asarray(smooth, np.int16) + drawn.integers(-12, 13, (64, 64, 3))
        kinds.append(packed(Image.fromarray(noisy.clip(0, 255).astype(np.uint8)), "JPEG"))
    return zipped(path, kinds, count, "jpg")


def dots(path: Path, count: int) -> Path:
    """Tiny images in an IDX file, and their labels beside it."""
    labels = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
    with path.open("wb") as pixels, labels.open("wb") as beside:
        pixels.write(struct.pack(">4I", 0x803, count, 4, 4))
        beside.write(struct.pack(">2I", 0x801, count))
        for start in range(0, count, 4096):
            here = np.arange(start, min(count, start + 4096))
            np.repeat(here % 256, 16).astype(np.uint8).tofile(pixels)
            (here % _CLASSES).astype(np.uint8).tofile(beside)
    return path


def dots_zipped(path: Path, count: int) -> Path:
    """A zip of tiny images, of which Python keeps a list."""
    kinds = [packed(Image.new("L", (4, 4), shade), "BMP") for shade in range(256)]
    return zipped(path, kinds, count, "bmp")


def zipped(path: Path, kinds: list[bytes], count: int, ending: str) -> Path:
    """Images under names of their own, in folders by class, as they are."""
    chosen = random.Random(7)
    with zipfile.ZipFile(path, "w") as file:
        for number in range(count):
            file.writestr(f"{number % _CLASSES}/{number:07}.{ending}", chosen.choice(kinds))
    return path


def packed(image: Image.Image, kind: str) -> bytes:
    """An image as a file."""
    held = io.BytesIO()
    image.save(held, kind)
    return held.getvalue()


if __name__ == "__main__":
    main()
