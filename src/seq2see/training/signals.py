"""Ctrl-C, SIGTERM and a lost connection (SIGHUP), noticed between two steps."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

__all__ = ["Interruption"]


class Interruption:
    """While entered, the first signal only sets `asked`; a second one interrupts at once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.asked: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)  # Windows has no SIGHUP
                ignored = name == "SIGHUP" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN  # nohup
                if number is not None and not ignored:
                    self._before[number] = signal.signal(number, self._notice)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _notice(self, number: int, frame: FrameType | None) -> None:
        if self.asked is not None:
            raise KeyboardInterrupt
        self.asked = number
        self._tell("finishing this step, then saving; once more stops at once")
