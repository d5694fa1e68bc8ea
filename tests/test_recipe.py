"""Recipes: what cannot be is refused when it is read."""

import pytest
import torch
from networks import make_network

from seq2see.data.columns import ImageShape
from seq2see.errors import SettingsError
from seq2see.goals.generate import network_of
from seq2see.models import Vocabulary, make_encoder_decoder, make_reader
from seq2see.models.fronts import ImageFrontSettings
from seq2see.models.heads import ClassHead
from seq2see.recipe import VERSION, compose, preset, presets, read_recipe
from seq2see.settings import override, write_yaml
from seq2see.text import STANDARD, Codec, TextSettings

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
        model = make_network(recipe.model, 30, 30)
        assert model.logits(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 2, dtype=torch.long)).shape == (
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
    size = recipe.data.image_size or (28, 28)
    pixels = Vocabulary(256, STANDARD, image=ImageShape(3, *size, (0.5,) * 3, (0.2,) * 3))
    images = isinstance(recipe.model.front, ImageFrontSettings)
    with torch.device("meta"):
        if images and recipe.model.decoder is not None:
            assert make_encoder_decoder(recipe.model, pixels, Vocabulary(40, STANDARD)).head.size == 40
            return
        if recipe.model.decoder is None:
            columns = {
                "source": pixels if images else Vocabulary(40, STANDARD),
                "letters": Vocabulary(40, STANDARD),
            }
            head = ClassHead(recipe.model.memory_width, 0, 2, recipe.model.head, pieces=9)
            assert make_reader(recipe.model, columns, lambda width: head).head is head
            return
        model = make_network(recipe.model, 40, 40)
        assert model.logits(torch.ones(2, 5, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)).shape == (
            2,
            3,
            40,
        )
    assert {"transformer-base", "transformer-tiny"} <= set(presets())


RNN = ("model.encoder.kind=recurrent", "model.decoder.kind=recurrent")
LOCATION = (*RNN, "model.decoder.attention=location")


@pytest.mark.parametrize(
    ("assignments", "reason"),
    [
        (["model.encoder.cell=gru"], r"unknown key model.encoder.cell; .* model.encoder.kind = recurrent$"),
        (["model.encoder.kernel=5"], r"unknown key model.encoder.kernel; .*encoder.kind = convolution$"),
        (["model.decoder.attention=dot"], r"model.decoder.attention; .* model.decoder.kind = recurrent$"),
        (
            [*RNN, "model.decoder.feedforward=8"],
            r"unknown key model.decoder.feedforward; it belongs to model.decoder.kind = transformer$",
        ),
        ([*RNN, "model.encoder.atention=dot"], "unknown key model.encoder.atention; "),
        ([*RNN, "model.decoder.atention=dot"], "model.decoder.atention; did you mean 'attention'"),
        (["model.encoder.kind=recurent"], "model.encoder.kind = 'recurent'; did you mean 'recurrent'"),
        (
            ["model.encoder.kind=rnn"],
            "model.encoder.kind = 'rnn'; choose from convolution, none, recurrent, resnet, tran",
        ),
        (["model.decoder.kind=convolution"], "decoder.kind = 'convolution'; choose from recurrent, transf"),
        ([*RNN, "model.decoder.attention=aditive"], "attention = 'aditive': .* did you mean 'additive'"),
        ([*RNN, "model.encoder.cell=lsmt"], "model.encoder.cell = 'lsmt': .* did you mean 'lstm'"),
        ([*RNN, "model.decoder.output=long"], "model.decoder.output = 'long': .* did you mean 'luong'"),
        ([*RNN, "model.decoder.attention=zzz"], r"attention = 'zzz': input should be .*'none'$"),
        (
            ["model.encoder.kind=convolution", "model.encoder.kernel=4"],
            "encoder.kernel = 4 has no middle; choose an odd number such as 5",
        ),
        (
            [*RNN, "model.encoder.hidden=33"],
            "bidirectional halves .* 33 is odd; choose an even encoder.hidden, or encoder.bidirectional=f",
        ),
        (
            [*RNN, "model.decoder.attention=dot", "model.encoder.hidden=64"],
            "'dot' multiplies .* encoder's have 64 and the decoder's 256; make them equal, or choose general",
        ),
        (
            [*RNN, "model.decoder.attention=scaled-dot", "model.decoder.hidden=64"],
            "'scaled-dot' multiplies .* encoder's have 256 and the decoder's 64;",
        ),
        (
            ["model.encoder.kind=recurrent", "model.encoder.hidden=64"],
            "the model's width 256, .* have 64; leave encoder.hidden out, or choose decoder.kind=recurrent",
        ),
        *(
            (
                [*RNN, "model.decoder.attention=none", f"model.{option}"],
                rf"{name} needs attention on the source, .* is 'none'; choose an attention such as additive",
            )
            for name, option in (
                ("decoder.input_feeding", "decoder.input_feeding=true"),
                ("decoder.learned_values", "decoder.learned_values=true"),
                ("decoder.output = 'luong'", "decoder.output=luong"),
                ("pointer", "pointer=true"),
            )
        ),
        (
            [*RNN, "model.decoder.attention=none", "model.decoder.heads=2"],
            "decoder.heads = 2 needs an attention .* or decoder.heads=1",
        ),
        (
            [*RNN, "model.decoder.self_attention=location"],
            "'location' would name places of the source; choose another score such as scaled-dot",
        ),
        ([*RNN, "model.decoder.heads=3"], "decoder.heads: width 256 .* 3 heads; try width 255 or 258"),
        (
            [*RNN, "model.decoder.hidden=60", "model.decoder.heads=8"],
            "decoder.heads: width 60 .* try width 56 or 64",
        ),
        (
            [*RNN, "model.encoder.hidden=60", "model.decoder.heads=8"],
            "decoder.heads: width 60 .* try width 56 or 64",
        ),
        (
            [*LOCATION, "model.max_length=100"],
            "data.max_length = 512 .* = 100 places of the encoder; set data.max_length=100, or .* attention",
        ),
        (
            ["model.encoder.kind=convolution", "model.encoder.positions=learned", "model.max_length=100"],
            "= 100 places of the encoder; set data.max_length=100, or choose sinusoidal",
        ),
        (["training.tokens=0"], "training.tokens = 0"),
        (["training.minutes=-1"], "training.minutes = -1"),
    ],
)
def test_ladders_that_cannot_be(assignments, reason):
    """A1, C1-C11, H: what does not go together is refused with its reason and a way out."""
    with pytest.raises(SettingsError, match=reason):
        with_settings(*assignments)


@pytest.mark.parametrize(
    "assignments",
    [
        ["model.encoder.kind=recurrent", "model.encoder.cell=gru"],
        ["model.encoder.kind=convolution", "model.encoder.kernel=5"],
        ["model.encoder.kind=convolution", "model.encoder.positions=sinusoidal", "model.max_length=100"],
        [*RNN, "model.encoder.hidden=33", "model.encoder.bidirectional=false"],
        [*RNN, "model.encoder.hidden=34"],
        [*RNN, "model.decoder.attention=dot", "model.encoder.hidden=64", "model.decoder.hidden=64"],
        [*RNN, "model.decoder.attention=general", "model.encoder.hidden=64"],
        [*RNN, "model.decoder.attention=additive", "model.encoder.hidden=64", "model.decoder.hidden=96"],
        [*RNN, "model.encoder.hidden=64"],
        ["model.encoder.kind=recurrent"],
        [*RNN, "model.decoder.attention=additive", "model.pointer=true", "model.decoder.output=luong"],
        [*RNN, "model.decoder.attention=none"],
        [*RNN, "model.decoder.attention=none", "model.decoder.self_attention=dot", "model.decoder.heads=2"],
        [*RNN, "model.decoder.self_attention=scaled-dot"],
        [*RNN, "model.decoder.hidden=64", "model.decoder.heads=8"],
        [*LOCATION, "model.max_length=100", "data.max_length=100"],
        [*LOCATION, "model.max_length=100", "model.decoder.attention=concat"],
    ],
)
def test_the_ways_up_the_ladder(assignments):
    """A1, C1-C11: what those refusals propose is accepted, and builds."""
    recipe = with_settings(*assignments)
    with torch.device("meta"):
        model = make_network(recipe.model, 30, 30)
        logits = model.logits(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 2, dtype=torch.long))
    assert logits.shape == (1, 2, 30)


