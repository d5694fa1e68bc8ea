"""Windows of a stream."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from seq2see.decoding.engine import Engine

__all__ = ["in_windows", "take"]

T = TypeVar("T")
Found = TypeVar("Found")


def take(stream: Iterator[T], size: int, ready: Callable[[], bool]) -> list[T]:
    """The next items of a stream: so many at the most, and none that would have to be waited for."""
    taken: list[T] = []
    for item in stream:
        taken.append(item)
        if len(taken) == size or not ready():
            break
    return taken


def in_windows(
    items: Iterable[T],
    engine: Engine,
    ready: Callable[[], bool],
    start: Callable[[list[T], int], Callable[[], list[Found]]],
) -> Iterator[Found]:
    """What is found for each item of a stream, in order.

    A stream is taken in windows that grow, so that the first outputs come soon and the rest come fast.
    `start` gets a window and the number of items before it, and gives back what waits for its outputs.
    """
    stream = iter(items)
    size, done = engine.window if isinstance(items, Sequence) else 16, 0
    started: deque[Callable[[], list[Found]]] = deque()
    while taken := take(stream, size, ready):
        started.append(start(taken, done))
        done += len(taken)
        size = min(engine.window, size * 4 * (1 + 3 * engine.ahead))
        while len(started) > engine.ahead or (started and not ready()):
            yield from started.popleft()()
    for wait in started:
        yield from wait()
