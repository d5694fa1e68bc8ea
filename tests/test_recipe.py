"""Recipes: what cannot be is refused when it is read."""

import pytest
import torch

from seq2see.errors import SettingsError
from seq2see.models import Seq2Seq
from seq2see.recipe import VERSION, compose, preset, presets, read_recipe
from seq2see.settings import override, write_yaml

DATA = {"data": {"train": "pairs.tsv"}}


def with_settings(*assignments: str):
    """The default recipe with some settings changed."""
    return compose([DATA, override(assignments)], "recipe.yaml")


@pytest.mark.parametrize(
    ("assignments", "reason"),
    [
        (
            [f"version={VERSION + 1}"],
            f"version {VERSION + 1}, and this seq2see knows up to {VERSION}; upgrade",
        ),
        (
            ["text.shared=true", "text.source.kind=bpe"],
            "text.source.kind is 'bpe' and text.target.kind is 'characters'; .*text.shared=false",
        ),
        (["model.share_embeddings=true"], "needs one vocabulary; set text.shared=true"),
        (
            ["model.width=100", "model.encoder.heads=8"],
            "encoder.heads: width 100 .* 8 heads; try width 96 or 104",
        ),
        (["model.width=8", "model.decoder.heads=16"], "decoder.heads: .*; try width 16$"),
        (["model.width=20", "model.encoder.heads=4"], "encoder.positions = 'rotary' turns pairs .* leaves 5"),
        (
            ["model.decoder.positions=one-hot"],
            "max_length 1024 .*width is 256; set decoder.join_positions=true",
        ),
        (["model.encoder.join_positions=true"], "encoder.join_positions has nothing to join: 'rotary'"),
        (["model.widht=3"], "unknown key model.widht; did you mean 'width'"),
        (["training.device=3"], "training.device = 3"),
        (["data.source=0"], "data.source: there is no column 0"),
        (["seed=-1"], "seed = -1"),
    ],
)
def test_recipes_that_cannot_be(assignments, reason):
    """H: a clash is refused with its reason and a way out."""
    with pytest.raises(SettingsError, match=reason):
        with_settings(*assignments)


@pytest.mark.parametrize(
    "assignments",
    [
        ["text.shared=true", "model.share_embeddings=true"],
        ["model.width=96", "model.encoder.heads=8"],
        ["model.decoder.positions=one-hot", "model.decoder.join_positions=true"],
        ["model.decoder.positions=one-hot", "model.max_length=256", "data.max_length=256"],
        ["model.width=20", "model.encoder.positions=learned", "model.decoder.positions=none"],
    ],
)
def test_the_ways_out_lead_out(assignments):
    """H: what the refusals propose is accepted, and builds."""
    recipe = with_settings(*assignments)
    with torch.device("meta"):
        model = Seq2Seq(recipe.model, 30, 30)
        assert model(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 2, dtype=torch.long)).shape == (
            1,
            2,
            30,
        )


def test_a_recipe_needs_data():
    """H: the one thing without a default is the training file."""
    with pytest.raises(SettingsError, match=r"recipe\.yaml: data is missing"):
        compose([{}], "recipe.yaml")
    with pytest.raises(SettingsError, match=r"data\.train is missing"):
        compose([{"data": {}}], "recipe.yaml")


def test_later_settings_lie_over_earlier_ones():
    """H: preset, file and overrides are put over one another in this order."""
    layers = [preset("transformer-tiny"), DATA, {"model": {"dropout": 0.4}}, override(["model.dropout=0.5"])]
    recipe = compose(layers, "test")
    assert recipe.model.dropout == 0.5
    assert recipe.model.width == preset("transformer-tiny")["model"]["width"]


def test_a_recipe_comes_back_from_its_file(tmp_path):
    """H: written and read again, a recipe is the same."""
    recipe = with_settings("seed=7", "text.source.kind=bpe", "decoding.top_k=null", "training.clip=null")
    (tmp_path / "recipe.yaml").write_text(write_yaml(recipe), encoding="utf-8")
    assert read_recipe(tmp_path / "recipe.yaml") == recipe


def test_an_unknown_preset():
    """H: a misspelt preset is refused with the nearest one."""
    with pytest.raises(SettingsError, match="no preset 'transformer-tine'; did you mean 'transformer-tiny'"):
        preset("transformer-tine")


@pytest.mark.parametrize("name", presets())
def test_every_preset_composes_and_builds(name):
    """D8: each preset is a whole recipe, and its model can be made and used."""
    recipe = compose([preset(name), DATA], name)
    with torch.device("meta"):
        model = Seq2Seq(recipe.model, 40, 40)
        assert model(torch.ones(2, 5, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)).shape == (
            2,
            3,
            40,
        )
    assert {"transformer-base", "transformer-tiny"} <= set(presets())