def test_copying_needs_something_in_common():
    """H: a pointer between sides without a common token is refused; with one vocabulary it is made."""
    recipe = with_settings(*RNN, "model.pointer=true", "model.width=16")
    apart = Codec.learn(["ab"], ["12"], None, TextSettings())
    with pytest.raises(SettingsError, match=r"none in common; leave it out, or cut both sides alike"):
        network_of(recipe, apart)
    assert network_of(with_settings(*RNN), apart).head.pointer is None
    alike = Codec.learn(["ab"], ["b2"], None, TextSettings())
    assert network_of(recipe, alike).head.copies.tolist() == alike.copies()


def test_another_kind_leaves_the_old_one_behind():
    """H: a preset's encoder is replaced as a whole where another kind is asked for."""
    recipe = compose([preset("transformer-tiny"), DATA, override(RNN)], "test")
    assert recipe.model.encoder == type(recipe.model.encoder)()
    assert [recipe.model.encoder.kind, recipe.model.decoder.kind] == ["recurrent", "recurrent"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rnn", ("recurrent", "recurrent", "none", False, False)),
        ("rnn-attention", ("recurrent", "recurrent", "additive", True, False)),
        ("luong", ("recurrent", "recurrent", "general", True, False)),
        ("hybrid", ("transformer", "recurrent", "additive", False, False)),
        ("rnn-pointer", ("recurrent", "recurrent", "additive", True, True)),
        ("transformer", ("transformer", "transformer", None, False, False)),
        ("pointer-generator", ("transformer", "transformer", None, False, True)),
    ],
)
def test_the_rungs_are_what_they_are_called(name, expected):
    """A5, C4, C9: one word gives the model without attention, with it, with Luong's, and those beyond."""
    model = compose([preset(name), DATA], name).model
    part = model.decoder
    attention, output = getattr(part, "attention", None), getattr(part, "output", None)
    assert (model.encoder.kind, part.kind, attention, output == "luong", model.pointer) == expected
    assert getattr(part, "input_feeding", False) == (output == "luong")
