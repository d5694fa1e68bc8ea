"""What attention looks at before it has learnt anything."""

import math

import pytest
import torch

from seq2see.layers.scores import ScoredAttention


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("kind", ["scaled-dot", "general", "additive", "concat"])
def test_attention_begins_with_a_look_at_everything(kind: str, heads: int) -> None:
    """F2: of 64 places with many features none stands out before training, and all can be learnt from."""
    torch.manual_seed(1)
    attention = ScoredAttention(kind, 256, 256, "here", heads)
    states = torch.rand(8, 12, 256) * 2 - 1
    memory = torch.randn(8, 64, 256).relu()
    _, weights = attention(states, attention.project(memory))
    entropy = -(weights * weights.log()).sum(-1).mean()
    assert entropy > 0.9 * math.log(64)
