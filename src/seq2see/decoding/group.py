"""Requests with the same settings, which share every step of a search."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.decoding.choosers import Chooser, Chosen, make_chooser
from seq2see.decoding.filters import Filters
from seq2see.decoding.ranking import Ranking
from seq2see.decoding.requests import Event, Request
from seq2see.errors import RunError
from seq2see.layers.attention import Watch, harden
from seq2see.models.contracts import Generator, Memory, Prefix, State

__all__ = ["Follow", "Group"]

_CHUNK = 1 << 18
"""Logits that are summed up together: as many as a processor's cache holds."""
_CROWDED = 0.8
"""Finished sources are taken out of the batch only when no more than this share of all is unfinished."""
_OFTEN = 16
"""Steps from one look at whether scores are numbers to the next; a search without numbers would not end."""

Follow = Callable[[Tensor, Tensor | None, Tensor, Chosen], None]
"""Called at every step with the logits (B, W, V), their log-sum-exp (B, W), the log-probability of each row
before the step (B, W), and what was chosen."""


class Group:
    """Some sources with W unfinished outputs each (rows), and all that a step needs to know of them.

    Outputs are aligned on the right: all rows write the same column in a step. A source that joined later
    begins at a later column. `time` is the number of columns.
    """

    def __init__(
        self,
        generator: Generator,
        memory: Memory | None,
        requests: Sequence[Request],
        scored: bool = True,
        watch: Watch | None = None,
        follow: Follow | None = None,
    ) -> None:
        self.settings = requests[0].settings
        self._generator, self._follow = generator, follow
        self._watch = _hard(watch) if self.settings.hard_attention else watch
        device, special = generator.device, generator.special
        self._end = special.end
        self._chooser: Chooser = make_chooser(self.settings, requests, device, scored)
        self._rankings = [Ranking(request) for request in requests]
        self._going = [True] * len(requests)
        in_beam = self.settings.beam > 1 and not self.settings.sample
        self._streams = not in_beam and any(request.streams for request in requests)
        self._open = any(request.open_ended or request.stops for request in requests)
        # Whoever watches or follows is told of every step: then prefixes are forced token by token.
        stepwise = watch is not None or follow is not None
        read = [() if stepwise else _readable(request, special.end) for request in requests]
        self._time = max(map(len, read))
        self._starts = [self._time - len(tokens) for tokens in read]
        forced = [
            {self._time + number: token for number, token in enumerate(request.prefix[len(tokens) :], 1)}
            for request, tokens in zip(requests, read, strict=True)
        ]
        # An output that may be left open has no deadline: it is cut off, where others are made to end.
        deadlines = [
            start + request.limit + request.open_ended
            for start, request in zip(self._starts, requests, strict=True)
        ]
        self._filters = Filters(special, deadlines, forced, device)
        self._begin(memory, [_opening(request, special.begin) for request in requests], read)

    def _begin(
        self, memory: Memory | None, prompts: Sequence[tuple[int, ...]], read: Sequence[tuple[int, ...]]
    ) -> None:
        """Read what stands before each output, and its prefix, but for the last token of both."""
        device, padding = self._generator.device, self._generator.special.pad
        rows = [(*prompt, *tokens) for prompt, tokens in zip(prompts, read, strict=True)]
        prefix = Prefix.of([row[:-1] for row in rows], padding, device)
        totals = torch.zeros(len(rows), device=device)
        self._state: State
        if self._chooser.scored and any(read):
            logits, self._state = self._generator.prefill(memory, prefix, self._watch)
            said = Prefix.of([row[1:] for row in rows], padding, device)
            totals = _prefix_totals(logits.float(), said, [len(prompt) - 1 for prompt in prompts])
        else:
            self._state = self._generator.begin(memory, prefix, self._watch)
        columns = [[*[padding] * (self._time - len(tokens)), *tokens] for tokens in read]
        self._outputs = torch.tensor(columns, dtype=torch.long, device=device).view(len(rows), 1, self._time)
        self._tokens = torch.tensor([row[-1:] for row in rows], device=device)
        self._totals = totals.unsqueeze(1)
        if (width := self._chooser.width_at_start) > 1:
            self._totals, self._tokens = self._totals.expand(-1, width), self._tokens.expand(-1, width)
            self._outputs = self._outputs.expand(-1, width, -1)
            self._state = self._state.move(torch.arange(len(read), device=device).repeat_interleave(width))

    @property
    def active(self) -> int:
        """How many requests are not finished."""
        return sum(self._going)

    def step(self) -> list[Event]:
        """Choose a token for every row, and tell what happened."""
        width = self._tokens.shape[1]
        logits, self._state = self._generator.step(self._tokens.flatten(), self._state, self._watch)
        logits = logits.float().view(*self._tokens.shape, -1)  # (B, W, V)
        norms = log_normalisers(logits) if self._chooser.scored else None
        self._time += 1
        self._filters.apply(logits, self._time, self._going)
        chosen = self._chooser.choose(logits, norms, self._totals, self._lengths())
        if self._time % _OFTEN == 0 and bool(chosen.totals.isnan().any()):
            raise _no_numbers()
        if self._follow is not None:
            self._follow(logits, norms, self._totals, chosen)
        told = ended = (chosen.tokens == self._end) & (chosen.totals > -float("inf"))
        if self._open and (stopped := self._stopped(chosen, ended)):
            ended = ended.clone()
            ended[tuple(zip(*stopped, strict=True))] = True
        some_ended = bool(ended.any())
        if some_ended:
            self._note(chosen, ended)
        events = self._streamed(chosen, told) if self._streams else []
        self._continue(chosen, ended if some_ended else None, width)
        if some_ended or max(width, self._tokens.shape[1]) > 1:
            events += self._drop_finished()
        return events

    def join(self, other: "Group") -> None:
        """Admit the sources of a group that has not made a step."""
        if (width := self._tokens.shape[1]) > other._tokens.shape[1]:
            other._widen(width)
        self._shift(max(0, other._time - self._time))
        other._shift(max(0, self._time - other._time))
        self._state = self._state.join(other._state)
        self._tokens = torch.cat([self._tokens, other._tokens])
        self._totals = torch.cat([self._totals, other._totals])
        self._outputs = torch.cat([self._outputs, other._outputs])
        self._rankings += other._rankings
        self._going += other._going
        self._streams |= other._streams
        self._open |= other._open
        self._starts += other._starts
        self._chooser.join(other._chooser)
        self._filters.join(other._filters)

    def _lengths(self) -> int | Tensor:
        """The number of tokens of each output, the next one counted: one for all sources, or one for each."""
        first = self._starts[0]
        if all(start == first for start in self._starts):
            return self._time - first
        return self._time - torch.tensor(self._starts, device=self._tokens.device)

    def _note(self, chosen: Chosen, ended: Tensor) -> None:
        """Rank the outputs that have ended."""
        sources = ended.nonzero()[:, 0]
        found = zip(
            sources.tolist(),
            self._outputs[sources, chosen.rows[ended]].tolist(),
            chosen.tokens[ended].tolist(),
            chosen.totals[ended].tolist(),
            strict=True,
        )
        for source, columns, token, total in found:
            log_probability = total if self._chooser.scored else math.nan
            last = [token] if token != self._end else []
            self._rankings[source].add([*columns[self._starts[source] :], *last], log_probability)

    def _stopped(self, chosen: Chosen, ended: Tensor) -> list[tuple[int, int]]:
        """Sources and rows of the outputs that end here without an end symbol, as their request wants it."""
        found = []
        for source, request in enumerate(ranking.request for ranking in self._rankings):
            full = request.open_ended and self._time - self._starts[source] >= request.limit
            if not self._going[source] or not (full or request.stops):
                continue
            alive = (chosen.totals[source] > -float("inf")) & ~ended[source]
            for row in alive.nonzero()[:, 0].tolist():
                if full or self._asks_to_stop(request, source, chosen, row):
                    found.append((source, row))
        return found

    def _asks_to_stop(self, request: Request, source: int, chosen: Chosen, row: int) -> bool:
        before = self._outputs[source, chosen.rows[source, row], self._starts[source] :].tolist()
        return request.stops is not None and request.stops([*before, int(chosen.tokens[source, row])])

    def _continue(self, chosen: Chosen, ended: Tensor | None, width: int) -> None:
        """Make the chosen continuations the rows of the next step; those that cannot win are given up."""
        totals = chosen.totals
        if ended is not None:
            totals = totals.masked_fill(ended, -float("inf"))
        if max(width, chosen.tokens.shape[1]) > 1:
            if not self.settings.sample:
                bars = torch.tensor([ranking.bar for ranking in self._rankings], device=totals.device)
                totals = totals.masked_fill(totals <= bars.unsqueeze(1), -float("inf"))
            columns = self._outputs.shape[2]
            self._outputs = self._outputs.gather(1, chosen.rows.unsqueeze(2).expand(-1, -1, columns))
            firsts = torch.arange(len(totals), device=totals.device).unsqueeze(1) * width
            self._state = self._state.move((firsts + chosen.rows).flatten())
        self._outputs = torch.cat([self._outputs, chosen.tokens.unsqueeze(2)], 2)
        self._tokens, self._totals = chosen.tokens, totals

    def _drop_finished(self) -> list[Event]:
        """Report the sources that are done, and drop them when that is worth copying the others."""
        going = (self._totals > -float("inf")).any(1).tolist()
        events = [
            Event(ranking.request, hypotheses=ranking.best())
            for ranking, was, goes in zip(self._rankings, self._going, going, strict=True)
            if was and not goes
        ]
        if not all(event.hypotheses for event in events):
            raise _no_numbers()  # every output ends somewhere, unless its score cannot be compared
        self._going = going
        left = [source for source, goes in enumerate(going) if goes]
        if left and len(left) <= _CROWDED * len(going):
            self._keep(left)
        return events

    def _keep(self, left: list[int]) -> None:
        sources = torch.tensor(left, device=self._tokens.device)
        self._state = self._state.keep(sources)
        self._tokens, self._totals = self._tokens[sources], self._totals[sources]
        self._outputs = self._outputs[sources]
        self._rankings = [self._rankings[source] for source in left]
        self._starts = [self._starts[source] for source in left]
        self._going = [True] * len(left)
        self._chooser.keep(sources)
        self._filters.keep(left)
        self._shift(-min(self._starts))

    def _shift(self, by: int) -> None:
        """Add unused columns before all outputs, or remove them."""
        if by:
            self._time += by
            self._starts = [start + by for start in self._starts]
            self._outputs = pad(self._outputs, (by, 0))
            self._filters.shift(by)

    def _widen(self, width: int) -> None:
        """Give each source, which has one row, so many copies of it, of which only the first counts."""
        sources = torch.arange(len(self._tokens), device=self._tokens.device)
        self._state = self._state.move(sources.repeat_interleave(width))
        self._tokens = self._tokens.expand(-1, width)
        self._outputs = self._outputs.expand(-1, width, -1)
        self._totals = pad(self._totals, (0, width - 1), value=-float("inf"))

    def _streamed(self, chosen: Chosen, ended: Tensor) -> list[Event]:
        """The tokens chosen for requests that want to be told of each."""
        wanted = [source for source, one in enumerate(self._rankings) if one.request.streams]
        alive = ((chosen.totals > -float("inf")) & ~ended).tolist()
        tokens = chosen.tokens.tolist()
        return [
            Event(self._rankings[source].request, token, copy)
            for source in wanted
            for copy, token in enumerate(tokens[source])
            if alive[source][copy]
        ]


