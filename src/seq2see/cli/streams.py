"""The three standard streams, as the shell left them: open, closed, full or broken."""

import io
import os
import sys
from contextlib import suppress

__all__ = ["open_streams", "shut_output"]


class _Heedless(io.FileIO):
    """Standard error: when nobody can read it any more, what is said there is dropped, and work goes on."""

    def write(self, content: object) -> int:
        """Write, or do as if."""
        try:
            return super().write(content)  # type: ignore[arg-type]
        except OSError:
            return len(content)  # type: ignore[arg-type]


def open_streams() -> None:
    """Put something in the place of streams that are closed, so that no file of ours gets their number.

    Reading from such an input and writing to such an output are refused, as they were before.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        with suppress(OSError):
            os.fstat(number)
            continue
        # The lowest number that is free is this one.
        os.open(os.devnull, flags)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Heedless(2, "w", closefd=False)),
            encoding=getattr(sys.stderr, "encoding", "utf-8"),
            errors="backslashreplace",
            line_buffering=True,
        )


def shut_output() -> None:
    """Write what waits in standard output; the interpreter must not try again when it ends.

    Raises OSError where that cannot be written.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
