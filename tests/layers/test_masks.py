"""Masks say where one may look."""

import torch

from seq2see.layers import masks


def test_causal_looks_back_only():
    """D3: position l sees position t exactly when t <= l."""
    mask = masks.causal(6)
    assert all(mask[here, there].item() == (there <= here) for here in range(6) for there in range(6))


def test_present_is_false_at_padding():
    """D3: padding is nowhere to look, whichever id it has."""
    ids = torch.tensor([[5, 0, 3], [3, 3, 0]])
    assert masks.present(ids, 0).tolist() == [[True, False, True], [True, True, False]]
    assert masks.present(ids, 3).tolist() == [[True, True, False], [False, False, True]]
