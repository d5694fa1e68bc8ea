"""The training loss."""

import math

import pytest
import torch

from seq2see.layers import losses
from seq2see.layers.losses import cross_entropy


def test_cross_entropy_by_hand():
    """A5: the negative log-probabilities are summed over tokens, and padding counts nothing."""
    logits = torch.tensor([[[1.0, 2.0, 0.0], [0.5, 0.0, 0.0]], [[0.0, 0.0, 3.0], [9.0, 1.0, 2.0]]])
    labels = torch.tensor([[1, 2], [2, 0]])
    expected = (
        math.log(math.e + math.e**2 + 1) - 2 + math.log(math.e**0.5 + 2) - 0 + math.log(2 + math.e**3) - 3
    )
    assert cross_entropy(logits, labels, padding=0).item() == pytest.approx(expected, rel=1e-5)


def test_smoothing_by_hand():
    """H: smoothing spreads its share evenly over the vocabulary."""
    logits, labels = torch.tensor([[[1.0, 2.0, 0.0, -1.0]]]), torch.tensor([[1]])
    surprise = -logits[0, 0].log_softmax(-1)
    expected = 0.9 * surprise[1] + 0.1 * surprise.mean()
    assert cross_entropy(logits, labels, 0, 0.1).item() == pytest.approx(expected.item(), rel=1e-5)


def test_padding_has_no_gradient():
    """D3: logits at padding get no gradient, with smoothing too."""
    logits = torch.randn(1, 3, 5, requires_grad=True)
    cross_entropy(logits, torch.tensor([[4, 2, 0]]), 0, 0.1).backward()
    assert torch.all(logits.grad[0, 2] == 0)
    assert torch.all(logits.grad[0, :2] != 0)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("chunk", [1 << 21, 100])
def test_fused_with_the_output_layer(smoothing, biased, chunk, monkeypatch):
    """H: the loss from the states, and all of its gradients, are those of the plain way, in parts too."""
    monkeypatch.setattr(losses, "_CHUNK", chunk)
    torch.manual_seed(1)
    states, weight, bias = torch.randn(3, 7, 8), torch.randn(31, 8), torch.randn(31)
    labels = torch.randint(1, 31, (3, 7))
    labels[1, 4:] = 0
    ways = []
    for fused in (False, True):
        given = [tensor.clone().requires_grad_() for tensor in (states, weight, bias)]
        output = given[1], given[2] if biased else None
        if fused:
            loss = losses.output_cross_entropy(given[0], *output, labels, 0, smoothing)
        else:
            loss = cross_entropy(torch.nn.functional.linear(given[0], *output), labels, 0, smoothing)
        (loss / 15).backward()
        ways.append([loss, *(tensor.grad for tensor in given if tensor.grad is not None)])
    assert len(ways[0]) == len(ways[1]) == 3 + biased
    for plain, fused in zip(*ways, strict=True):
        torch.testing.assert_close(plain, fused, rtol=1e-4, atol=1e-5)


def test_fused_without_learning():
    """A5: on held-out pairs the same value comes without gradients."""
    torch.manual_seed(1)
    states, weight = torch.randn(2, 3, 4), torch.randn(9, 4, requires_grad=True)
    labels = torch.randint(1, 9, (2, 3))
    with torch.inference_mode():
        found = losses.output_cross_entropy(states, weight, None, labels, 0)
    expected = cross_entropy(states @ weight.t(), labels, 0)
    torch.testing.assert_close(found, expected.detach())