def _no_numbers() -> RunError:
    return RunError("the model gives scores that are no numbers, so its weights are of no use; train again")


def log_normalisers(logits: Tensor) -> Tensor:
    """What to subtract from logits to make them log-probabilities, (B, W, V) -> (B, W)."""
    if logits.device.type != "cpu":
        return logits.logsumexp(-1)
    parts = logits.flatten(0, 1).split(max(1, _CHUNK // logits.shape[2]))
    return torch.cat([part.logsumexp(-1) for part in parts]).view(logits.shape[:2])


def _opening(request: Request, begin: int) -> tuple[int, ...]:
    """What is read before an output: at least one token."""
    return (begin, *request.prompt) if request.begins or not request.prompt else request.prompt


def _readable(request: Request, end: int) -> tuple[int, ...]:
    """As much of a prefix as can be read before any choice: within the limit, before an end symbol."""
    prefix = request.prefix[: request.limit - 1]
    return prefix[: prefix.index(end)] if end in prefix else prefix


def _prefix_totals(logits: Tensor, said: Prefix, starts: Sequence[int]) -> Tensor:
    """The log-probability of each row's tokens (B, T) from a start on, by the logits before each of them."""
    steps = logits.gather(2, said.tokens.unsqueeze(2))[..., 0] - log_normalisers(logits)
    first, end = (torch.tensor(bounds, device=steps.device)[:, None] for bounds in (starts, said.lengths))
    places = torch.arange(steps.shape[1], device=steps.device)
    return steps.masked_fill((places < first) | (places >= end), 0.0).sum(1)


def _hard(watch: Watch | None) -> Watch:
    """A watcher that puts all weight of cross-attention on one position, after another has changed it."""

    def look(address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        weights = watch(address, weights, mask) if watch is not None else weights
        return harden(weights) if address.endswith(".cross") else weights

    return look
