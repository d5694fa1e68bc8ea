"""One loop that writes outputs token by token, for every model and every way to choose tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from seq2see.decoding.choosers import Beam, Candidates, Sampler
from seq2see.decoding.settings import DecodingSettings
from seq2see.layers.attention import Watch, harden
from seq2see.models import Memory, Seq2Seq
from seq2see.text import BEGIN, END, PAD, UNKNOWN

__all__ = ["Hypothesis", "search"]

_NEVER = (PAD, BEGIN, UNKNOWN)


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
    model: Seq2Seq,
    memory: Memory,
    limits: Sequence[int],
    settings: DecodingSettings,
    prefixes: Sequence[Sequence[int]] | None = None,
    keys: Sequence[int] | None = None,
    watch: Watch | None = None,
) -> list[list[Hypothesis]]:
    """The best hypotheses for each encoded source, best first.

    `limits` are the most tokens of each output, the end symbol counted; `keys` name each source for
    the random numbers of sampling, so that its samples do not depend on its neighbours.
    """
    device = memory.states.device
    sentences = [_Sentence(limit, settings.nbest) for limit in limits]
    chooser = (
        Sampler(settings, list(keys or range(len(sentences))), max(limits, default=1), device)
        if settings.sample
        else Beam(settings.beam)
    )
    watch = _hard(watch) if settings.hard_attention else watch
    forced = _forced(prefixes or [()] * len(sentences), device)
    owner = torch.arange(len(sentences), device=device).repeat_interleave(chooser.width_at_start)
    state = model.begin(memory.select(owner))
    tokens = torch.full_like(owner, BEGIN)
    totals = torch.zeros(len(owner), device=device)
    written = torch.empty(len(owner), 0, dtype=torch.long, device=device)
    limit = torch.tensor(limits, device=device)
    length = 0
    while len(owner):
        logits, state = model.step(tokens, state, watch)
        said = logits.float().log_softmax(-1)
        steps = said.clone()
        steps[:, _NEVER] = -float("inf")
        length += 1
        last = limit[owner] <= length
        _only(steps, said, last, torch.full_like(owner, END))
        if length <= forced.shape[1]:
            _only(steps, said, forced[owner, length - 1] != PAD, forced[owner, length - 1])
        chosen = chooser.choose(steps, totals, owner, length)
        over = chosen.tokens == END
        _finish(sentences, chosen, over, owner, written, last, settings, length)
        keep = ~over & _can_win(sentences, chosen, owner, settings)
        rows, tokens, totals = chosen.rows[keep], chosen.tokens[keep], chosen.totals[keep]
        written = torch.cat([written[rows], tokens[:, None]], 1)
        owner = owner[rows]
        state = state.select(rows)
        chooser.keep(rows)
    return [sentence.found[: sentence.wanted] for sentence in sentences]


def _hard(watch: Watch | None) -> Watch:
    """Attention on the source made hard, after whoever watches has had a say."""

    def look(address: str, weights: Tensor) -> Tensor:
        weights = watch(address, weights) if watch is not None else weights
        return harden(weights) if address.endswith(".cross") else weights

    return look


def _forced(prefixes: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Tokens that outputs must begin with, (B, longest prefix), padded."""
    longest = max(map(len, prefixes), default=0)
    rows = [[*prefix, *[PAD] * (longest - len(prefix))] for prefix in prefixes]
    return torch.tensor(rows, dtype=torch.long, device=device).view(len(prefixes), longest)


def _only(steps: Tensor, said: Tensor, where: Tensor, tokens: Tensor) -> None:
    """Leave one token possible in some rows; its log-probability stays what the model says."""
    if where.any():
        rows = where.nonzero()[:, 0]
        steps[rows] = -float("inf")
        steps[rows, tokens[rows]] = said[rows, tokens[rows]]


def _finish(
    sentences: list[_Sentence],
    chosen: Candidates,
    over: Tensor,
    owner: Tensor,
    written: Tensor,
    last: Tensor,
    settings: DecodingSettings,
    length: int,
) -> None:
    if not over.any():
        return
    rows = chosen.rows[over]
    for sentence, ids, total, cut in zip(
        owner[rows].tolist(),
        written[rows].tolist(),
        chosen.totals[over].tolist(),
        last[rows].tolist(),
        strict=True,
    ):
        score = total / length**settings.length_penalty
        sentences[sentence].add(Hypothesis(tuple(ids), total, score, cut))


def _can_win(
    sentences: list[_Sentence], chosen: Candidates, owner: Tensor, settings: DecodingSettings
) -> Tensor:
    """Which rows could still beat what is found.

    Each further token lowers the log-probability, and a longer output divides it by more, so the best
    that a row can reach is its log-probability now over the penalty of the longest output.
    """
    if settings.sample or not any(sentence.found for sentence in sentences):
        return torch.ones_like(chosen.rows, dtype=torch.bool)
    bars = torch.tensor([sentence.bar * sentence.limit**settings.length_penalty for sentence in sentences])
    return chosen.totals > bars.to(chosen.totals)[owner[chosen.rows]]
