"""The training loss."""

import math

import pytest
import torch

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
