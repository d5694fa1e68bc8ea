"""One loop that writes outputs token by token, for every model and every way to choose tokens."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from seq2see.decoding.choosers import Beam, Chooser, Chosen, Greedy, Sampler
from seq2see.decoding.settings import DecodingSettings
from seq2see.layers.attention import Watch, harden
from seq2see.models import Generator, Memory
from seq2see.text import BEGIN, END, PAD, UNKNOWN

__all__ = ["NEVER", "Follow", "Hypothesis", "search"]

NEVER = (PAD, BEGIN, UNKNOWN)
"""Symbols that no output has."""
_CHUNK = 1 << 18
"""Scores that are looked at together: as many as a processor's cache holds."""
_CROWDED = 0.8
"""While more than this share of the sources goes on, those that are done stay where they are."""

Follow = Callable[[Tensor, Tensor | None, Tensor, Chosen], None]
"""Gets the scores (B, W, V) of a step, their norms, the log-probabilities before it (B, W), and the choice"""


@dataclass(frozen=True)
class Hypothesis:
    """An output: ids without the end symbol, its log-probability, and the score it is ranked by."""

    ids: tuple[int, ...]
    log_probability: float
    score: float
    cut: bool = False
    """Whether the end came from the length limit, not from the model."""


@dataclass
class _Sentence:
    """What has been found for one source."""

    limit: int
    wanted: int
    found: list[Hypothesis] = field(default_factory=list)

    def add(self, hypothesis: Hypothesis) -> None:
        self.found.append(hypothesis)
        self.found.sort(key=lambda one: -one.score)

    @property
    def bar(self) -> float:
        """The score that a further hypothesis has to beat to be given out."""
        return self.found[self.wanted - 1].score if len(self.found) >= self.wanted else -float("inf")


@torch.inference_mode()
def search(
    model: Generator,
    memory: Memory,
    limits: Sequence[int],
    settings: DecodingSettings,
    prefixes: Sequence[Sequence[int]] | None = None,
    keys: Sequence[int] | None = None,
    watch: Watch | None = None,
    scored: bool = True,
    least: int = 1,
    follow: Follow | None = None,
) -> list[list[Hypothesis]]:
    """The best hypotheses for each encoded source, best first.

    `limits` are the most tokens of each output, the end symbol counted; `keys` name each source for
    the random numbers of sampling, so that its samples do not depend on its neighbours. Where they are
    not needed (`scored`), a greedy search leaves out the log-probabilities. The search ends when fewer
    than `least` sources are left, and has no hypotheses for those. Whoever follows sees every choice.
    """
    device = memory.states.device
    sentences = [_Sentence(limit, settings.nbest) for limit in limits]
    chooser = _chooser(settings, list(keys or range(len(sentences))), max(limits, default=1), device, scored)
    watch = _hard(watch) if settings.hard_attention else watch
    forced = _forced(prefixes or [()] * len(sentences), device)
    limit, soonest = torch.tensor(limits, device=device), min(limits, default=0)
    left = torch.arange(len(sentences), device=device)
    width = chooser.width_at_start
    state = model.begin(memory)
    if width > 1:
        state = state.move(left.repeat_interleave(width))
    tokens = torch.full((len(left), width), BEGIN, device=device)
    totals = torch.zeros(len(left), width, device=device)
    written = torch.empty(len(left), width, 0, dtype=torch.long, device=device)
    going = torch.ones_like(left, dtype=torch.bool)
    never = torch.tensor(NEVER, device=device)
    length = 0
    while len(left) >= max(1, least):
        logits, state = model.step(tokens.flatten(), state, watch)
        scores = logits.float().view(*tokens.shape, -1)  # (B, W, V)
        norms = _norms(scores) if chooser.scores else None
        length += 1
        only = None
        if length >= soonest or length < forced.shape[1]:
            only = torch.where(limit[left] <= length, END, forced[left, min(length, forced.shape[1]) - 1])
            only = only.masked_fill_(~going, PAD)
        _restrict(scores, never, only)
        chosen = chooser.choose(scores, norms, totals, length)
        if follow is not None:
            follow(scores, norms, totals, chosen)
        tokens, totals = chosen.tokens, chosen.totals
        over = (tokens == END) & (totals > -float("inf"))
        ended = bool(over.any())
        if ended:
            _finish(sentences, left, chosen, over, written, settings, length, chooser.scores)
            totals = totals.masked_fill(over, -float("inf"))
        if several := max(width, tokens.shape[1]) > 1:
            if not settings.sample:
                totals = totals.masked_fill(totals <= _bars(sentences, left, settings), -float("inf"))
            written = written.gather(1, chosen.rows.unsqueeze(2).expand(-1, -1, length - 1))
            starts = torch.arange(len(left), device=device).unsqueeze(1) * width
            state = state.move((starts + chosen.rows).flatten())
        written = torch.cat([written, tokens.unsqueeze(2)], 2)
        width = tokens.shape[1]
        if not (ended or several):
            continue
        going = (totals > -float("inf")).any(1)
        # Sources that are done are dropped when they are many enough to pay for copying the others.
        if (kept := going.nonzero()[:, 0]).numel() <= _CROWDED * len(left):
            left, tokens, totals, written = left[kept], tokens[kept], totals[kept], written[kept]
            going = going[kept]
            if len(left):
                state = state.keep(kept)
                chooser.keep(kept)
    for unfinished in left[going].tolist():
        sentences[unfinished].found.clear()
    return [sentence.found[: sentence.wanted] for sentence in sentences]


