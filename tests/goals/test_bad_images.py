"""Training decodes an image once, and says which are damaged, wherever it finds out."""

from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from seq2see.corpus import open_files
from seq2see.data import image_sets
from seq2see.data.settings import DataSettings
from seq2see.errors import DataError
from seq2see.goals import goal_named
from seq2see.workflow import Request, Trained, train

_TINY = (
    *("model.front.width=4", "model.encoder.widths=[4]", "model.encoder.depths=[1]", "training.steps=2"),
    *("training.batch_pairs=8", "data.image_size=[8,8]", "data.image_colours=grey"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Light and dark images."""
    for name, shade in {"dark": 40, "light": 180}.items():
        (tmp_path / "set" / name).mkdir(parents=True)
        for number in range(12):
            noise = Image.effect_noise((24, 24), 20 + number).point(lambda value, by=shade: value // 4 + by)
            noise.save(tmp_path / "set" / name / f"{number:02}.png")
    return tmp_path / "set"


def _tear(path: Path) -> None:
    """Cut an image short, so that only its pixels show that it is damaged."""
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def _train(folder: Path, *settings: str, dev: Path | None = None) -> tuple[Trained, list[str]]:
    said: list[str] = []
    asked = Request(
        str(folder),
        goal="classify",
        preset="resnet-tiny",
        dev=str(dev) if dev else None,
        out=str(folder.parent / "run"),
        settings=(*_TINY, *settings),
    )
    return train(asked, tell=said.append), said


def _data(folder: Path, **options: str) -> DataSettings:
    return DataSettings(train=str(folder), images=str(folder), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("bad_lines", "times"), [("refuse", 0), ("skip", 1)])
def test_files_are_opened_by_headers_unless_bad_ones_are_left_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bad_lines: str, times: int
) -> None:
    decoded: Counter[str] = Counter()
    decode = image_sets.decode
    monkeypatch.setattr(
        image_sets, "decode", lambda data, name, size: decoded.update([name]) or decode(data, name, size)
    )
    files = open_files(_data(folder, bad_lines=bad_lines), 1, goal_named("classify"))
    assert files.found.count == 24
    assert len(decoded) == 24 * times and set(decoded.values()) <= {times}


@pytest.mark.parametrize("where", ["training", "dev"])
def test_damaged_images_are_refused_by_name_and_leave_no_run(
    folder: Path, where: str, tmp_path: Path
) -> None:
    dev = tmp_path / "dev"
    (dev / "dark").mkdir(parents=True)
    for name in ("a.png", "b.png"):
        (dev / "dark" / name).write_bytes((folder / "dark" / "00.png").read_bytes())
    torn = folder / "light" / "05.png" if where == "training" else dev / "dark" / "b.png"
    _tear(torn)
    with pytest.raises(DataError) as refused:
        _train(folder, dev=dev)
    first, *rest = str(refused.value).splitlines()
    line = 18 if where == "training" else 2
    assert f"line {line}: unreadable image" in first and f"{torn.name} is damaged or cut short" in first
    assert len(rest) == 1 and "data.bad_lines=skip" in rest[0] and f"check {torn.parents[1]}" in rest[0]
    assert not (tmp_path / "run").exists()


def test_all_bad_images_are_counted_where_a_header_shows_the_first(folder: Path) -> None:
    (folder / "dark" / "00.png").write_bytes(b"no image")
    for name in ("03.png", "04.png", "05.png"):
        _tear(folder / "light" / name)
    with pytest.raises(DataError, match=r"line 1: unreadable image(.|\n)*4 bad lines, the first 3 shown"):
        _train(folder)


def test_damaged_images_are_left_out_and_counted(folder: Path) -> None:
    _tear(folder / "light" / "05.png")
    (folder / "dark" / "00.png").write_bytes(b"no image")
    trained, said = _train(folder, "data.bad_lines=skip")
    assert "left out: 2 lines (unreadable image)" in said
    facts = trained.model.run.facts
    assert facts.train_pairs + facts.dev_pairs == 22
