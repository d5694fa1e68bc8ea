"""Work side by side: several processes, each with one thread of PyTorch, take tasks from one list."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar, cast

import torch

from seq2see.decoding.threads import one_thread
from seq2see.errors import RunError

__all__ = ["cores", "side_by_side"]

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Tell = Callable[[str], None]


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(
    work: Callable[[Task, Tell], Answer], tasks: Sequence[Task], jobs: int, tell: Tell
) -> Iterator[tuple[int, Answer]]:
    """The number of each task and what came of it, as they get done.

    A task has one thread whatever `jobs` is, so that numbers are the same alone and beside others. One job
    is done in this process; for several, `work`, tasks and answers go from process to process.
    """
    if jobs == 1 or len(tasks) < 2:
        for number, task in enumerate(tasks):
            with one_thread():
                answer = work(task, tell)
            yield number, answer
        return
    context = multiprocessing.get_context("spawn")
    workers = {}
    waiting = iter(enumerate(tasks))
    try:
        for _, first in zip(range(jobs), waiting, strict=False):
            ours, theirs = context.Pipe()
            workers[ours] = context.Process(target=_work, args=(theirs, work), daemon=True)
            workers[ours].start()
            theirs.close()
            ours.send(first)
        busy = list(workers)
        while busy:
            for pipe in cast("list[Connection]", wait(busy)):
                kind, value = _received(pipe)
                if kind == "told":
                    tell(value)
                    continue
                if kind == "failed":
                    raise value
                if (following := next(waiting, None)) is not None:
                    pipe.send(following)
                else:
                    busy.remove(pipe)
                yield value
    finally:
        for pipe, process in workers.items():
            pipe.close()
            process.terminate()
        for process in workers.values():
            process.join()


def _received(pipe: Connection) -> tuple[str, Any]:
    try:
        message: tuple[str, Any] = pipe.recv()
    except (EOFError, ConnectionError):
        raise RunError(
            "a process was ended from outside, perhaps for want of memory; try fewer with --jobs. "
            "What was finished is kept"
        ) from None
    return message


def _work(pipe: Connection, work: Callable[[Task, Tell], Answer]) -> None:
    """Do what comes through the pipe until it is closed."""
    # Ctrl-C in a terminal reaches every process; the one that was started by the user decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    while True:
        try:
            number, task = pipe.recv()
            answer = work(task, lambda line: pipe.send(("told", line)))
            pipe.send(("done", (number, answer)))
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return
        except Exception as error:
            pipe.send(("failed", error))
            return
