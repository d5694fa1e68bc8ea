"""Copying against its formula, token by token."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor

from seq2see.layers.pointer import Pointer

NONE = 0


def pointer_of(width: int = 4) -> Pointer:
    """A gate in which nothing is zero."""
    torch.manual_seed(1)
    pointer = Pointer(width)
    for parameter in pointer.parameters():
        parameter.data.normal_()
    return pointer


def given_numbers() -> tuple[Tensor, Tensor, Tensor]:
    """Logits (B, T, V), states (B, T, D) and weights (B, T, S)."""
    torch.manual_seed(2)
    return torch.randn(2, 3, 7), torch.randn(2, 3, 4), torch.randn(2, 3, 5).softmax(-1)


def by_hand(pointer: Pointer, logits: Tensor, states: Tensor, looked: Tensor, tokens: Tensor) -> Tensor:
    """p = g softmax + (1 - g) copies for one position, each token's copies added up in a loop."""
    gate = 1 / (1 + math.exp(-(pointer.gate.weight[0] @ states + pointer.gate.bias[0]).item()))
    exponents = [math.exp(value) for value in logits.tolist()]
    chances = [gate * value / sum(exponents) for value in exponents]
    for weight, token in zip(looked.tolist(), tokens.tolist(), strict=True):
        if token != NONE:
            chances[token] += (1 - gate) * weight
    return torch.tensor([chance / sum(chances) for chance in chances])


@pytest.mark.parametrize(
    "tokens",
    [
        [[4, 5, 4, 6, 2], [6, 5, 2, 3, 3]],
        [[4, NONE, 4, 6, 2], [NONE, NONE, 5, 2, NONE]],
        [[NONE] * 5, [NONE, NONE, NONE, NONE, 2]],
    ],
)
def test_copies_are_added_up_token_by_token(tokens):
    """H: written and copied shares sum up; what cannot be copied is left out and the rest is rescaled."""
    pointer, (logits, states, looked), tokens = pointer_of(), given_numbers(), torch.tensor(tokens)
    found = pointer(logits, states, looked, tokens, NONE)
    for row, step in product(range(2), range(3)):
        expected = by_hand(pointer, logits[row, step], states[row, step], looked[row, step], tokens[row])
        torch.testing.assert_close(found[row, step].softmax(-1), expected, rtol=1e-5, atol=1e-6)
        alone = pointer(logits[:, step], states[:, step], looked[:, step], tokens, NONE)
        torch.testing.assert_close(alone, found[:, step])


def test_all_copied_is_a_distribution():
    """H: where all of the source can be copied the shares sum to one without rescaling."""
    logits, states, looked = given_numbers()
    found = pointer_of()(logits, states, looked, torch.tensor([[4, 5, 4, 6, 2]] * 2), NONE)
    torch.testing.assert_close(found.exp().sum(-1), torch.ones(2, 3))


@pytest.mark.parametrize("gate", [0.0, 200.0, -200.0])
def test_gradients_stay_finite(gate):
    """H: with nothing to copy, and with a gate fully open or shut, numbers and gradients are finite."""
    pointer = pointer_of()
    pointer.gate.weight.data.zero_()
    pointer.gate.bias.data.fill_(gate)
    for tokens in ([[NONE] * 5] * 2, [[4, 5, NONE, 6, 2]] * 2):
        logits, states, looked = given_numbers()
        # A weight so small that it is zero leaves a token that could be copied, but is not.
        looked[:, :, 0] = 0
        given = [tensor.requires_grad_() for tensor in (logits, states, looked)]
        found = pointer(*given, torch.tensor(tokens), NONE)
        assert found.isfinite().all()
        torch.nn.functional.cross_entropy(found.flatten(0, 1), torch.tensor([1, 2, 3, 4, 5, 6])).backward()
        assert all(tensor.grad.isfinite().all() for tensor in [*given, *pointer.parameters()])
        pointer.zero_grad()


def test_half_precision_is_summed_in_full():
    """H: logits of bfloat16 give log-probabilities of float32."""
    pointer, (logits, states, looked) = pointer_of(), given_numbers()
    tokens = torch.tensor([[4, 5, 4, 6, 2]] * 2)
    found = pointer(logits.bfloat16(), states, looked.bfloat16(), tokens, NONE)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, pointer(logits, states, looked, tokens, NONE), rtol=0.05, atol=0.05)
