"""Engines, which search for outputs: our own loop, or another program that finds the same outputs faster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from seq2see.data.sides import Side
from seq2see.decoding.bulk import search_all
from seq2see.decoding.requests import Hypothesis
from seq2see.decoding.settings import DecodingSettings
from seq2see.layers.attention import Watch
from seq2see.models.contracts import Generator

__all__ = ["Engine", "OwnLoop", "Work"]


@dataclass(frozen=True)
class Work:
    """Sources to find outputs for, and how."""

    sources: Sequence[Sequence[Any]]
    limits: Sequence[int]
    """The most tokens of each output."""
    settings: DecodingSettings
    keys: Sequence[int] = field(default=())
    """Names of the sources for the random numbers of sampling."""
    prefix: Sequence[int] = ()
    """Tokens that every output begins with."""
    scored: bool = True
    """Whether log-probabilities are wanted."""
    watching: Callable[[], Watch] | None = None
    """Makes a watcher of attention for each batch."""
    collate: Callable[[Sequence[Sequence[Any]]], Side] | None = None
    """Puts sources side by side; ids are filled up with padding where nothing else is said."""
    firsts: Sequence[int] = ()
    """What outputs begin after, in place of the begin symbol: each source has an output for each of them."""


class Engine(Protocol):
    """Finds the outputs of a window of sources."""

    window: int
    """How many sources it is given at a time."""
    ahead: int
    """How many further windows it is given while one is waited for, so that it is never idle."""

    def takes(self, work: Work) -> bool:
        """Whether it finds the outputs that our own loop would find."""

    def start(self, work: Work) -> Callable[[], list[list[Hypothesis] | None]]:
        """Begin; the returned function waits for the hypotheses, with None where our own loop must search."""


class OwnLoop:
    """The search of this package, which can do everything."""

    window = 4096
    ahead = 0

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def takes(self, work: Work) -> bool:
        """Our own loop can do everything."""
        return True

    def start(self, work: Work) -> Callable[[], list[list[Hypothesis] | None]]:
        """Nothing is done before the returned function is called, which searches."""
        return lambda: list(
            search_all(
                self._generator,
                work.sources,
                work.limits,
                work.settings,
                work.prefix,
                work.keys or None,
                work.scored,
                work.watching,
                work.collate,
                work.firsts,
            )
        )
