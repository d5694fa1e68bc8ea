"""The lectures' worked numbers."""

import math

import pytest
import torch

from seq2see.layers.attention import MultiHeadAttention, plain_attention
from seq2see.layers.positions import sinusoidal

STATES = torch.tensor([[5.0, 1], [4, 3], [-2, 6]], dtype=torch.float64)
QUERY = torch.tensor([[1.0, 0], [2, 9]], dtype=torch.float64)
KEY = torch.tensor([[0.0, 1], [6, 0]], dtype=torch.float64)
VALUE = torch.tensor([[4.0, 3], [9, 1]], dtype=torch.float64)


@pytest.fixture
def lecture_attention():
    """One head of width two with the lecture's weights and no biases."""
    attention = MultiHeadAttention(2, 1, "lecture").double()
    with torch.no_grad():
        for layer, weight in (
            (attention.query, QUERY),
            (attention.key, KEY),
            (attention.value, VALUE),
            (attention.output, torch.eye(2)),
        ):
            layer.weight.copy_(weight)
            layer.bias.zero_()
    return attention


def test_scores_of_the_second_query(lecture_attention):
    """F1: the unscaled scores of q2 are 1054, 852 and -396."""
    states = STATES.unsqueeze(0)
    seen = lecture_attention.project(states)
    query = lecture_attention.query(states)[0, 1]
    assert (seen.keys[0, 0] @ query).tolist() == [1054, 852, -396]


def test_weights_follow_the_scores():
    """F1, D1: the logarithms of the weights differ as the scores do, divided by the root of the width."""
    query, keys, values = (STATES @ weight.T for weight in (QUERY, KEY, VALUE))
    weights = plain_attention(query / 1000, keys, values, None)[1][1]
    scores = weights.log() * 1000 * math.sqrt(2)
    assert (scores[0] - scores[1]).item() == pytest.approx(1054 - 852)
    assert (scores[1] - scores[2]).item() == pytest.approx(852 + 396)


def test_the_second_state_reads_the_first_value(lecture_attention):
    """F1: the scores lie so far apart that softmax is argmax, and h2' = v1 = (23, 46)."""
    states = STATES.unsqueeze(0)
    read = lecture_attention(states, lecture_attention.project(states))[0, 1]
    torch.testing.assert_close(read, torch.tensor([23.0, 46.0], dtype=torch.float64))


def test_near_positions_are_more_alike():
    """F3: the inner product falls with the distance, and is the same wherever one starts."""
    table = sinusoidal(torch.arange(200), 128)
    products = table @ table.T
    for start in (0, 40, 90):
        by_distance = products[start, start : start + 100]
        assert by_distance[:5].diff().max() < 0
        assert by_distance[:3].min() > by_distance[8:].max()
    torch.testing.assert_close(products[0, :50], products[70, 70:120], rtol=0, atol=1e-3)


def test_wavelengths_are_geometric():
    """F3: wavelengths run from 2 pi to 10000 times 2 pi, each the same multiple of the one before."""
    table = sinusoidal(torch.tensor([1]), 4096)[0].double()
    rates = torch.atan2(table[0::2], table[1::2])
    lengths = 2 * math.pi / rates
    assert lengths[0].item() == pytest.approx(2 * math.pi, rel=1e-4)
    assert lengths[-1].item() == pytest.approx(10000 * 2 * math.pi, rel=1e-2)
    ratios = lengths[1:] / lengths[:-1]
    torch.testing.assert_close(ratios, torch.full_like(ratios, 10000 ** (2 / 4096)), rtol=1e-4, atol=0)
