"""ResNet and ViT against those of transformers: the same weights give the same values and gradients."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.columns.contract import ImageShape, Vocabulary
from seq2see.data.sides import Side
from seq2see.models import ModelSettings, Network
from seq2see.models.network import make_reader
from seq2see.text.special import STANDARD

transformers = pytest.importorskip("transformers")

_NEAR = {"rtol": 1e-5, "atol": 1e-5}
_SHAPE = ImageShape(3, 20, 24, (0.5,) * 3, (0.25,) * 3)


class _NoHead(nn.Module):
    """Stands where a head would."""


def _reader(front: dict[str, Any], encoder: dict[str, Any], width: int = 16) -> Network:
    values = {"width": width, "dropout": 0.0, "decoder": None, "front": front, "encoder": encoder}
    pixels = Vocabulary(256, STANDARD, image=_SHAPE)
    head: Any = _NoHead()
    return make_reader(ModelSettings.model_validate(values), {"source": pixels}, lambda width: head)


def _compare(ours: Network, theirs: nn.Module, weights: list[tuple[Tensor, Tensor]]) -> None:
    """Both see the same images, and learn the same from them."""
    torch.manual_seed(3)
    images = torch.randint(0, 256, (4, 3, 20, 24), dtype=torch.uint8)
    precise = copy.deepcopy(theirs).double()
    found = ours.encode({"source": Side(images)}).states
    expected, exact = _states(theirs, images.to(found.dtype)), _states(precise, images.double())
    # Batch norm over few values amplifies rounding, on some processors to more than 1e-5: what the reference
    # itself loses in single precision, ours may lose too. In double precision nothing is forgiven.
    lost = (expected - exact).abs().max().item()
    near = 1e-10 if found.dtype == torch.float64 else max(1e-5, 2 * lost)
    torch.testing.assert_close(found, expected, atol=near, rtol=near)
    assert lost < 1e-4
    assert expected.abs().mean() > 0.1
    wanted = torch.randn_like(expected)
    (found * wanted).sum().backward()
    (expected * wanted).sum().backward()
    # With channels last sums are taken in another order, which shows in small gradients of single precision.
    near = {"atol": 1e-10, "rtol": 1e-10} if found.dtype == torch.float64 else {"atol": 5e-5, "rtol": 5e-5}
    for mine, yours in weights:
        assert mine.grad is not None and yours.grad is not None
        scale = yours.grad.abs().max().clamp(min=1)
        torch.testing.assert_close(mine.grad / scale, yours.grad.view_as(mine) / scale, **near)


def _states(model: nn.Module, pixels: Tensor) -> Tensor:
    """The last states of a model of transformers, (B, S, D)."""
    states: Tensor = model((pixels / 255 - 0.5) / 0.25).last_hidden_state
    return states.flatten(2).transpose(1, 2) if states.dim() == 4 else states


def _layers(model: nn.Module) -> list[nn.Conv2d | nn.BatchNorm2d]:
    """The convolutions and norms of a network, a block's shortcut after all else in it."""
    parts = dict(model.named_children())
    shortcut = parts.pop("shortcut", None)
    found: list[nn.Conv2d | nn.BatchNorm2d] = []
    for part in (*parts.values(), *([shortcut] if shortcut is not None else [])):
        found += [part] if isinstance(part, nn.Conv2d | nn.BatchNorm2d) else _layers(part)
    return found


