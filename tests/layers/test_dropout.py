"""Dropout from random bytes does what dropout does."""

import pytest
import torch

from seq2see.layers.dropout import Dropout, dropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_the_rate_and_the_mean_are_kept(rate: float) -> None:
    torch.manual_seed(1)
    states = torch.ones(1000, 1003)
    dropped = dropout(states, rate)
    exact = round(rate * 256) / 256
    spread = (exact * (1 - exact) / states.numel()) ** 0.5
    assert (dropped == 0).double().mean().item() == pytest.approx(exact, abs=5 * spread)
    assert dropped.double().mean().item() == pytest.approx(1, abs=5 * spread / (1 - exact))
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - exact)])


def test_features_are_dropped_independently() -> None:
    """Neighbours share a draw of eight bytes; they must not share their fate."""
    torch.manual_seed(1)
    kept = (dropout(torch.ones(200_000, 8), 0.5) > 0).double()
    relation = torch.corrcoef(kept.T) - torch.eye(8)
    assert relation.abs().max() < 0.015
    assert torch.corrcoef(torch.stack([kept[:-1, 7], kept[1:, 0]]))[0, 1].abs() < 0.015


def test_the_gradient_goes_where_the_states_went() -> None:
    torch.manual_seed(1)
    states = torch.randn(5, 7, requires_grad=True)
    dropped = dropout(states, 0.5)
    dropped.sum().backward()
    assert states.grad is not None
    torch.testing.assert_close(states.grad, (dropped / states).detach())


def test_the_generator_decides() -> None:
    """The same state of PyTorch's generator, which a resume restores, gives the same mask."""
    states = torch.ones(11, 3)
    torch.manual_seed(5)
    first = dropout(states, 0.5)
    assert not dropout(states, 0.5).equal(first)
    torch.manual_seed(5)
    assert dropout(states, 0.5).equal(first)


def test_nothing_is_dropped_outside_training() -> None:
    states = torch.ones(50)
    assert Dropout(0.5).eval()(states) is states
    assert dropout(states, 0.0) is states
