"""One process at a time. The kernel frees a lock when its holder ends, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["held", "try_hold"]


@contextmanager
def try_hold(path: Path) -> Iterator[bool]:
    """Whether the lock is ours; it is then held until the end of the block, and leaves no file."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        _free(lock, path)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Wait for a lock, hold it during the block, and leave no file; a place without locks has none."""
    from filelock import FileLock

    lock = FileLock(path)
    with suppress(OSError):
        lock.acquire(poll_interval=0.02)
    try:
        yield
    finally:
        _free(lock, path)


def _free(lock: "FileLock", path: Path) -> None:
    if lock.is_locked:
        with suppress(OSError):
            path.unlink(missing_ok=True)  # one who waits for it sees that it is gone, and makes another
        lock.release()
