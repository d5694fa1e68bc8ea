"""ResNets and ViTs from elsewhere give here the scores that they gave there."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import Command
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

from seq2see import load
from seq2see.data.sides import Side
from seq2see.errors import DataError
from seq2see.exchange.importing import import_model

transformers = pytest.importorskip("transformers")

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
LABELS = {0: "cat", 1: "dog", 2: "owl"}


def vit(**more: Any) -> Any:
    config = transformers.ViTConfig(
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=40,
        image_size=16,
        patch_size=8,
        id2label=LABELS,
        **more,
    )
    return transformers.ViTForImageClassification(config)


def resnet(kind: str = "bottleneck", **more: Any) -> Any:
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[16, 24], depths=[2, 1], layer_type=kind, id2label=LABELS, **more
    )
    return transformers.ResNetForImageClassification(config)


def unlike_the_first(model: Any) -> Any:
    """Weights and statistics with nothing at zero or one."""
    torch.manual_seed(5)
    for tensor in model.state_dict().values():
        if tensor.is_floating_point():
            tensor.add_(0.05 * torch.randn_like(tensor)).abs_() if tensor.dim() == 1 else tensor.mul_(1.5)
    return model.eval()


MODELS = {"vit": vit, "basic": lambda: resnet("basic"), "bottleneck": resnet}
OTHERS = {"bottleneck-v1": lambda: resnet(downsample_in_bottleneck=True)}
"""What timm has no name for."""


@pytest.mark.parametrize("name", [*MODELS, *OTHERS])
def test_scores_are_the_same(name: str, tmp_path: Path) -> None:
    theirs = unlike_the_first({**MODELS, **OTHERS}[name]())
    theirs.save_pretrained(tmp_path / "folder")
    prepared(tmp_path / "folder", size=16)
    import_model(tmp_path / "folder", tmp_path / "run", tell=lambda note: None)
    same(theirs, tmp_path / "run")


@pytest.mark.parametrize("name", MODELS)
def test_timms_names_are_known(name: str, tmp_path: Path) -> None:
    theirs = unlike_the_first(MODELS[name]())
    weights = timm(theirs.state_dict())
    (tmp_path / "folder").mkdir()
    save_file(weights, tmp_path / "folder" / "model.safetensors")
    config = {
        "architecture": "some_name",
        "num_classes": 3,
        "label_names": list(LABELS.values()),
        "pretrained_cfg": {"input_size": [3, 16, 16]},
    }
    (tmp_path / "folder" / "config.json").write_text(json.dumps(config))
    prepared(tmp_path / "folder", size=16)
    import_model(tmp_path / "folder", tmp_path / "run", tell=lambda note: None)
    if name == "vit":  # timm's norms add another epsilon
        for norm in (one for one in theirs.modules() if isinstance(one, torch.nn.LayerNorm)):
            norm.eps = 1e-6
    same(theirs, tmp_path / "run")


def prepared(folder: Path, size: int) -> None:
    values = {
        "image_mean": [0.4, 0.5, 0.6],
        "image_std": [0.2, 0.25, 0.3],
        "size": {"height": size, "width": size},
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(values))


def same(theirs: Any, run: Path) -> None:
    model = load(run, "cpu")
    images = torch.randint(0, 256, (3, 3, 16, 16), dtype=torch.uint8)
    mean, deviation = (torch.tensor(one)[:, None, None] for one in ([0.4, 0.5, 0.6], [0.2, 0.25, 0.3]))
    with torch.no_grad():
        expected = theirs((images / 255 - mean) / deviation).logits
        network = model.network
        sides = {"source": Side(images)}
        found = network.head.outputs(network.encode(sides), sides)
    assert float(expected.std()) > 0.01
    torch.testing.assert_close(found, expected, **CLOSE)
    assert model.run.columns["target"].labels == list(LABELS.values())


def timm(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Weights of Hugging Face's models under timm's names."""
    found: dict[str, Tensor] = {}
    for name, tensor in state.items():
        rules = (
            (r"vit\.embeddings\.cls_token", "cls_token"),
            (r"vit\.embeddings\.position_embeddings", "pos_embed"),
            (r"vit\.embeddings\.patch_embeddings\.projection", "patch_embed.proj"),
            (r"vit\.layers\.(\d+)\.layernorm_before", r"blocks.\1.norm1"),
            (r"vit\.layers\.(\d+)\.layernorm_after", r"blocks.\1.norm2"),
            (r"vit\.layers\.(\d+)\.attention\.o_proj", r"blocks.\1.attn.proj"),
            (r"vit\.layers\.(\d+)\.mlp", r"blocks.\1.mlp"),
            (r"vit\.layernorm", "norm"),
            (r"classifier\.1", "fc"),
            (r"classifier", "head"),
            (r"resnet\.embedder\.embedder\.convolution", "conv1"),
            (r"resnet\.embedder\.embedder\.normalization", "bn1"),
        )
        if block := re.fullmatch(r"resnet\.encoder\.stages\.(\d)\.layers\.(\d)\.(.+)", name):
            home = f"layer{int(block[1]) + 1}.{block[2]}"
            rest = re.sub(r"^shortcut\.convolution", "downsample.0", block[3])
            rest = re.sub(r"^shortcut\.normalization", "downsample.1", rest)
            rest = re.sub(r"^layer\.(\d)\.convolution", lambda one: f"conv{int(one[1]) + 1}", rest)
            rest = re.sub(r"^layer\.(\d)\.normalization", lambda one: f"bn{int(one[1]) + 1}", rest)
            found[f"{home}.{rest}"] = tensor.clone()
        elif part := re.fullmatch(r"vit\.layers\.(\d+)\.attention\.([qkv])_proj\.(weight|bias)", name):
            key = f"blocks.{part[1]}.attn.qkv.{part[3]}"
            found[key] = torch.cat([found[key], tensor]) if key in found else tensor.clone()
        else:
            for pattern, other in rules:
                if re.match(pattern, name):
                    found[re.sub(f"^{pattern}", other, name)] = tensor.clone()
                    break
    return found


