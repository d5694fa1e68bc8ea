"""Convolutions of one place that leave places out: the same as torch's, however the map lies in memory."""

import pytest
import torch
from torch.nn import functional as F

from seq2see.layers.maps import BasicBlock, Convolved


@pytest.mark.parametrize("channels", [3, 4, 16])
@pytest.mark.parametrize("side", [7, 16])
@pytest.mark.parametrize("form", [torch.contiguous_format, torch.channels_last])
def test_a_strided_convolution_of_one_place_is_that_of_torch(
    channels: int, side: int, form: torch.memory_format
) -> None:
    torch.manual_seed(1)
    layer = Convolved(channels, 8, 1, 2, "batch", activation=False).eval()
    maps = torch.randn(3, channels, side, side).contiguous(memory_format=form).requires_grad_()
    again = maps.detach().contiguous().requires_grad_()
    weight = layer.convolution.weight.detach().requires_grad_()
    expected = layer.norm(F.conv2d(again, weight, stride=2))
    found = layer(maps)
    assert torch.allclose(found, expected, atol=1e-6)
    found.square().sum().backward()
    expected.square().sum().backward()
    assert maps.grad is not None and again.grad is not None
    assert torch.allclose(maps.grad, again.grad, atol=1e-5)
    assert torch.allclose(layer.convolution.weight.grad, weight.grad, atol=1e-4)  # type: ignore[arg-type]


def test_maps_and_their_gradients_lie_the_same_way() -> None:
    """Where they do not, a ReLU's gradient alone takes ten times as long."""
    torch.manual_seed(1)
    stem = Convolved(3, 8, 3, 2, "batch")
    maps = stem(torch.randn(2, 3, 16, 16))
    seen = [maps]
    maps.register_hook(seen.append)
    seen.append(BasicBlock(8, 16, 2)(maps))
    seen[-1].square().sum().backward()
    assert len(seen) == 3
    for each in seen:
        assert each.is_contiguous(memory_format=torch.channels_last)
