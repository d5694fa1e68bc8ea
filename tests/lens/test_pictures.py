"""Views of images: places, weights over them, what hiding a place or skipping a block does."""

import pytest
import torch
from image_runs import SCENE

from seq2see.data.image_sets import read_image
from seq2see.errors import DataError, SettingsError
from seq2see.lens.blocks import blocks_of
from seq2see.lens.edits import Block, Force, Hide, Pin, Reword, Skip, edits_of
from seq2see.lens.pictures import Grid, Picture, gradient, occlusion
from seq2see.lens.watchers import check_addresses

NAMES = ["vit", "resnet", "number", "caption", "pyramid", "transformer"]
OTHER = "task:shapes//green cross 24 24 6"


@pytest.mark.parametrize("name", NAMES)
def test_a_view_has_the_picture_and_a_column_for_each_place(image_models, name):
    view = image_models[name].attention(SCENE)
    assert view.picture is not None
    grid = view.picture.grid
    assert len(view.source) == len(grid) == grid.first + grid.rows * grid.columns
    assert view.source[grid.first] == "r0c0" and view.source[-1] == f"r{grid.rows - 1}c{grid.columns - 1}"
    assert set(grid.cells(*view.picture.pixels.shape[1:]).flatten().tolist()) == set(
        range(grid.first, len(grid))
    )
    for address, weights in view.weights.items():
        assert weights.shape[2] == len(view.columns(address)) and weights.shape[1] == len(view.rows(address))
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    model = image_models[name]
    said = model([SCENE])[0]
    assert view.output == (said if isinstance(said, str) else f"{said:.4g}")


def test_the_picture_is_what_the_model_saw(image_models):
    view = image_models["vit"].attention(SCENE)
    encoded = image_models["vit"].run.columns["source"].encode(image_models["vit"].examples([SCENE]))[0]
    assert torch.equal(view.picture.pixels.flatten(), torch.from_numpy(encoded[0].copy()))
    assert view.picture.described()["image"].startswith("data:image/png;base64,")
    assert view.picture.image().size == (22, 17)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["gradient", "occlusion"])
def test_attributions_have_a_value_for_each_place(image_models, name, kind):
    model = image_models[name]
    view = model.attention(SCENE)
    found = model.attribution(SCENE, kind=kind)
    assert found.shape == (len(view.predicted), len(view.source))
    assert found.isfinite().all() and found.any()
    assert not found[:, : view.picture.grid.first].any()


@pytest.mark.parametrize("name", NAMES)
def test_occlusion_is_what_hiding_costs(image_models, name):
    model = image_models[name]
    view = model.attention(SCENE)
    place = len(view.source) - 3
    hidden = model.attention(SCENE, edits=[Hide(places=[place])])
    lost = model.attribution(SCENE, kind="occlusion")[:, place].sum()
    assert hidden.effect is not None and hidden.effect.change == pytest.approx(-float(lost), abs=1e-4)
    changed = (hidden.picture.pixels != view.picture.pixels).any(0)
    inside = view.picture.grid.cells(*changed.shape) == place
    assert not changed[~inside].any()


def test_a_gradient_is_exact_where_the_model_is_linear():
    picture = Picture(torch.arange(36, dtype=torch.uint8).view(1, 6, 6), (10,), Grid(2, 2, 3.0, 3.0, first=1))
    weights = torch.linspace(-1, 1, 36).view(6, 6)

    def scores(values):
        return (values.float()[:, 0] * weights).sum((1, 2))[:, None]

    by_hand = occlusion(picture, scores)
    torch.testing.assert_close(gradient(picture, scores, torch.device("cpu")), by_hand)
    assert by_hand.shape == (1, 5) and by_hand[0, 0] == 0


@pytest.mark.parametrize("name", ["resnet", "number", "caption"])
def test_a_skipped_block_is_worth_what_the_table_says(image_models, name):
    model = image_models[name]
    view = model.attention(SCENE)
    assert [one.block for one in view.blocks] == list(blocks_of(model.network))
    for one in view.blocks:
        without = model.attention(SCENE, edits=[Skip(block=one.block)])
        assert without.output == one.answer or name == "number"
        assert without.effect.change == pytest.approx(one.change, abs=1e-4)
        (again,) = (block for block in without.blocks if block.block == one.block)
        assert again.skipped and again.change is None
    plain = model.attention(SCENE)
    assert plain.log_probability == view.log_probability  # nothing of a skip is left behind


def test_maps_of_each_stage_are_the_strongest_channels(image_models):
    features = image_models["caption"].attention(SCENE).features
    assert [one.stage for one in features] == ["encoder.0", "encoder.1", "encoder.2"]
    for one in features:
        strength = one.maps.mean((1, 2))
        assert len(one.channels) == len(one.maps) <= 16 and one.maps.max() == pytest.approx(1.0)
        assert (strength[:-1] >= strength[1:] - 1e-6).all()


def test_the_gaze_of_a_word_is_pinned_and_a_place_blocked(image_models):
    model = image_models["caption"]
    pinned = model.attention(SCENE, edits=[Pin(at="decoder.cross", step=1, places=[7])])
    assert pinned.weights["decoder.cross"][0, 1, 7] == 1
    blocked = model.attention(SCENE, edits=[Block(at="decoder.cross", places=[7])])
    assert not blocked.weights["decoder.cross"][..., 7].any()
    forced = model.attention(SCENE, edits=[Force(step=0, token="▁red")])
    assert forced.predicted[0] == "▁red"


def test_another_image_can_be_read_instead(image_models):
    for name in ("vit", "caption"):
        model = image_models[name]
        other = model.attention(SCENE, edits=[Reword(text=OTHER)])
        assert other.output == model.attention(OTHER).output
        assert torch.equal(other.picture.pixels, model.attention(OTHER).picture.pixels)


def test_what_is_not_there_is_refused(image_models, make_model):
    model = image_models["vit"]
    with pytest.raises(DataError, match="there is no image to look at"):
        model.attention(" ")
    with pytest.raises(SettingsError, match=r"place 0 cannot be hidden: .* from 1 to"):
        model.attention(SCENE, edits=[Hide(places=[0])])
    with pytest.raises(SettingsError, match=r"no residual block .* is .encoder\.0\.0.; it has none"):
        model.attention(SCENE, edits=[Skip(block="encoder.0.0")])
    with pytest.raises(SettingsError, match=r"encoder\.1\.9"):
        image_models["resnet"].attention(SCENE, edits=[Skip(block="encoder.1.9")])
    with pytest.raises(SettingsError, match="texts, which have no places to hide"):
        check_addresses([Hide(places=[1])], make_model())
    with pytest.raises(SettingsError):
        edits_of([{"kind": "hide", "places": []}])


def test_recordings_of_captions_are_looked_at_later(image_models):
    import seq2see

    model = image_models["caption"]
    with seq2see.record(model) as seen:
        said = model([SCENE, OTHER])
    assert [one.output for one in seen] == said
    assert seen[1].picture.pixels.shape == (3, *read_image(OTHER).size)
