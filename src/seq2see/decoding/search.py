"""One search for every model and every way to choose tokens, which requests can join while it runs."""

from collections.abc import Sequence

import torch

from seq2see.decoding.group import Follow, Group
from seq2see.decoding.requests import Event, Hypothesis, Request
from seq2see.decoding.settings import DecodingSettings
from seq2see.layers.attention import Watch
from seq2see.models.contracts import Generator, Memory

__all__ = ["Follow", "Search", "search"]


class Search:
    """Finds outputs for requests, a step at a time; those with equal settings share each step."""

    def __init__(
        self,
        generator: Generator,
        scored: bool = True,
        watch: Watch | None = None,
        follow: Follow | None = None,
    ) -> None:
        """Without `scored`, greedy searches leave out log-probabilities; `follow` is told of every choice."""
        self._generator, self._scored = generator, scored
        self._watch, self._follow = watch, follow
        self._groups: list[Group] = []

    @property
    def active(self) -> int:
        """How many requests are not finished."""
        return sum(group.active for group in self._groups)

    @torch.inference_mode()
    def admit(self, memory: Memory | None, requests: Sequence[Request]) -> None:
        """Begin requests, whose encoded sources are in the same order; those that are running go on."""
        waiting = list(range(len(requests)))
        while waiting:
            settings = requests[waiting[0]].settings
            rows = [row for row in waiting if requests[row].settings == settings]
            waiting = [row for row in waiting if requests[row].settings != settings]
            some = memory
            if memory is not None and len(rows) < len(requests):
                some = memory.select(torch.tensor(rows, device=memory.states.device))
            here = [requests[row] for row in rows]
            group = Group(self._generator, some, here, self._scored, self._watch, self._follow)
            running = [one for one in self._groups if one.settings == settings]
            if running:
                running[0].join(group)
            else:
                self._groups.append(group)

    @torch.inference_mode()
    def step(self) -> list[Event]:
        """Choose one more token for everything that is not finished, and tell what happened."""
        events = [event for group in self._groups for event in group.step()]
        self._groups = [group for group in self._groups if group.active]
        return events


def search(
    generator: Generator,
    memory: Memory | None,
    limits: Sequence[int],
    settings: DecodingSettings,
    prefixes: Sequence[Sequence[int]] | None = None,
    keys: Sequence[int] | None = None,
    watch: Watch | None = None,
    scored: bool = True,
    least: int = 1,
    follow: Follow | None = None,
    prompt: Sequence[int] = (),
    open_ended: bool = False,
    firsts: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """The best hypotheses for each encoded source, best first, from a search that all of them begin together.

    The search ends when fewer than `least` sources are left, and has no hypotheses for those. A prompt is
    read in place of the begin symbol; `firsts` are such prompts of one token, one for each source.
    """
    prompts = [(first,) for first in firsts] if firsts is not None else [tuple(prompt)] * len(limits)
    requests = [
        Request(settings, limit, tuple(prefix), key, read, begins=not read, open_ended=open_ended)
        for limit, prefix, key, read in zip(
            limits, prefixes or [()] * len(limits), keys or range(len(limits)), prompts, strict=True
        )
    ]
    running = Search(generator, scored, watch, follow)
    running.admit(memory, requests)
    found: dict[Request, list[Hypothesis]] = {}
    while running.active >= max(1, least):
        events = running.step()
        found |= {event.request: event.hypotheses for event in events if event.hypotheses is not None}
    return [found.get(request, []) for request in requests]