def _norms(scores: Tensor) -> Tensor:
    """What makes log-probabilities of scores, (B, W, V) -> (B, W)."""
    if scores.device.type != "cpu":
        return scores.logsumexp(-1)
    parts = scores.flatten(0, 1).split(max(1, _CHUNK // scores.shape[2]))
    return torch.cat([part.logsumexp(-1) for part in parts]).view(scores.shape[:2])


def _chooser(
    settings: DecodingSettings, keys: list[int], longest: int, device: torch.device, scored: bool
) -> Chooser:
    if settings.sample:
        return Sampler(settings, keys, longest, device)
    return Greedy(scored) if settings.beam == 1 else Beam(settings.beam)


def _hard(watch: Watch | None) -> Watch:
    """Attention on the source made hard, after whoever watches has had a say."""

    def look(address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        weights = watch(address, weights, mask) if watch is not None else weights
        return harden(weights) if address.endswith(".cross") else weights

    return look


def _forced(prefixes: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Tokens that outputs must begin with, (B, longest prefix + 1), padded."""
    longest = max(map(len, prefixes), default=0) + 1
    rows = [[*prefix, *[PAD] * (longest - len(prefix))] for prefix in prefixes]
    return torch.tensor(rows, dtype=torch.long, device=device).view(len(prefixes), longest)


def _restrict(scores: Tensor, never: Tensor, only: Tensor | None) -> None:
    """Rule out what is never written, and for some sources (B,) all but one token; others have padding."""
    sources = (only != PAD).nonzero()[:, 0] if only is not None else ()
    if only is not None and len(sources):
        places = only[sources, None, None].expand(-1, scores.shape[1], 1)
        allowed = scores[sources].gather(2, places)
    scores.index_fill_(2, never, -float("inf"))
    if len(sources):
        scores[sources] = torch.full_like(scores[sources], -float("inf")).scatter_(2, places, allowed)


def _finish(
    sentences: list[_Sentence],
    left: Tensor,
    chosen: Chosen,
    over: Tensor,
    written: Tensor,
    settings: DecodingSettings,
    length: int,
    scored: bool,
) -> None:
    """Note the outputs that have ended."""
    places = over.nonzero()[:, 0]
    for sentence, ids, total in zip(
        left[places].tolist(),
        written[places, chosen.rows[over]].tolist(),
        chosen.totals[over].tolist(),
        strict=True,
    ):
        cut = length >= sentences[sentence].limit
        total = total if scored else math.nan
        score = total / length**settings.length_penalty
        sentences[sentence].add(Hypothesis(tuple(ids), total, score, cut))


def _bars(sentences: list[_Sentence], left: Tensor, settings: DecodingSettings) -> Tensor:
    """The log-probability (B, 1) that a row of each source must have to beat what is found.

    Each further token lowers the log-probability, and a longer output divides it by more, so the best
    that a row can reach is its log-probability now over the penalty of the longest output.
    """
    bars = [
        sentences[place].bar * sentences[place].limit ** settings.length_penalty for place in left.tolist()
    ]
    return torch.tensor(bars, device=left.device).unsqueeze(1)
