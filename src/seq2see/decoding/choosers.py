"""Ways to choose the next tokens from their log-probabilities."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from seq2see.decoding.settings import DecodingSettings

__all__ = ["Beam", "Candidates", "Sampler"]


@dataclass(frozen=True)
class Candidates:
    """Chosen continuations: the row that each goes on from, its token, and its log-probability so far."""

    rows: Tensor
    tokens: Tensor
    totals: Tensor


class Beam:
    """The best `width` continuations of each sentence, over all of its rows."""

    width_at_start = 1

    def __init__(self, width: int) -> None:
        self.width = width

    def choose(self, steps: Tensor, totals: Tensor, owner: Tensor, length: int) -> Candidates:
        """Continuations by sentence, best first; rows of one sentence stand together."""
        best, tokens = (totals[:, None] + steps).topk(min(self.width, steps.shape[1]), dim=1)
        _, rows_of = owner.unique_consecutive(return_counts=True)
        sentences = torch.repeat_interleave(torch.arange(len(rows_of), device=owner.device), rows_of)
        starts = rows_of.cumsum(0) - rows_of
        place = torch.arange(len(owner), device=owner.device) - starts[sentences]
        # Each sentence's candidates side by side, (sentences, rows of the largest * width).
        each = best.shape[1]
        grid = best.new_full((len(rows_of), int(rows_of.max()), each), -float("inf"))
        grid[sentences, place] = best
        top, flat = grid.flatten(1).topk(min(self.width, grid.shape[1] * each), dim=1)
        keep = top > -float("inf")
        rows = (starts[:, None] + flat // each)[keep]
        return Candidates(rows, tokens[rows, (flat % each)[keep]], top[keep])

    def keep(self, rows: Tensor) -> None:
        """A beam remembers nothing of its rows."""


class Sampler:
    """One random continuation of each row, after temperature, top-k and top-p."""

    def __init__(
        self, settings: DecodingSettings, keys: list[int], longest: int, device: torch.device
    ) -> None:
        self.width_at_start = settings.nbest
        self._settings = settings
        # One number for each step of each row, drawn from a stream of the row's own.
        draws = [
            np.random.default_rng([settings.seed, key, copy]).random(longest, np.float32)
            for key in keys
            for copy in range(settings.nbest)
        ]
        self._draws = torch.from_numpy(np.stack(draws)).to(device)

    def choose(self, steps: Tensor, totals: Tensor, owner: Tensor, length: int) -> Candidates:
        """One token for each row, by where its random number falls among the probabilities."""
        chances = _filtered(steps / self._settings.temperature, self._settings).softmax(-1)
        bounds = chances.cumsum(-1)
        point = self._draws[:, length - 1, None] * bounds[:, -1:]
        tokens = torch.searchsorted(bounds, point, right=True).clamp(max=steps.shape[1] - 1)
        rows = torch.arange(len(steps), device=steps.device)
        return Candidates(rows, tokens[:, 0], totals + steps.gather(1, tokens)[:, 0])

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows."""
        self._draws = self._draws[rows]


def _filtered(scores: Tensor, settings: DecodingSettings) -> Tensor:
    """Only the k likeliest tokens, and of those the likeliest that make up p of the probability."""
    if settings.top_k is not None and settings.top_k < scores.shape[1]:
        least = scores.topk(settings.top_k, dim=1).values[:, -1:]
        scores = scores.masked_fill(scores < least, -float("inf"))
    if settings.top_p is not None:
        ordered, order = scores.softmax(-1).sort(dim=1, descending=True)
        before = ordered.cumsum(1) - ordered
        drop = torch.zeros_like(scores, dtype=torch.bool).scatter(1, order, before >= settings.top_p)
        scores = scores.masked_fill(drop, -float("inf"))
    return scores
