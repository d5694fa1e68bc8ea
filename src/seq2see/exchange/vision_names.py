"""Weights of image models under the names that our families of them know, whatever tool wrote them."""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from seq2see.errors import DataError
from seq2see.exchange.config import Config
from seq2see.exchange.reading import Tensors

__all__ = ["Renamed", "from_timm"]

_HEAD_WIDTH = 64
"""Of the heads of timm's vision Transformers, whose number no shape tells."""
_NAMES: tuple[tuple[str, str], ...] = (
    # newer names of Hugging Face's ViT
    (r"(vit\.)?layers\.(\d+)\.attention\.q_proj\.", r"vit.encoder.layer.\2.attention.attention.query."),
    (r"(vit\.)?layers\.(\d+)\.attention\.k_proj\.", r"vit.encoder.layer.\2.attention.attention.key."),
    (r"(vit\.)?layers\.(\d+)\.attention\.v_proj\.", r"vit.encoder.layer.\2.attention.attention.value."),
    (r"(vit\.)?layers\.(\d+)\.attention\.o_proj\.", r"vit.encoder.layer.\2.attention.output.dense."),
    (r"(vit\.)?layers\.(\d+)\.mlp\.fc1\.", r"vit.encoder.layer.\2.intermediate.dense."),
    (r"(vit\.)?layers\.(\d+)\.mlp\.fc2\.", r"vit.encoder.layer.\2.output.dense."),
    (r"(vit\.)?layers\.(\d+)\.layernorm_", r"vit.encoder.layer.\2.layernorm_"),
    # timm's ViT
    (r"cls_token$", "vit.embeddings.cls_token"),
    (r"pos_embed$", "vit.embeddings.position_embeddings"),
    (r"patch_embed\.proj\.", "vit.embeddings.patch_embeddings.projection."),
    (r"blocks\.(\d+)\.norm1\.", r"vit.encoder.layer.\1.layernorm_before."),
    (r"blocks\.(\d+)\.norm2\.", r"vit.encoder.layer.\1.layernorm_after."),
    (r"blocks\.(\d+)\.attn\.proj\.", r"vit.encoder.layer.\1.attention.output.dense."),
    (r"blocks\.(\d+)\.mlp\.fc1\.", r"vit.encoder.layer.\1.intermediate.dense."),
    (r"blocks\.(\d+)\.mlp\.fc2\.", r"vit.encoder.layer.\1.output.dense."),
    (r"norm\.", "vit.layernorm."),
    (r"head\.", "classifier."),
    # timm's ResNet
    (r"conv1\.", "resnet.embedder.embedder.convolution."),
    (r"bn1\.", "resnet.embedder.embedder.normalization."),
    (r"fc\.", "classifier.1."),
)
_JOINED = re.compile(r"blocks\.(\d+)\.attn\.qkv\.(weight|bias)")
_BLOCK = re.compile(r"layer([1-4])\.(\d+)\.(conv|bn|downsample\.)(\d)\.(.+)")


class Renamed:
    """Tensors under other names, of which some are parts of one."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors, self.folder = tensors, tensors.folder
        self._parts: dict[str, tuple[str, int | None]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, shape in tensors.shapes.items():
            if joined := _JOINED.fullmatch(name):
                for place, part in enumerate(("query", "key", "value")):
                    theirs = f"vit.encoder.layer.{joined[1]}.attention.attention.{part}.{joined[2]}"
                    self._parts[theirs] = name, place
                    self.shapes[theirs] = (shape[0] // 3, *shape[1:])
            else:
                self._parts[_known(name)] = name, None
                self.shapes[_known(name)] = shape

    def read(self, name: str) -> Tensor:
        """One of them."""
        original, place = self._parts[name]
        whole = self._tensors.read(original)
        return whole if place is None else whole.chunk(3)[place]


def _known(name: str) -> str:
    if block := _BLOCK.fullmatch(name):
        stage, place, kind, number, rest = block.groups()
        home = f"resnet.encoder.stages.{int(stage) - 1}.layers.{place}"
        if kind == "downsample.":
            return f"{home}.shortcut.{('convolution', 'normalization')[int(number) % 2]}.{rest}"
        return f"{home}.layer.{int(number) - 1}.{'convolution' if kind == 'conv' else 'normalization'}.{rest}"
    for pattern, known in _NAMES:
        if re.match(pattern, name):
            return re.sub(f"^{pattern}", known, name)
    return name


def from_timm(config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Config:
    """The configuration of a model of timm, which is told by its weights."""
    about = config.get("pretrained_cfg", {})
    about = about if isinstance(about, dict) else {}
    names = config.get("label_names")
    labels = dict(enumerate(map(str, names))) if isinstance(names, list) else {}
    values: dict[str, Any] = {"id2label": labels, "num_labels": config.get("num_classes") or 2}
    size = about.get("input_size")
    if isinstance(size, list) and len(size) == 3:
        values |= {"num_channels": size[0], "image_size": size[1:]}
    if "vit.embeddings.position_embeddings" in shapes:
        values |= _vit(shapes)
    elif "resnet.embedder.embedder.convolution.weight" in shapes:
        values |= _resnet(shapes)
    else:
        raise DataError(
            f"{config.path}: of timm's models ResNets and ViTs can be brought in, and this is neither"
        )
    return Config(values, config.path)


def _vit(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    patches = shapes["vit.embeddings.patch_embeddings.projection.weight"]
    inner = shapes["vit.encoder.layer.0.intermediate.dense.weight"]
    width = patches[0]
    layers = {name.split(".")[3] for name in shapes if name.startswith("vit.encoder.layer.")}
    return {
        "model_type": "vit",
        "hidden_size": width,
        "num_attention_heads": max(1, width // _HEAD_WIDTH),
        "num_hidden_layers": len(layers),
        "intermediate_size": inner[0],
        "patch_size": patches[-1],
        "layer_norm_eps": 1e-6,
    }


def _resnet(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    home = "resnet.encoder.stages"
    stages = sorted({int(name.split(".")[3]) for name in shapes if name.startswith(home)})
    bottleneck = f"{home}.0.layers.0.layer.2.convolution.weight" in shapes
    last = 2 if bottleneck else 1
    return {
        "model_type": "resnet",
        "embedding_size": shapes["resnet.embedder.embedder.convolution.weight"][0],
        "hidden_sizes": [
            shapes[f"{home}.{stage}.layers.0.layer.{last}.convolution.weight"][0] for stage in stages
        ],
        "depths": [
            len({name.split(".")[5] for name in shapes if name.startswith(f"{home}.{stage}.layers.")})
            for stage in stages
        ],
        "layer_type": "bottleneck" if bottleneck else "basic",
    }
