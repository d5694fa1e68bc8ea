"""A warm process that runs each command in a child of its own, in a copy of a small world of files and runs.

`tests/cli/test_fuzz_verbs.py` runs a few draws and `benchmarks/fuzz.py` thousands.
"""

import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from benchmarks.forked import run_main
from benchmarks.verb_draws import FILES, LINES, RUNS, SMALL, Draw

__all__ = ["Ran", "Warm", "make_world", "wrong_with"]

_VERBS = ("app", "check", "demo", "evaluate", "explore", "heads", "info", "ladder", "predict", "train")
_LARGE = (
    *(f"seq2see.cli.{verb}" for verb in _VERBS),
    *("matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "matplotlib.pyplot"),
    *("sklearn.feature_extraction.text", "tensorboard.summary.writer.event_file_writer"),
)
SECONDS = 30.0
"""A draw that takes longer has failed."""
_MEMORY = 3 << 30
"""Bytes that a child may have beside those of the warm process."""
_BEFORE_SIGNAL = 1.0
"""Seconds after which commands that go on until Ctrl-C get one."""
ENDLESS = ("explore", "demo")


@dataclass(frozen=True)
class Ran:
    """How a draw ended."""

    code: int
    err: str
    seconds: float
    megabytes: int


def wrong_with(draw: Draw, ran: Ran) -> str:
    """What must not be, if it is."""
    if ran.code not in (0, 1, 2, 130):
        return f"exit code {ran.code}"
    for sign in ("Traceback", "this is a defect", "Exception ignored", "Warning:"):
        if sign in ran.err:
            return f"{sign!r} on standard error"
    if ran.code == 2 and draw.stderr == "file" and "error: " not in ran.err:
        return "no word about what was wrong"
    if "\x1b" in ran.err:
        return "an escape byte on standard error"
    return f"{ran.seconds:.0f} seconds" if ran.seconds > SECONDS else ""


def make_world(folder: Path, run: Callable[[Draw, Path], Ran], names: Sequence[str] = RUNS) -> Path:
    """A folder with files, good ones and bad ones, a small run of each of these names, and broken runs."""
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    trained = {
        "generate": ("pairs.tsv", "--preset", "transformer-tiny"),
        "recurrent": ("pairs.tsv", "--preset", "rnn-attention"),
        "classify": ("classes.tsv", "--goal", "classify", "--preset", "reader-transformer"),
        "regress": ("numbers.tsv", "--goal", "regress"),
        "tag": ("tags.tsv", "--goal", "tag"),
    }
    for name in names:
        ran = run(Draw(["train", *trained[name], "--out", name, *SMALL]), folder)
        assert ran.code == 0, ran.err
    shutil.rmtree(folder / "cache")
    for name in ("no-weights", "nan", "cut", "half", "newer", "piped"):
        shutil.copytree(folder / "generate", folder / name)
    _break_weights(folder)
    (folder / "half" / "tokenizers" / next((folder / "half" / "tokenizers").iterdir()).name).write_text("{")
    recipe = folder / "newer" / "recipe.yaml"
    recipe.write_text(recipe.read_text().replace("version: 1", "version: 99"))
    (folder / "not-a-run").mkdir()
    return folder


def _break_weights(folder: Path) -> None:
    from seq2see.models.weights import read_tensors, write_tensors

    (folder / "no-weights" / "model.safetensors").unlink()
    tensors, about = read_tensors(folder / "nan" / "model.safetensors")
    name = next(name for name, one in tensors.items() if one.is_floating_point())
    write_tensors(
        folder / "nan" / "model.safetensors",
        {**tensors, name: tensors[name] * float("nan")},
        about,
    )
    whole = (folder / "cut" / "model.safetensors").read_bytes()
    (folder / "cut" / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    (folder / "piped" / "data.json").unlink()
    os.mkfifo(folder / "piped" / "data.json")


def _copy_world(world: Path, here: Path) -> None:
    def copy(source: str, target: str) -> None:
        if Path(source).is_fifo():
            os.mkfifo(target)
        else:
            shutil.copyfile(source, target)

    shutil.copytree(world, here, copy_function=copy, dirs_exist_ok=True)
    os.mkfifo(here / "pipe")


class Warm:
    """A process that has imported everything; it forks for each draw, which takes milliseconds."""

    def __init__(self) -> None:
        env = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env,
            cwd=Path(__file__).parent.parent,
        )  # fmt: skip

    def __enter__(self) -> "Warm":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, draw: Draw, folder: Path) -> Ran:
        """Run a draw in a folder."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([asdict(draw), str(folder)]).encode() + b"\n")
        self._process.stdin.flush()
        return Ran(*json.loads(self._process.stdout.readline()))

    def run_in(self, draw: Draw, world: Path) -> Ran:
        """Run a draw in a copy of a world."""
        with tempfile.TemporaryDirectory(dir=world.parent) as folder:
            _copy_world(world, Path(folder))
            return self.run(draw, Path(folder))


def _serve() -> None:
    """Answer requests until standard input ends."""
    for name in _LARGE:
        import_module(name)
    from seq2see import pipes

    pipes._PATIENCE = 0.3
    answers = os.fdopen(os.dup(1), "w")
    while line := sys.stdin.readline():
        values, folder = json.loads(line)
        ran = _run(Draw(**values), Path(folder))
        print(json.dumps(list(asdict(ran).values())), file=answers, flush=True)


def _run(draw: Draw, folder: Path) -> Ran:
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        child = os.fork()
        if not child:
            _become(draw, folder, errors)
        watched = os.pidfd_open(child)
        if draw.verb in ENDLESS and not select.select([watched], [], [], _BEFORE_SIGNAL)[0]:
            os.kill(child, signal.SIGINT)
        if not select.select([watched], [], [], SECONDS + 5)[0]:
            os.kill(child, signal.SIGKILL)
        os.close(watched)
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - began
        errors.seek(0)
        err = errors.read().decode("utf-8", "replace")
    return Ran(os.waitstatus_to_exitcode(status), err[-5000:], seconds, usage.ru_maxrss // 1024)


def _become(draw: Draw, folder: Path, errors: IO[bytes]) -> None:
    """In a child: run the command as a fresh process would, and end."""
    code = 99
    try:
        os.chdir(folder)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + _MEMORY, size + _MEMORY))
        os.environ["SEQ2SEE_CACHE"] = str(folder / "cache")
        if not draw.home:
            _lose_home()
        _redirect(draw, errors)
        code = run_main(draw.words, lambda text: os.write(errors.fileno(), text.encode()))
    finally:
        os._exit(code)


def _lose_home() -> None:
    import pwd

    def nobody(number: int) -> Any:
        raise KeyError(number)

    pwd.getpwuid = nobody
    for name in ("HOME", "SEQ2SEE_CACHE", "XDG_CACHE_HOME"):
        os.environ.pop(name, None)


def _redirect(draw: Draw, errors: IO[bytes]) -> None:
    lines = _pipe_of(b"abm\tM A\nbno\tO B\n\nab\x1bm\n" * 3)
    os.dup2(_pipe_of(LINES.encode()), 9)
    inputs: dict[str, int | str] = {
        "pipe": lines,
        "null": "/dev/null",
        "binary": "binary.tsv",
        "zero": "/dev/zero",
        "lines": "pairs.tsv",
    }
    outputs = {"file": "standard-output", "full": "/dev/full"}
    given = inputs.get(draw.stdin)
    chosen: list[int | None] = [
        None if given is None else given if isinstance(given, int) else os.open(given, os.O_RDONLY),
        *(_output(kind, outputs.get(kind), errors.fileno() if place else None)
          for place, kind in enumerate((draw.stdout, draw.stderr))),
    ]  # fmt: skip
    for number, opened in enumerate(chosen):
        if opened is None:
            os.close(number)
        else:
            os.dup2(opened, number)
    streams = [None if opened is None else open(number, "r" if not number else "w", closefd=False)  # noqa: SIM115
               for number, opened in enumerate(chosen)]  # fmt: skip
    sys.stdin, sys.stdout, sys.stderr = streams
    if sys.stderr is not None:
        sys.stderr.reconfigure(errors="backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc]


def _output(kind: str, name: str | None, file: int | None) -> int | None:
    if kind == "closed":
        return None
    if kind == "broken":
        reading, writing = os.pipe()
        os.close(reading)
        return writing
    if kind == "file" and file is not None:
        return file
    assert name is not None
    return os.open(name, os.O_WRONLY | os.O_CREAT)


def _pipe_of(content: bytes) -> int:
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return reading


if __name__ == "__main__":
    _serve()
