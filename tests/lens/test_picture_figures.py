"""Figures of images: in files, and in a terminal."""

import io

import pytest
import torch
from image_runs import SCENE
from PIL import Image
from rich.console import Console

from seq2see.errors import SettingsError
from seq2see.lens.terminal import PictureShades, shades_of

NAMES = ["vit", "resnet", "caption", "transformer"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grid", [False, True])
def test_weights_are_drawn_over_the_image(image_models, name, grid, tmp_path):
    view = image_models[name].attention(SCENE)
    file = view.save(tmp_path / "x.png", grid=grid)
    drawn = Image.open(file).convert("RGB")
    colours = {colour for _, colour in drawn.getcolors(1 << 24) or ()}
    assert len(colours) > 20
    assert view.save(tmp_path / "y.svg", grid=grid, title="a < b").read_text().startswith("<?xml")


def test_an_attribution_is_drawn_where_there_is_no_attention(image_models, tmp_path):
    model = image_models["number"]
    view = model.attention(SCENE)
    with pytest.raises(SettingsError, match="has no attention"):
        view.save(tmp_path / "x.png")
    lost = model.attribution(SCENE, kind="occlusion")
    assert view.save(tmp_path / "x.png", over=lost).stat().st_size > 1000
    with pytest.raises(SettingsError, match="over has the shape"):
        view.save(tmp_path / "x.png", over=lost[:, 1:])


def test_gazes_are_the_rows_that_matter(image_models):
    view = image_models["caption"].attention(SCENE)
    names, weights = view.gazes()
    assert names[-1] == "<end>" and len(names) == len(view.predicted)
    assert torch.equal(weights, view.at("decoder.cross"))
    view = image_models["vit"].attention(SCENE)
    names, weights = view.gazes(head=1)
    assert names == ["<class>"] and torch.equal(weights, view.weights["encoder.1.self"][1, :1, 1:])
    view = image_models["transformer"].attention(SCENE)
    assert view.gazes("encoder.0.self")[0] == ["all places"]
    with pytest.raises(SettingsError, match="looks at words"):
        view.gazes("decoder.0.self")


@pytest.mark.parametrize("colours", [None, "truecolor"])
def test_a_terminal_shows_a_grid_for_each_word(colours):
    values = torch.tensor([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]])
    file = io.StringIO()
    console = Console(file=file, width=30, color_system=colours, force_terminal=colours is not None)
    console.print(PictureShades(["red", "circle"], values, 3))
    lines = file.getvalue().splitlines()
    assert lines[0].split() == ["red", "circle"]
    assert len(lines) == (2 if colours else 3)
    if colours is None:
        assert lines[1].rstrip() == " █" and lines[2].rstrip().endswith("█")


def test_shades_fit_the_kind_of_source(image_models):
    assert isinstance(shades_of(image_models["caption"].attention(SCENE)), PictureShades)


@pytest.mark.parametrize("name", ["vit", "resnet", "number", "caption"])
def test_predict_shows_attention_of_images(image_runs, seq2see, name):
    file = image_runs["vit"].parent / "kinds" / "cross" / "03.png"
    said = seq2see("predict", image_runs[name], file, "--show-attention")
    assert said.code == 0 and said.out.startswith("03.png\t")
    assert any(sign in said.err for sign in "░▒▓█")
    assert ("place is grey" in said.err) == (name == "number")
