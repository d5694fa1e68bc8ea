"""Views in files and in a terminal."""

import re
import sys
import warnings
from dataclasses import replace
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console

from seq2see.errors import SettingsError
from seq2see.lens.terminal import HeatMap


@pytest.fixture(scope="module")
def view(models):
    return models["transformer"].attention("dost")


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
@pytest.mark.parametrize("options", [{}, {"at": "decoder.0.self", "head": 1}, {"grid": True}])
def test_figures_are_the_same_each_time(view, tmp_path, kind, options):
    first, second = (view.save(tmp_path / f"{name}.{kind}", **options).read_bytes() for name in "ab")
    assert first == second
    assert first.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind])


def test_a_figure_shows_the_weights_it_is_of(view, tmp_path):
    """The cell with all the weight is dark, one with none is as light as the paper."""
    weights = torch.zeros(1, *view.weights["decoder.1.cross"].shape[1:])
    weights[:, :, 0] = 1
    drawn = replace(view, weights={"decoder.1.cross": weights})
    image = Image.open(drawn.save(tmp_path / "x.png")).convert("L")
    shades = np.asarray(image.resize((60, 60)))
    assert shades.min() < 90 < 250 < shades.max()


def test_labels_say_what_is_read_and_predicted(view, tmp_path):
    text = view.save(tmp_path / "x.svg").read_text()
    labels = re.findall("<!-- (.*?) -->", text)
    assert {"d", "o", "s", "t"} <= set(labels)
    assert f"{view.read[0]} → {view.predicted[0]}".replace("<", "&lt;").replace(">", "&gt;") in labels


def test_long_inputs_have_fewer_labels(view, tmp_path):
    size = 300
    long = replace(
        view,
        source=[f"token{place}" for place in range(size)],
        read=view.read[:1] * size,
        predicted=view.predicted[:1] * size,
        weights={"decoder.1.cross": torch.full((2, size, size), 1 / size)},
    )
    labels = re.findall("<!-- (token.*?) -->", long.save(tmp_path / "x.svg").read_text())
    assert 10 < len(labels) < 80


def test_glyphs_that_no_font_has_are_named(view, tmp_path):
    strange = replace(view, source=["\U0001f9ff"] * len(view.source))
    with pytest.warns(UserWarning, match="no font here has Glyph 129535"):
        strange.save(tmp_path / "x.png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view.save(tmp_path / "x.png")


def test_a_file_that_cannot_be_drawn_says_what_can(view, tmp_path):
    with pytest.raises(SettingsError, match=r"x.gif: a view is saved as .svg, .png, .pdf, .html"):
        view.save(tmp_path / "x.gif")
    with pytest.raises(SettingsError, match="preset 'poster': choose from one-column"):
        view.save(tmp_path / "x.svg", preset="poster")


def drawn(heat, width, colour):
    console = Console(width=width, color_system="truecolor" if colour else None, force_terminal=colour)
    with console.capture() as capture:
        console.print(heat)
    return capture.get()


def test_a_terminal_shows_labels_and_shades():
    text = drawn(HeatMap([[1, 0], [0.5, 0.5]], ["x", "y"], ["a", "b"]), 40, colour=False)
    lines = text.splitlines()
    assert "a" in lines[0] and "b" in lines[0]
    assert "███" in lines[1] and lines[1].startswith("x")
    assert "▒▒▒" in lines[2]


def test_a_large_map_fits_a_terminal_by_half_blocks():
    rows = [[float(row == column) for column in range(200)] for row in range(101)]
    labels = [f"label{place}" for place in range(200)]
    text = drawn(HeatMap(rows, labels[:101], labels), 80, colour=True)
    lines = text.splitlines()
    assert len(lines) == 52
    assert all(len(re.sub("\x1b.*?m", "", line)) <= 80 for line in lines)
    assert "▀" in lines[0]
    plain = drawn(HeatMap(rows, labels[:101], labels), 80, colour=False).splitlines()
    assert len(plain) == 102
    assert "█" in plain[100] and "▀" not in "".join(plain)


def test_a_view_shows_itself(view, capsys):
    view.show()
    said = capsys.readouterr().out
    assert "decoder.1.cross, all heads averaged" in said
    view.show("encoder.0.self", 0)
    assert "encoder.0.self, head 0" in capsys.readouterr().out


def test_a_notebook_gets_the_page_in_a_frame(view, monkeypatch):
    shown = []
    module = ModuleType("IPython.display")
    module.display = shown.append
    for name, found in (("ipykernel", ModuleType("ipykernel")), ("IPython", ModuleType("IPython"))):
        monkeypatch.setitem(sys.modules, name, found)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None, raising=False)
    view.show()
    assert shown == [], "a process that starts kernels, or runs notebooks, is none itself"
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", object)
    view.show()
    frame = ElementTree.fromstring(shown[0]._repr_html_())
    assert frame.tag == "iframe"
    assert 'id="saved"' in frame.attrib["srcdoc"]
    assert frame.attrib["srcdoc"].startswith("<!doctype html>")
