"""Ways to choose the next tokens from their logits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.decoding.requests import Request
from seq2see.decoding.settings import DecodingSettings

__all__ = ["Beam", "Chooser", "Chosen", "Greedy", "Sampler", "make_chooser"]

_BLOCK = 128
"""Logits that stand together in the search for the best ones."""
_FEW = 1 << 15
"""With so few logits, all of them can be sorted."""


@dataclass(frozen=True)
class Chosen:
    """Continuations of each source, (B, W): the row of the source that each continues, its token, and its
    log-probability so far, which is minus infinity where there is none."""

    rows: Tensor
    tokens: Tensor
    totals: Tensor


class Chooser(Protocol):
    """Chooses among the logits (B, W, V) of what may follow; `norms` (B, W) make them log-probabilities."""

    width_at_start: int
    """How many rows each source begins with."""
    scored: bool
    """Whether log-probabilities are wanted."""

    def choose(self, logits: Tensor, norms: Tensor | None, totals: Tensor, length: int | Tensor) -> Chosen:
        """The continuations to go on with; `length` counts their tokens, for all sources or for each (B,)."""

    def keep(self, sources: Tensor) -> None:
        """Go on with these sources."""

    def join(self, other: Any) -> None:
        """Add the sources of another chooser of the same kind."""


def make_chooser(
    settings: DecodingSettings, requests: Sequence[Request], device: torch.device, scored: bool
) -> Chooser:
    """The chooser that the settings ask for; without `scored`, a greedy one needs no log-probabilities."""
    if settings.sample:
        longest = max(request.limit for request in requests)
        return Sampler(settings, [request.key for request in requests], longest, device)
    return Greedy(scored) if settings.beam == 1 else Beam(settings.beam)


class _Forgetful:
    """A chooser that remembers nothing of its sources."""

    def keep(self, sources: Tensor) -> None:
        """There is nothing to keep."""

    def join(self, other: Any) -> None:
        """There is nothing to add."""


class Greedy(_Forgetful):
    """The best continuation of each source's only row."""

    width_at_start = 1

    def __init__(self, scored: bool) -> None:
        self.scored = scored

    def choose(self, logits: Tensor, norms: Tensor | None, totals: Tensor, length: int | Tensor) -> Chosen:
        """The likeliest token."""
        best, tokens = top(logits, 1)
        totals = totals + best[..., 0] - norms if norms is not None else totals
        return Chosen(torch.zeros_like(tokens[..., 0]), tokens[..., 0], totals)


class Beam(_Forgetful):
    """The best `width` continuations of each source, over all of its rows."""

    width_at_start = 1
    scored = True

    def __init__(self, width: int) -> None:
        self.width = width

    def choose(self, logits: Tensor, norms: Tensor | None, totals: Tensor, length: int | Tensor) -> Chosen:
        """The best ones first."""
        assert norms is not None
        best, tokens = top(logits, min(self.width, logits.shape[2]))
        each = best.shape[2]
        best = (totals - norms).unsqueeze(2) + best
        found, indices = best.flatten(1).topk(min(self.width, logits.shape[1] * each), 1)
        rows, tokens = indices // each, tokens.flatten(1).gather(1, indices)
        return Chosen(rows, tokens, found)


class Sampler:
    """One random continuation of each row, after temperature, top-k and top-p."""

    scored = True

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

    def choose(self, logits: Tensor, norms: Tensor | None, totals: Tensor, length: int | Tensor) -> Chosen:
        """One token for each row, by where its random number falls among the probabilities."""
        assert norms is not None
        steps = (logits - norms.unsqueeze(2)).flatten(0, 1)
        chances = _filtered(steps / self._settings.temperature, self._settings).softmax(-1)
        bounds = chances.cumsum(-1)
        point = self._drawn(length).reshape(-1, 1) * bounds[:, -1:]
        tokens = torch.searchsorted(bounds, point, right=True).clamp(max=steps.shape[1] - 1)
        rows = torch.arange(logits.shape[1], device=logits.device).expand(logits.shape[:2])
        said = steps.gather(1, tokens).view(totals.shape)
        return Chosen(rows, tokens.view(totals.shape), totals + said)

    def _drawn(self, length: int | Tensor) -> Tensor:
        """The random numbers (B, W) for the last of so many tokens."""
        sources, copies, longest = self._draws.shape
        steps = torch.as_tensor(length, device=self._draws.device).clamp(max=longest) - 1
        return self._draws.gather(2, steps.expand(sources).view(-1, 1, 1).expand(-1, copies, 1))[..., 0]

    def keep(self, sources: Tensor) -> None:
        """Go on with the random numbers of these sources."""
        self._draws = self._draws[sources]

    def join(self, other: "Sampler") -> None:
        """Add the random numbers of other sources; those of shorter outputs are filled up."""
        longest = max(self._draws.shape[2], other._draws.shape[2])
        parts = (self._draws, other._draws)
        self._draws = torch.cat([pad(part, (0, longest - part.shape[2])) for part in parts])


def top(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The best numbers in the last dimension and where they are: `topk`, but faster for a few of many.

    The best n stand in the n blocks that have the highest maximum.
    """
    size = logits.shape[-1]
    blocks = size // _BLOCK
    if blocks <= 2 * count or logits.numel() < _FEW:
        return logits.topk(count, -1) if count > 1 else logits.max(-1, keepdim=True)
    whole = logits[..., : blocks * _BLOCK].unflatten(-1, (blocks, _BLOCK))
    chosen = whole.amax(-1).topk(count, -1).indices  # (..., count)
    inside = torch.arange(_BLOCK, device=logits.device)
    indices = (chosen.unsqueeze(-1) * _BLOCK + inside).flatten(-2)
    rest = torch.arange(blocks * _BLOCK, size, device=logits.device).expand(*logits.shape[:-1], -1)
    indices = torch.cat([indices, rest], -1)
    best, among = logits.gather(-1, indices).topk(count, -1)
    return best, indices.gather(-1, among)


def _filtered(logits: Tensor, settings: DecodingSettings) -> Tensor:
    """Only the k likeliest tokens, and of those the likeliest that make up p of the probability."""
    if settings.top_k is not None and settings.top_k < logits.shape[1]:
        least = logits.topk(settings.top_k, dim=1).values[:, -1:]
        logits = logits.masked_fill(logits < least, -float("inf"))
    if settings.top_p is not None:
        ordered, order = logits.softmax(-1).sort(dim=1, descending=True)
        before = ordered.cumsum(1) - ordered
        drop = torch.zeros_like(logits, dtype=torch.bool).scatter(1, order, before >= settings.top_p)
        logits = logits.masked_fill(drop, -float("inf"))
    return logits
