"""How many threads an operation of PyTorch uses: a number of the whole process, lent out under a lock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]


class _Threads:
    """The number of threads before the first borrower set it to one, and how many borrowers there are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._borrowers = 0
        self._before = 1
        self._own = threading.local()

    def borrow(self) -> bool:
        """Let operations of this thread use one thread; False if they do already, whatever others do."""
        with self._lock:
            if self._borrowers == 0:
                if torch.get_num_threads() == 1:
                    return False
                self._before = torch.get_num_threads()
            self._borrowers += 1
            self._own.depth = getattr(self._own, "depth", 0) + 1
            torch.set_num_threads(1)
            return True

    def give_back(self) -> None:
        """Restore the number, for this thread and for those that are yet to begin."""
        with self._lock:
            self._borrowers -= 1
            self._own.depth -= 1
            # The number belongs to each thread that has begun, so every borrower restores its own.
            if self._own.depth == 0:
                torch.set_num_threads(self._before)


_threads = _Threads()


@contextmanager
def one_thread() -> Iterator[None]:
    """Leave the other cores to whoever works beside; any threads may do so at the same time."""
    borrowed = _threads.borrow()
    try:
        yield
    finally:
        if borrowed:
            _threads.give_back()
