"""ResNet (He et al. 2016) and ViT (Dosovitskiy et al. 2021) in the layouts of Hugging Face and of timm."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from seq2see.data.columns import Images, Labels
from seq2see.data.columns.contract import ImageShape
from seq2see.errors import DataError, SettingsError
from seq2see.exchange.config import Config
from seq2see.exchange.family import ACTIVATIONS, Outline
from seq2see.exchange.names import Names, linear
from seq2see.exchange.reading import read_json
from seq2see.exchange.texts import Texts
from seq2see.models.encoders import ResNetSettings
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["ResNet", "ViT", "images_and_labels"]

_LARGEST = 4096
_USUAL = {"resnet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), "vit": ((0.5,) * 3, (0.5,) * 3)}
"""Mean and deviation of pixels that such models are mostly trained with."""
_NO_HEAD = (
    "there are no weights of a head with classes: what the model answers means nothing until it is trained; "
    "its states, its attention and fine-tuning are whole"
)


class ViT:
    """Patches, a class token, Transformer blocks that begin with their norms."""

    goal = "classify"
    prefixes = ("vit.",)
    ignored = re.compile(r"(vit\.)?pooler\.dense\.(weight|bias)")
    aliases: Mapping[str, tuple[str, ...]] = {}

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        config.only("qkv_bias", True, "our queries, keys and values have biases where other layers have")
        heads, width = config.number("num_attention_heads"), config.number("hidden_size")
        encoder = {
            "kind": "transformer",
            "layers": config.number("num_hidden_layers"),
            "heads": heads,
            "feedforward": config.number("intermediate_size"),
            "activation": config.choice("hidden_act", ACTIVATIONS, "gelu"),
            "norm": "before",
            "epsilon": config.share("layer_norm_eps", default=1e-12),
            "positions": "none",
        }
        model = {
            "width": width,
            "dropout": config.share("hidden_dropout_prob", default=0.0),
            "attention_dropout": config.share("attention_probs_dropout_prob", default=0.0),
            "front": {"kind": "patches", "patch": _square(config, "patch_size", 16), "class_token": True},
            "encoder": encoder,
            "decoder": None,
            "head": {"pooling": "first", "dropout": 0.0},
        }
        return Outline(model, 512, notes=[] if "classifier.weight" in shapes else [_NO_HEAD])

    def names(self, model: ModelSettings) -> list[Names]:
        assert isinstance(model.encoder, TransformerSettings)
        embeddings = "vit.embeddings"
        found = [
            Names(("front.first",), (f"{embeddings}.cls_token",), row=True),
            Names(("front.positions",), (f"{embeddings}.position_embeddings",), batch=True),
            *linear("front.project", f"{embeddings}.patch_embeddings.projection"),
            *linear("encoder.final_norm", "vit.layernorm"),
            *_head("classifier"),
        ]
        for layer in range(model.encoder.layers):
            ours, theirs = f"encoder.blocks.{layer}", f"vit.encoder.layer.{layer}"
            for name in ("query", "key", "value"):
                found += linear(f"{ours}.attention.{name}", f"{theirs}.attention.attention.{name}")
            found += linear(f"{ours}.attention.output", f"{theirs}.attention.output.dense")
            found += linear(f"{ours}.attention_residual.norm", f"{theirs}.layernorm_before")
            found += linear(f"{ours}.feedforward_residual.norm", f"{theirs}.layernorm_after")
            found += linear(f"{ours}.feedforward.enter", f"{theirs}.intermediate.dense")
            found += linear(f"{ours}.feedforward.leave", f"{theirs}.output.dense")
        return found

    def config(self, model: ModelSettings) -> dict[str, Any]:
        raise SettingsError("models of images are brought in, but do not go out yet")


class ResNet:
    """Stages of residual blocks with batch norm."""

    goal = "classify"
    prefixes = ("resnet.",)
    ignored = re.compile(r".*\.num_batches_tracked")
    aliases: Mapping[str, tuple[str, ...]] = {}

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        config.only("hidden_act", "relu", "our residual blocks end in a ReLU")
        config.only("downsample_in_first_stage", False, "our first stage keeps the size of its map")
        block = config.choice("layer_type", {"basic": "basic", "bottleneck": "bottleneck"}, "bottleneck")
        if block == "bottleneck" and config.flag("downsample_in_bottleneck"):
            block = "bottleneck-v1"
        widths, depths = (_numbers(config, key) for key in ("hidden_sizes", "depths"))
        model = {
            "width": widths[-1],
            "dropout": 0.0,
            "front": {
                "kind": "stem",
                "width": config.number("embedding_size"),
                "kernel": 7,
                "stride": 2,
                "pool": True,
            },
            "encoder": {
                "kind": "resnet",
                "block": block,
                "widths": widths,
                "depths": depths,
            },
            "decoder": None,
            "head": {"pooling": "mean", "dropout": 0.0},
        }
        return Outline(model, 512, notes=[] if "classifier.1.weight" in shapes else [_NO_HEAD])

    def names(self, model: ModelSettings) -> list[Names]:
        part = model.encoder
        assert isinstance(part, ResNetSettings)
        found = [*_convolved("front.stem", "resnet.embedder.embedder"), *_head("classifier.1")]
        channels = int(getattr(model.front, "width", 0))
        layers = 2 if part.block == "basic" else 3
        for stage, (width, depth) in enumerate(zip(part.widths, part.depths, strict=True)):
            for block in range(depth):
                ours, theirs = (
                    f"encoder.stages.{stage}.{block}",
                    f"resnet.encoder.stages.{stage}.layers.{block}",
                )
                for layer in range(layers):
                    found += _convolved(f"{ours}.layers.{layer}", f"{theirs}.layer.{layer}")
                if channels != width or (stage and not block):
                    found += _convolved(f"{ours}.shortcut", f"{theirs}.shortcut")
                channels = width
        return found

    def config(self, model: ModelSettings) -> dict[str, Any]:
        raise SettingsError("models of images are brought in, but do not go out yet")


def images_and_labels(folder: Path, config: Config) -> Texts:
    """How images are read, and the names of classes."""
    path = folder / "preprocessor_config.json"
    asked = Config(read_json(path) if path.is_file() else {}, path)
    channels = config.number("num_channels", default=3)
    if channels not in (1, 3):
        config.refuse("num_channels", "images here are grey or have three colours")
    usual = _USUAL[str(config.get("model_type"))]
    if not asked.get("do_normalize", True):
        usual = (0.0,) * 3, (1.0,) * 3
    mean = _channels(asked, "image_mean", usual[0][:channels])
    deviation = _channels(asked, "image_std", usual[1][:channels])
    height, width = _size(asked, config)
    column = Images(ImageShape(channels, height, width, mean, deviation), "crop")
    names = config.get("id2label", {})
    count = (
        len(names) if isinstance(names, dict) and len(names) > 1 else config.number("num_labels", default=2)
    )
    labels = [str(names.get(str(place), names.get(place, place))) for place in range(count)]
    if len(set(labels)) < len(labels):
        labels = [f"{place}: {label}" for place, label in enumerate(labels)]
    data = {
        "images": ".",
        "image_size": [height, width],
        "image_fit": "crop",
        "image_colours": "rgb" if channels == 3 else "grey",
    }
    return Texts({"source": column, "target": Labels(labels)}, {}, {}, data)


def _head(theirs: str) -> Iterator[Names]:
    """One layer over the summary; zeros for a model that came without."""
    for part in ("weight", "bias"):
        yield Names((f"head.members.0.output.{part}",), (f"{theirs}.{part}",), optional=True)


def _convolved(ours: str, theirs: str) -> Iterator[Names]:
    """A convolution with its batch norm and the statistics of it."""
    yield Names((f"{ours}.convolution.weight",), (f"{theirs}.convolution.weight",))
    for part in ("weight", "bias", "running_mean", "running_var"):
        yield Names((f"{ours}.norm.{part}",), (f"{theirs}.normalization.{part}",))


def _numbers(config: Config, key: str) -> list[int]:
    value = config.get(key)
    if not isinstance(value, list) or not 0 < len(value) <= 16 or not all(type(one) is int for one in value):
        config.refuse(key, "a short list of whole numbers is needed")
    return list(value)


def _square(config: Config, key: str, default: int) -> int:
    value = config.get(key, default)
    sides = value if isinstance(value, list) else [value, value]
    if len(sides) != 2 or sides[0] != sides[1] or type(sides[0]) is not int:
        config.refuse(key, "our patches are squares")
    return int(sides[0])


def _channels(asked: Config, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
    value = asked.get(key, list(default))
    numbers = isinstance(value, list) and all(isinstance(one, int | float) for one in value)
    if not numbers or len(value) != len(default):
        asked.refuse(key, f"a list of {len(default)} numbers is needed")
    if key == "image_std" and min(value) <= 0:
        asked.refuse(key, "deviations are above zero")
    return tuple(float(one) for one in value)


def _size(asked: Config, config: Config) -> tuple[int, int]:
    """Height and width of the images that the model reads."""
    given: Any = config.get("image_size") or asked.get("crop_size") or asked.get("size") or 224
    if isinstance(given, dict):
        edge = given.get("shortest_edge")
        given = [given.get("height", edge), given.get("width", edge)]
    height, width = given if isinstance(given, list) and len(given) == 2 else (given, given)
    if not all(type(one) is int and 0 < one <= _LARGEST for one in (height, width)):
        raise DataError(f"{asked.path}: images of the size {given!r} cannot be made; give height and width")
    return int(height), int(width)