@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize("block", ["basic", "bottleneck", "bottleneck-v1"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_resnets_are_those_of_transformers(block: str, trains: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    widths, depths = [8, 16, 24], [2, 1, 2]
    ours = _reader(
        {"kind": "stem", "width": 12, "kernel": 7, "stride": 2, "pool": True},
        {"kind": "resnet", "block": block, "widths": widths, "depths": depths},
    )
    config = transformers.ResNetConfig(
        embedding_size=12,
        hidden_sizes=widths,
        depths=depths,
        layer_type=block.removesuffix("-v1"),
        downsample_in_bottleneck=block.endswith("-v1"),
    )
    theirs = transformers.ResNetModel(config)
    pairs = list(zip(_layers(ours), _layers(theirs), strict=True))
    for mine, yours in pairs:
        if isinstance(yours, nn.BatchNorm2d):
            for value in (yours.weight, yours.running_var):
                nn.init.uniform_(value, 0.5, 1.5)
            nn.init.normal_(yours.running_mean, std=0.2)
        mine.load_state_dict(yours.state_dict())
    ours.to(dtype).train(trains)
    theirs.to(dtype).train(trains)
    weights = [
        both for mine, yours in pairs for both in zip(mine.parameters(), yours.parameters(), strict=True)
    ]
    _compare(ours, theirs, weights)
    for mine, yours in pairs:
        for name, value in yours.state_dict().items():
            torch.testing.assert_close(mine.state_dict()[name], value, **_NEAR)


_VIT = {
    "attention.query": "attention.q_proj",
    "attention.key": "attention.k_proj",
    "attention.value": "attention.v_proj",
    "attention.output": "attention.o_proj",
    "attention_residual.norm": "layernorm_before",
    "feedforward.enter": "mlp.fc1",
    "feedforward.leave": "mlp.fc2",
    "feedforward_residual.norm": "layernorm_after",
}


def _vit_name(name: str) -> str:
    """What a weight of ours is called there."""
    own, kind = name.rsplit(".", 1)
    outside = {
        "front.first": "embeddings.cls_token",
        "front.positions": "embeddings.position_embeddings",
        "front.project.weight": "embeddings.patch_embeddings.projection.weight",
        "front.project.bias": "embeddings.patch_embeddings.projection.bias",
        "encoder.final_norm.weight": "layernorm.weight",
        "encoder.final_norm.bias": "layernorm.bias",
    }
    if name in outside:
        return outside[name]
    layer, part = own.removeprefix("encoder.blocks.").split(".", 1)
    return f"layers.{layer}.{_VIT[part]}.{kind}"


def test_vits_are_those_of_transformers() -> None:
    torch.manual_seed(2)
    blocks = {"layers": 2, "heads": 2, "feedforward": 24, "activation": "gelu", "epsilon": 1e-12}
    ours = _reader({"kind": "patches", "patch": 4}, {"kind": "transformer", "positions": "none", **blocks})
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        image_size=(20, 24),
        patch_size=4,
        hidden_dropout_prob=0.0,
    )
    theirs = transformers.ViTModel(config, add_pooling_layer=False)
    named = dict(theirs.named_parameters())
    for weight in named.values():
        nn.init.normal_(weight, std=0.3)
    weights = []
    for name, mine in ours.named_parameters():
        yours = named.pop(_vit_name(name))
        with torch.no_grad():
            mine.copy_(yours.view_as(mine))
        weights.append((mine, yours))
    assert not named
    theirs.train()
    _compare(ours, theirs, weights)


@pytest.mark.parametrize("norm", ["batch", "layer", "group"])
@pytest.mark.parametrize("residual", [True, False])
def test_other_images_of_a_batch_change_nothing_in_use(norm: str, residual: bool) -> None:
    torch.manual_seed(4)
    encoder = {"kind": "resnet", "widths": [8, 12], "depths": [1, 2], "norm": norm, "residual": residual}
    network = _reader({"kind": "stem", "width": 8, "augment": {"flip": True, "shift": 2}}, encoder)
    images = torch.randint(0, 256, (5, 3, 20, 24), dtype=torch.uint8)
    network.train()
    network.encode({"source": Side(images)})
    network.eval()
    together = network.encode({"source": Side(images)}).states
    for row in range(5):
        alone = network.encode({"source": Side(images[row : row + 1])}).states
        torch.testing.assert_close(alone[0], together[row], **_NEAR)
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(
        network.encode({"source": Side(images[order])}).states, together[order], **_NEAR
    )


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "none"])
def test_patches_need_not_divide_the_image(positions: str) -> None:
    front = {"kind": "patches", "patch": 7, "class_token": False, "positions": positions}
    network = _reader(front, {"kind": "transformer", "layers": 1, "heads": 2, "positions": "none"})
    memory = network.encode({"source": Side(torch.zeros(2, 3, 20, 24, dtype=torch.uint8))})
    assert memory.states.shape == (2, 3 * 4, 16) and memory.mask.all()


def test_overlapping_patches_are_linear_in_the_pixels_around_them() -> None:
    """E3: as many states as without overlap, each of the pixels of its patch and so many around it."""
    front = {"kind": "patches", "patch": 4, "overlap": 2, "positions": "none", "class_token": False}
    network = _reader(front, {"kind": "transformer", "layers": 1, "heads": 2, "positions": "none"}).eval()
    pixels = torch.randint(256, (2, 3, 8, 12), dtype=torch.uint8)
    sides = {"source": Side(pixels)}
    shown = F.pad(network.front.pixels(sides), (2, 2, 2, 2))
    weight, bias = network.front.project.weight.flatten(1), network.front.project.bias
    wanted = torch.stack(
        [
            shown[:, :, row : row + 8, column : column + 8].flatten(1) @ weight.T + bias
            for row in (0, 4)
            for column in (0, 4, 8)
        ],
        1,
    )
    torch.testing.assert_close(network.front(sides).states, wanted)
