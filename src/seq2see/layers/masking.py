"""Which tokens are hidden, so that a model can learn to say what they were (BERT, Devlin et al. 2019)."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

__all__ = ["MaskUnit", "Masking"]

MaskUnit = Literal["tokens", "words", "spans"]
"""What is hidden together: single tokens, the tokens of a word, or some words in a row (SpanBERT)."""


class Masking(nn.Module):
    """Chooses a share of the tokens of each row; most become the mask symbol, some another token or none.

    `starts` says of every id whether a token with it begins a word. Ids below `first` are special: they are
    never chosen, and never stand in for another token.
    """

    starts: Tensor

    def __init__(
        self,
        symbol: int,
        first: int,
        starts: Sequence[bool],
        share: float = 0.15,
        masked: float = 0.8,
        random: float = 0.1,
        unit: MaskUnit = "tokens",
        mean: float = 3.0,
        longest: int = 10,
    ) -> None:
        """Of the chosen tokens, a part `masked` is hidden, a part `random` is replaced, the rest stays.

        Spans have `mean` words on the average, and `longest` of them at the most.
        """
        super().__init__()
        self.symbol, self.first, self.share = symbol, first, share
        self.masked, self.random = masked, random
        self.unit, self.mean, self.longest = unit, mean, longest
        self.register_buffer("starts", torch.tensor(list(starts), dtype=torch.bool), persistent=False)

    def forward(self, ids: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """What is read instead of ids (B, S), and which places are to be told, (B, S)."""
        chosen = self.choose(ids, generator)
        fate = torch.rand(ids.shape, device=ids.device, generator=generator)
        others = torch.randint(
            self.first, len(self.starts), ids.shape, device=ids.device, generator=generator
        )
        read = ids.masked_fill(chosen & (fate < self.masked), self.symbol)
        swapped = chosen & (fate >= self.masked) & (fate < self.masked + self.random)
        return torch.where(swapped, others, read), chosen

    def choose(self, ids: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """About `share` of the tokens of each row, and at least one of a row that has any, (B, S)."""
        usable = ids >= self.first
        wanted = (usable.sum(1) * self.share).round().clamp(min=1)
        units = self._units(ids, usable, generator)
        draw = torch.rand(ids.shape, device=ids.device, generator=generator)
        # All tokens of a unit share one number; what cannot be chosen comes last.
        ranked = draw.gather(1, units).masked_fill(~usable, 2.0).argsort(dim=1, stable=True).argsort(1)
        low, high = (
            ranked.new_zeros(ranked.shape).scatter_reduce(1, units, ranked, kind, include_self=False)
            for kind in ("amin", "amax")
        )
        # Half of the units that the limit cuts through are taken, so that the share comes out right.
        middle = (low + high).gather(1, units) / 2
        return ((middle < wanted[:, None]) | (low.gather(1, units) == 0)) & usable

    def _units(self, ids: Tensor, usable: Tensor, generator: torch.Generator | None) -> Tensor:
        """The number of the unit that each token belongs to, counted from the left, (B, S)."""
        if self.unit == "tokens":
            return torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
        before = torch.nn.functional.pad(usable[:, :-1], (1, 0))
        begins = self.starts[ids] | ~usable | ~before
        if self.unit == "spans":
            words = begins.cumsum(1)
            ends = torch.rand(ids.shape, device=ids.device, generator=generator) < 1 / self.mean
            cut = begins & (ends | ~usable | ~before)
            # Words of a span, counted from its first; one that grows too long is cut.
            since = words - torch.where(cut, words, 0).cummax(1).values
            begins = cut | (begins & (since % self.longest == 0))
        return begins.cumsum(1).sub(1).clamp(min=0)
