"""Ways to choose the next tokens from their scores."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from seq2see.decoding.settings import DecodingSettings

__all__ = ["Beam", "Chooser", "Chosen", "Greedy", "Sampler"]

_BLOCK = 128
"""Scores that stand together in the search for the best ones."""
_FEW = 1 << 15
"""Of so few scores, all can be looked at."""


@dataclass(frozen=True)
class Chosen:
    """Continuations of each source, (B, W): the row of the source that each goes on from, its token, and its
    log-probability so far, which is minus infinity where there is none."""

    rows: Tensor
    tokens: Tensor
    totals: Tensor


class Chooser(Protocol):
    """Chooses among the scores (B, W, V) of what may follow; `norms` (B, W) make them log-probabilities."""

    width_at_start: int
    scores: bool
    """Whether log-probabilities are wanted."""

    def choose(self, scores: Tensor, norms: Tensor | None, totals: Tensor, length: int) -> Chosen:
        """The continuations to go on with; `length` counts their tokens."""

    def keep(self, sources: Tensor) -> None:
        """Go on with these sources."""


class Greedy:
    """The best continuation of each source's only row."""

    width_at_start = 1

    def __init__(self, scores: bool) -> None:
        self.scores = scores

    def choose(self, scores: Tensor, norms: Tensor | None, totals: Tensor, length: int) -> Chosen:
        """The likeliest token."""
        best, tokens = top(scores, 1)
        totals = totals + best[..., 0] - norms if norms is not None else totals
        return Chosen(torch.zeros_like(tokens[..., 0]), tokens[..., 0], totals)

    def keep(self, sources: Tensor) -> None:
        """Nothing is remembered."""


class Beam:
    """The best `width` continuations of each source, over all of its rows."""

    width_at_start = 1
    scores = True

    def __init__(self, width: int) -> None:
        self.width = width

    def choose(self, scores: Tensor, norms: Tensor | None, totals: Tensor, length: int) -> Chosen:
        """The best ones first."""
        assert norms is not None
        best, tokens = top(scores, min(self.width, scores.shape[2]))
        each = best.shape[2]
        best = (totals - norms).unsqueeze(2) + best
        found, places = best.flatten(1).topk(min(self.width, scores.shape[1] * each), 1)
        rows, tokens = places // each, tokens.flatten(1).gather(1, places)
        return Chosen(rows, tokens, found)

    def keep(self, sources: Tensor) -> None:
        """Nothing is remembered."""


class Sampler:
    """One random continuation of each row, after temperature, top-k and top-p."""

    scores = True

    def __init__(
        self, settings: DecodingSettings, keys: list[int], longest: int, device: torch.device
    ) -> None:
        self.width_at_start = settings.nbest
        self._settings = settings
        # One number for each step of each row, drawn from a stream of the row's own.
        draws = [
            [np.random.default_rng([settings.seed, key, copy]).random(longest, np.float32)]
            for key in keys
            for copy in range(settings.nbest)
        ]
        self._draws = torch.from_numpy(np.stack(draws)).to(device).view(len(keys), settings.nbest, longest)

    def choose(self, scores: Tensor, norms: Tensor | None, totals: Tensor, length: int) -> Chosen:
        """One token for each row, by where its random number falls among the probabilities."""
        assert norms is not None
        steps = (scores - norms.unsqueeze(2)).flatten(0, 1)
        chances = _filtered(steps / self._settings.temperature, self._settings).softmax(-1)
        bounds = chances.cumsum(-1)
        point = self._draws[:, :, length - 1].reshape(-1, 1) * bounds[:, -1:]
        tokens = torch.searchsorted(bounds, point, right=True).clamp(max=steps.shape[1] - 1)
        rows = torch.arange(scores.shape[1], device=scores.device).expand(scores.shape[:2])
        said = steps.gather(1, tokens).view(totals.shape)
        return Chosen(rows, tokens.view(totals.shape), totals + said)

    def keep(self, sources: Tensor) -> None:
        """Go on with the random numbers of these sources."""
        self._draws = self._draws[sources]


def top(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The best scores in the last dimension and where they are: `topk`, but faster for a few of many.

    The best n stand in the n blocks that have the highest maximum.
    """
    size = scores.shape[-1]
    blocks = size // _BLOCK
    if blocks <= 2 * count or scores.numel() < _FEW:
        return scores.topk(count, -1) if count > 1 else scores.max(-1, keepdim=True)
    whole = scores[..., : blocks * _BLOCK].unflatten(-1, (blocks, _BLOCK))
    chosen = whole.amax(-1).topk(count, -1).indices  # (..., count)
    inside = torch.arange(_BLOCK, device=scores.device)
    places = (chosen.unsqueeze(-1) * _BLOCK + inside).flatten(-2)
    rest = torch.arange(blocks * _BLOCK, size, device=scores.device).expand(*scores.shape[:-1], -1)
    places = torch.cat([places, rest], -1)
    best, among = scores.gather(-1, places).topk(count, -1)
    return best, places.gather(-1, among)


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
