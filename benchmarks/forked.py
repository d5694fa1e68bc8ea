"""The real command line in forked children: hundreds of commands without hundreds of start-ups.

The parent imports all that a command needs, once and with one thread; each command then runs in a child of
its own, with its own standard streams, folder, process group and limits, and ends as the real one would.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Child", "Ended", "prepare", "run_main", "start"]


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code (below 0 for a signal), what it said, its time and memory."""

    code: int
    out: str
    err: str
    seconds: float
    megabytes: int
    hung: bool = False


@dataclass
class Child:
    """A command that is running."""

    pid: int
    place: Path
    began: float

    def signal(self, number: int) -> None:
        """Send a signal to its process group, as a terminal does."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return

    def wait(self, seconds: float = 120.0) -> Ended:
        """Wait for its end; a command that takes longer is killed and counts as hung."""
        deadline, hung = self.began + seconds, False
        while True:
            found, status, used = os.wait4(self.pid, os.WNOHANG)
            if found:
                break
            if time.perf_counter() > deadline and not hung:
                hung = True
                self.signal(signal.SIGKILL)
            time.sleep(0.005)
        out, err = ((self.place / name).read_text(errors="replace") for name in ("out", "err"))
        took = time.perf_counter() - self.began
        return Ended(os.waitstatus_to_exitcode(status), out, err, took, used.ru_maxrss // 1024, hung)


def prepare() -> None:
    """Import what commands need, so that children need not."""
    import torch

    torch.set_num_threads(1)

    import seq2see.cli.app
    import seq2see.lab.ladder
    import seq2see.workflow  # noqa: F401


def start(
    words: Sequence[str],
    place: Path,
    folder: Path,
    *,
    stdin: Path | None = Path(os.devnull),
    stderr: int | None = None,
    environment: Mapping[str, str] | None = None,
    first: Callable[[], None] | None = None,
) -> Child:
    """Run `seq2see WORDS` in `folder`; `place` keeps what it says, and `first` is called before it begins.

    Without `stdin` standard input is closed; `stderr` may be a pipe of the caller's.
    """
    place.mkdir(parents=True, exist_ok=True)
    for name in ("out", "err"):
        (place / name).write_bytes(b"")
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Child(pid, place, time.perf_counter())
    code = 70
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.environ.update(environment or {})
        _redirect(stdin, place, stderr)
        if first is not None:
            first()
        code = run_main(words, sys.stderr.write)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _redirect(stdin: Path | None, place: Path, stderr: int | None) -> None:
    write = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    os.dup2(os.open(place / "out", write, 0o600), 1)
    os.dup2(stderr if stderr is not None else os.open(place / "err", write, 0o600), 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    if stdin is None:
        os.close(0)
        sys.stdin = None  # as the interpreter does
    else:
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115


def run_main(words: Sequence[str], report: Callable[[str], object]) -> int:
    """The exit code of a command, as the interpreter would give it; `report` gets what it would say last."""
    from seq2see.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["seq2see", *words]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        report(traceback.format_exc())
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError) as error:
            report(f"Exception ignored {error}")
            code = 120
    return code
