"""Convolutions of one place that leave places out: the same as torch's, however the map lies in memory."""

import pytest
import torch
from torch.nn import functional as F

from seq2see.layers.maps import Convolved


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
