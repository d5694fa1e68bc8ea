"""Images: the awkward ones are handled or refused with their names, wherever they lie."""

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seq2see.data.columns import Images
from seq2see.data.columns.contract import ImageShape
from seq2see.data.image_check import check_images
from seq2see.data.image_file import ImageFile
from seq2see.data.image_sets import image_set, read_image
from seq2see.data.images import BadImageError, decode, fitted, is_grey
from seq2see.data.pairs import Columns, Pair, Problem
from seq2see.errors import DataError

_RED, _GREY = (200, 30, 30), 120


def _packed(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _png(size: tuple[int, int] = (8, 6), colour: object = _RED, mode: str = "RGB") -> bytes:
    return _packed(Image.new(mode, size, colour))  # type: ignore[arg-type]


def _column(height: int = 4, width: int = 4, channels: int = 3, fit: str = "letterbox") -> Images:
    plain = ImageShape(channels, height, width, (0.0,) * channels, (1.0,) * channels)
    return Images(plain, fit)  # type: ignore[arg-type]


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    """A folder with two classes of three images each."""
    folder = tmp_path / "animals"
    for label, colour in {"cat": _RED, "dog": (30, 30, 200)}.items():
        (folder / label).mkdir(parents=True)
        for number in range(3):
            path = folder / label / f"{number}.png"
            path.write_bytes(_png((8 + number, 6), colour))
    (folder / ".DS_Store").write_bytes(b"x")
    (folder / "notes.txt").write_text("none")
    return folder


def test_corrupt_images_are_refused_by_name() -> None:
    with pytest.raises(BadImageError, match=r"a\.png is no image"):
        decode(b"hello, I am a text", "a.png")


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_truncated_images_are_refused_by_name(kind: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
    whole = _packed(Image.fromarray(noise), kind)
    with pytest.raises(BadImageError, match=r"cut\.img is damaged or cut short"):
        decode(whole[: len(whole) // 2], "cut.img")


def test_of_an_animation_the_first_frame_is_taken() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in (_RED, (0, 0, 250))]
    image = decode(_packed(frames[0], "GIF", save_all=True, append_images=frames[1:]), "a.gif")
    red, _, blue = np.asarray(image)[0, 0]
    assert red > blue


def test_cmyk_becomes_rgb() -> None:
    image = decode(_packed(Image.new("CMYK", (4, 4), (0, 255, 255, 0)), "JPEG"), "a.jpg")
    red, green, _ = np.asarray(image)[1, 1]
    assert image.mode == "RGB" and red > 200 and green < 60


def test_sixteen_bits_become_eight() -> None:
    values = np.array([[0, 256 * 128], [256 * 255, 65535]], np.uint16)
    image = decode(_packed(Image.fromarray(values)), "deep.png")
    assert np.asarray(image).tolist() == [[0, 128], [255, 255]]


def test_fractions_are_refused_by_name() -> None:
    with pytest.raises(BadImageError, match=r"f\.tif has fractions"):
        decode(_packed(Image.new("F", (2, 2), 0.5), "TIFF"), "f.tif")


def test_images_are_turned_upright() -> None:
    image = Image.new("RGB", (4, 2), "black")
    image.putpixel((0, 0), (255, 255, 255))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned right by a quarter
    turned = decode(_packed(image, "PNG", exif=exif), "t.png")
    assert turned.size == (2, 4)
    assert turned.getpixel((1, 0)) == (255, 255, 255)


def test_transparent_parts_are_white() -> None:
    assert decode(_png((1, 1), (0, 0, 0, 0), "RGBA"), "t.png").getpixel((0, 0)) == (255, 255, 255)
    palette = Image.new("P", (1, 1), 0)
    assert decode(_packed(palette, "PNG", transparency=0), "p.png").getpixel((0, 0)) == (255, 255, 255)


def test_one_pixel_is_an_image() -> None:
    pixels = fitted(decode(_png((1, 1)), "1.png"), 3, (5, 7), "letterbox")
    assert pixels.shape == (3, 5, 7)
    assert pixels[:, 2, 3].tolist() == list(_RED)


@pytest.mark.parametrize("side", [30_000, 9000])
def test_images_of_too_many_pixels_are_refused_before_they_are_decoded(side: int) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000)))
    with pytest.raises(BadImageError, match=r"bomb.png has .* pixels.* make it smaller"):
        decode(bomb, "bomb.png")


def test_letterbox_shows_all_and_crop_fills_all() -> None:
    wide = Image.new("RGB", (8, 4), _RED)
    assert fitted(wide, 3, (8, 8), "letterbox")[0, 0, 0] == 0
    assert (fitted(wide, 3, (8, 8), "crop")[0] == _RED[0]).all()


def test_grey_is_told_by_values() -> None:
    assert is_grey(Image.new("RGB", (2, 2), (9, 9, 9)))
    assert not is_grey(Image.new("RGB", (2, 2), _RED))


