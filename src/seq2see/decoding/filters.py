"""Which tokens may come next: no special symbols, a forced prefix's token, at the length limit the end."""

from collections.abc import Sequence

import torch
from torch import Tensor

from seq2see.text.special import Special

__all__ = ["Filters", "never_chosen"]


def never_chosen(special: Special) -> tuple[int, ...]:
    """Ids that are never part of an output."""
    return tuple(sorted({special.pad, special.begin, special.unknown, *special.targets} - {special.end}))


class Filters:
    """Restricts what may follow, for some sources at once.

    Times are counted by the group that the sources belong to: at time t, its t-th step chooses tokens.
    """

    def __init__(
        self,
        special: Special,
        deadlines: Sequence[int],
        forced: Sequence[dict[int, int]],
        device: torch.device,
    ) -> None:
        """`deadlines` are the times when outputs must end; `forced` are tokens by the time of each."""
        self._never = torch.tensor(never_chosen(special), device=device)
        self._end = special.end
        self._set(list(deadlines), list(forced))

    def _set(self, deadlines: list[int], forced: list[dict[int, int]]) -> None:
        self._deadlines, self._forced = deadlines, forced
        self._first_deadline = min(deadlines, default=0)
        self._forced_until = max((max(tokens, default=0) for tokens in forced), default=0)

    def apply(self, logits: Tensor, time: int, going: Sequence[bool]) -> None:
        """Set the logits (B, W, V) of what may not follow to minus infinity, for the sources that go on."""
        only = {}
        if time <= self._forced_until:
            only = {source: tokens[time] for source, tokens in enumerate(self._forced) if time in tokens}
        if time >= self._first_deadline:
            only |= {source: self._end for source, last in enumerate(self._deadlines) if last <= time}
        only = {source: token for source, token in only.items() if going[source]}
        if not only:
            logits.index_fill_(2, self._never, -float("inf"))
            return
        sources = torch.tensor(list(only), device=logits.device)
        tokens = torch.tensor(list(only.values()), device=logits.device)
        ids = tokens[:, None, None].expand(-1, logits.shape[1], 1)
        allowed = logits[sources].gather(2, ids)
        logits.index_fill_(2, self._never, -float("inf"))
        logits[sources] = torch.full_like(logits[sources], -float("inf")).scatter_(2, ids, allowed)

    def keep(self, sources: Sequence[int]) -> None:
        """Go on with these sources."""
        self._set([self._deadlines[one] for one in sources], [self._forced[one] for one in sources])

    def shift(self, by: int) -> None:
        """Count time differently: what was t is now t + by."""
        forced = [{time + by: token for time, token in tokens.items()} for tokens in self._forced]
        self._set([time + by for time in self._deadlines], forced)

    def join(self, other: "Filters") -> None:
        """Add the sources of another group, whose time is the same."""
        self._set(self._deadlines + other._deadlines, self._forced + other._forced)