def test_a_bare_model_is_taken_with_a_note_and_answers_files(tmp_path: Path, seq2see: Command) -> None:
    bare = vit().vit
    bare.save_pretrained(tmp_path / "folder")
    notes: list[str] = []
    import_model(tmp_path / "folder", tmp_path / "run", tell=notes.append)
    assert any("no weights of a head" in note for note in notes)
    Image.new("RGB", (40, 20), "red").save(tmp_path / "red.png")
    said = seq2see("predict", tmp_path / "run", tmp_path / "red.png")
    assert said.code == 0 and said.out.startswith("red.png\t") and not said.err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_sizes": "wide"}, "a short list of whole numbers"),
        ({"downsample_in_first_stage": True}, "downsample_in_first_stage"),
        ({"hidden_act": "gelu"}, "hidden_act"),
        ({"num_channels": 5}, "num_channels"),
        ({"embedding_size": 9}, r"the weight resnet\.embedder\.embedder\.convolution\.weight is"),
    ],
)
def test_what_our_parts_do_not_express_is_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    resnet().save_pretrained(tmp_path / "folder")
    config = tmp_path / "folder" / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | change))
    with pytest.raises(DataError, match=said):
        import_model(tmp_path / "folder", tmp_path / "run", tell=lambda note: None)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "values", [{"image_std": [0, 1, 1]}, {"image_mean": "none"}, {"size": {"height": -1, "width": 3}}]
)
def test_a_preparation_that_cannot_be_is_refused(values: dict[str, Any], tmp_path: Path) -> None:
    resnet().save_pretrained(tmp_path / "folder")
    (tmp_path / "folder" / "preprocessor_config.json").write_text(json.dumps(values))
    with pytest.raises(DataError, match=r"preprocessor_config\.json"):
        import_model(tmp_path / "folder", tmp_path / "run", tell=lambda note: None)
