"""Attention step after step, where the rows of a source share a cache."""

import pytest
import torch

from seq2see.layers.cached import BeamMask, KeyValueCache

SOURCES, HEADS, WIDTH, ROWS = 3, 2, 4, 5


def written(steps):
    """Random steps of a beam: the cache and the mask after them, and each row's own keys and values."""
    cache, mask = KeyValueCache.empty(SOURCES, HEADS, WIDTH, torch.empty(0)), None
    rows = [[] for _ in range(SOURCES)]
    for step in range(steps):
        if step:
            mask = mask or BeamMask.everything(SOURCES, 1, torch.empty(0))
            width = len(rows) // SOURCES
            from_which = torch.randint(width, (SOURCES, ROWS)) + torch.arange(SOURCES)[:, None] * width
            rows = [list(rows[row]) for row in from_which.flatten().tolist()]
            mask = mask.move(from_which.flatten()).grow()
        keys, values = torch.randn(2, len(rows), HEADS, WIDTH)
        cache = cache.append(keys, values)
        for row, key, value in zip(rows, keys, values, strict=True):
            row.append((key, value))
    return cache, mask, rows


@torch.inference_mode()
@pytest.mark.parametrize("steps", [1, 2, 4, 7, 30])
@pytest.mark.parametrize("tidied", [False, True])
def test_each_row_reads_what_it_has_written(steps, tidied):
    """D9: a shared cache with masks is as good as a cache for each row, also after it was tidied."""
    torch.manual_seed(steps)
    cache, mask, rows = written(steps)
    if tidied and mask is not None and (slots := mask.used_slots()) is not None:
        cache, mask = cache.pick(slots), mask.pick(slots)
        assert cache.length == mask.length == slots.shape[1] <= 2 + ROWS * steps // 2
    else:
        assert not tidied or steps < 30
    query, seen = torch.randn(len(rows), HEADS, WIDTH), []

    def watch(address, weights, mask):
        seen.append(weights)
        return weights

    found = cache.read(query, "there", None, mask)
    torch.testing.assert_close(cache.read(query, "there", watch, mask), found)
    for place, row in enumerate(rows):
        keys, values = (torch.stack(part, 1) for part in zip(*row, strict=True))  # (H, L, K)
        weights = (query[place].unsqueeze(1) @ keys.transpose(1, 2) / WIDTH**0.5).softmax(-1)
        torch.testing.assert_close(seen[0][place], weights)
        torch.testing.assert_close(found[place], (weights @ values).flatten())
