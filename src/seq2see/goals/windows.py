"""Windows of a stream."""

from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["take"]

T = TypeVar("T")


def take(stream: Iterator[T], size: int, ready: Callable[[], bool]) -> list[T]:
    """The next items of a stream: so many at the most, and none that would have to be waited for."""
    taken: list[T] = []
    for item in stream:
        taken.append(item)
        if len(taken) == size or not ready():
            break
    return taken