def _zipped(folder: Path, path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for file in sorted(folder.rglob("*")):
            packed.write(file, f"top/{file.relative_to(folder)}")
    return path


def _tarred(folder: Path, path: Path) -> Path:
    with tarfile.open(path, "w") as packed:
        packed.add(folder, "top")
    return path


@pytest.mark.parametrize("packed", [None, "zip", "tar"])
def test_classes_are_folders_in_a_folder_and_in_archives(packed: str | None, classes: Path) -> None:
    place = classes
    if packed is not None:
        place = {"zip": _zipped, "tar": _tarred}[packed](classes, classes.parent / f"all.{packed}")
    items = list(ImageFile(str(place), Columns(images=str(place)), check=lambda example: None))
    pairs = [item for item in items if isinstance(item, Pair)]
    assert [pair.target for pair in pairs] == ["cat"] * 3 + ["dog"] * 3
    assert [item.kind for item in items if isinstance(item, Problem)] == ["no image"]
    pixels = _column().encode(pairs)
    assert len(pixels) == 6 and pixels[0].shape == (1, 48)
    assert read_image(pairs[0].source).getpixel((0, 0)) == _RED


def test_a_bad_image_is_a_problem_with_its_name_and_the_rest_is_read(classes: Path) -> None:
    (classes / "cat" / "bad.png").write_bytes(b"no image at all")
    file = ImageFile(str(classes), Columns(images=str(classes)), check=lambda example: None)
    bad = [item for item in file if isinstance(item, Problem) and item.fatal]
    assert [(one.kind, "bad.png is no image" in one.detail) for one in bad] == [("unreadable image", True)]
    assert len(list(file.pairs("skip"))) == 6
    with pytest.raises(DataError, match=r"bad\.png"):
        list(file.pairs())


@pytest.mark.parametrize("name", ["../secret.png", "/etc/hostname", "link.png", "cat//1.png"])
def test_names_do_not_leave_the_folder(name: str, classes: Path) -> None:
    (classes.parent / "secret.png").write_bytes(_png())
    (classes / "link.png").symlink_to(classes.parent / "secret.png")
    table = classes.parent / "table.tsv"
    table.write_text(f"{name}\tx\n")
    (item,) = ImageFile(table, Columns(images=str(classes)), check=lambda example: None)
    assert isinstance(item, Problem) and item.fatal and item.kind == "unreadable image"


def test_tables_name_images_and_missing_ones_are_told(classes: Path) -> None:
    table = classes.parent / "table.csv"
    table.write_text("image,value\ncat/0.png,1.5\ncat/9.png,2\n")
    columns = Columns(source="image", target="value", images=str(classes))
    first, second = ImageFile(table, columns, check=lambda example: None)
    assert isinstance(first, Pair) and first.target == "1.5" and first.source.endswith("animals//cat/0.png")
    assert isinstance(second, Problem) and "no image 'cat/9.png'" in second.detail


def _idx(path: Path, pixels: np.ndarray, labels: list[int]) -> None:  # type: ignore[type-arg]
    head = struct.pack(">IIII", 0x803, *pixels.shape)
    path.write_bytes(gzip.compress(head + pixels.tobytes()))
    beside = path.with_name(path.name.replace("images-idx3", "labels-idx1").removesuffix(".gz"))
    beside.write_bytes(struct.pack(">II", 0x801, len(labels)) + bytes(labels))


def test_idx_files_have_their_labels_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "some-images-idx3-ubyte.gz"
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    _idx(path, pixels, [7, 1])
    pairs = list(ImageFile(str(path), Columns(images=str(path)), check=lambda example: None).pairs())
    assert [pair.target for pair in pairs] == ["7", "1"]
    assert np.asarray(read_image(pairs[1].source)).tolist() == pixels[1].tolist()
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-5]))
    with pytest.raises(DataError, match="not a whole IDX file: it ends too early"):
        image_set(str(path))


def test_archives_that_are_damaged_or_compressed_as_a_whole_are_refused(tmp_path: Path) -> None:
    for name, said in {
        "a.zip": "not a whole zip",
        "a.tar": "not a whole tar",
        "a.tar.gz": "unpack it",
    }.items():
        (tmp_path / name).write_bytes(b"PK but no archive" * 50)
        with pytest.raises(DataError, match=said):
            image_set(str(tmp_path / name))


def test_a_set_that_moves_has_the_same_fingerprint(classes: Path) -> None:
    before = image_set(str(classes)).fingerprint()
    moved = classes.rename(classes.parent / "moved")
    assert image_set(str(moved)).fingerprint() == before
    (moved / "cat" / "0.png").write_bytes(_png((9, 9)))
    assert image_set(str(moved)).fingerprint() != before


def test_check_finds_duplicates_and_leaks_by_content(classes: Path) -> None:
    (classes / "cat" / "copy.png").write_bytes((classes / "cat" / "1.png").read_bytes())
    test = classes.parent / "test"
    (test / "cat").mkdir(parents=True)
    (test / "cat" / "new.png").write_bytes((classes / "cat" / "2.png").read_bytes())
    names = [str(classes), str(test)]
    train, other = check_images(names, Columns(images=names[0]), lambda example: None, None)
    assert train.counts["duplicate"] == 1 and train.pairs == 7
    assert other.counts[f"seen in {classes}"] == 1
    assert train.targets is not None and "3 of 9 x 6" in train.targets


def test_columns_are_kept_and_standardise(classes: Path) -> None:
    pairs = list(ImageFile(str(classes), Columns(images=str(classes))).pairs())
    column = Images.learn(pairs, (4, 4), 3, "crop")
    again = Images.load(column.stored())
    assert again.shape == column.shape and again.fit == "crop"
    assert column.shape.mean[0] == pytest.approx((200 + 30) / 2 / 255, abs=0.01)
    side = column.collate(column.encode(pairs[:2]))
    assert side.values.shape == (2, 3, 4, 4) and side.values[0, :, 1, 1].tolist() == list(_RED)
