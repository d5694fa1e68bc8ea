"""Many sources of any length: in batches of similar length, several at a time, with the stragglers last."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch

from seq2see.data.columns.contract import fill
from seq2see.data.sides import Side
from seq2see.decoding.requests import Hypothesis
from seq2see.decoding.search import search
from seq2see.decoding.settings import DecodingSettings
from seq2see.decoding.threads import one_thread
from seq2see.layers.attention import Watch
from seq2see.models.contracts import Generator

__all__ = ["by_length", "search_all"]

_LATE = 16
"""A batch stops when one in this many of its sources is unfinished; those are decoded together at the end."""
_FEW = 8
"""This many rows or fewer are decoded as fast by one thread as by two."""
_LEAST = 1024
"""Batches are not made smaller than this many tokens to give every worker one: it does not pay."""


def search_all(
    generator: Generator,
    sources: Sequence[Sequence[Any]],
    limits: Sequence[int],
    settings: DecodingSettings,
    prefix: Sequence[int] = (),
    keys: Sequence[int] | None = None,
    scored: bool = True,
    watching: Callable[[], Watch] | None = None,
    collate: Callable[[Sequence[Sequence[Any]]], Side] | None = None,
    firsts: Sequence[int] = (),
) -> list[list[Hypothesis]]:
    """The best hypotheses for each source, as `search` finds them.

    With `firsts`, every source is encoded once, and an output that begins after each of them is searched
    for: all of the first source come first, then those of the second.

    On a CPU, workers with one thread each take the batches: the many small operations of a step hardly gain
    from a second thread. The few sources of a batch that go on and on are left over, and decoded together.
    Each batch is watched by a watcher of its own.
    """
    device = generator.device
    names = keys if keys is not None else range(len(sources))
    each = max(1, len(firsts))
    found: list[list[Hypothesis]] = [[] for _ in range(len(sources) * each)]
    together = collate or (lambda rows: Side(*fill(rows, generator.special.pad)))

    def find(wanted: list[int], least: int = 1) -> list[int]:
        """Find some of the outputs, which are numbered source by source; those left over are given back."""
        owners = [number // each for number in wanted]
        rows = list(dict.fromkeys(owners))
        watch = watching() if watching is not None else None
        with torch.inference_mode():
            read = together([sources[row] for row in rows]).to(device)
            memory = generator.encode({"source": read}, watch)
            if firsts:
                places = {row: place for place, row in enumerate(rows)}
                memory = memory.select(torch.tensor([places[row] for row in owners], device=device))
        here = search(
            generator,
            memory,
            [limits[row] for row in owners],
            settings,
            [prefix] * len(wanted),
            [names[row] for row in owners],
            watch,
            scored,
            least=least,
            firsts=[firsts[number % each] for number in wanted] if firsts else None,
        )
        for number, hypotheses in zip(wanted, here, strict=True):
            found[number] = hypotheses
        return [number for number in wanted if not found[number]]

    def outputs_of(rows: Iterable[int]) -> list[int]:
        return [row * each + number for row in rows for number in range(each)]

    workers = torch.get_num_threads() if device.type == "cpu" else 1
    width = settings.nbest if settings.sample else settings.beam
    budget = settings.batch_tokens // (width * each)
    share = sum(map(len, sources)) // (2 * workers)
    batches = list(by_length(sources, range(len(sources)), min(budget, max(_LEAST, share))))
    if len(batches) == 1:
        # Two threads that wait for each other after every small product are slower than one.
        with one_thread() if len(found) * width <= _FEW else nullcontext():
            find(outputs_of(batches[0]))
        return found
    late = _work(
        lambda wanted: find(wanted, least=1 + len(wanted) // _LATE), list(map(outputs_of, batches)), workers
    )
    last = by_length(sources, dict.fromkeys(number // each for number in late), budget)
    left = set(late)
    _work(find, [[number for number in outputs_of(rows) if number in left] for rows in last], workers)
    return found


def by_length(ids: Sequence[Sequence[Any]], rows: Iterable[int], budget: int) -> Iterator[list[int]]:
    """Rows in batches of similar length, longest first, each within the budget, padding counted."""
    order = sorted(rows, key=lambda row: -len(ids[row]))
    start = 0
    while start < len(order):
        count = max(1, budget // max(1, len(ids[order[start]])))
        yield order[start : start + count]
        start += count


def _work(find: Callable[[list[int]], list[int]], batches: list[list[int]], workers: int) -> list[int]:
    """Find the outputs of all batches; give back the rows that were left over."""
    if workers == 1 or len(batches) < 2:
        return [row for rows in batches for row in find(rows)]
    with (
        one_thread(),
        ThreadPoolExecutor(workers, initializer=partial(torch.set_num_threads, 1)) as pool,
    ):
        return [row for rows in pool.map(find, batches) for row in rows]
