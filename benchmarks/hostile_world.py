"""The world of `benchmarks/chaos.py`: a run to disturb, ways to do so, and how what is left is judged."""

import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.forked import Child, Ended, start
from seq2see.models.weights import read_tensors

__all__ = [
    "SETTINGS",
    "STEPS",
    "LostError",
    "World",
    "at",
    "build",
    "compare",
    "die",
    "ends_the_same",
    "expect",
    "fail",
    "same_or_refused",
]

STEPS = 14
SETTINGS = (
    *("model.width=8", "model.encoder.layers=1", "model.decoder.layers=1", "model.encoder.heads=2"),
    *("model.decoder.heads=2", "model.encoder.feedforward=8", "model.decoder.feedforward=8"),
    *("training.batch_pairs=8", "training.evaluate_every=4", "training.save_every=3"),
    *("training.dev_examples=5", "training.average=3"),
)
WRITES = ("open", "os.rename", "os.remove", "os.mkdir")


class LostError(Exception):
    """Something good was lost, or something bad passed in silence."""


@dataclass
class World:
    """A folder with data, the run that nobody disturbed, one that was killed half-way, and a clean cache."""

    folder: Path
    draw: random.Random
    seconds: float = 0.0
    """How long training takes."""
    writes: int = 0
    """How often training changes the disk."""
    commands: int = 0

    @property
    def run(self) -> Path:
        """The run that is disturbed."""
        return self.folder / "run"

    @property
    def data(self) -> Path:
        """What it is trained on."""
        return self.folder / "pairs.tsv"

    def train(self, out: Path | None = None, *more: str, **how: object) -> Child:
        """Begin to train."""
        options = [word for setting in SETTINGS for word in ("--set", setting)]
        where = ["--out", str(out or self.run)]
        return self.command(
            "train", str(self.data), *where, "--max-steps", str(STEPS), *options, *more, **how
        )

    def command(self, *words: str, **how: object) -> Child:
        """Begin any command."""
        self.commands += 1
        cache = {"SEQ2SEE_CACHE": str(self.folder / "cache")}
        place = self.folder / "said" / str(self.commands)
        return start(words, place, self.folder, environment=cache, **how)  # type: ignore[arg-type]

    def begin(self, state: str) -> None:
        """Put the run into a state: nothing there yet, "half" or "whole"."""
        shutil.rmtree(self.run, ignore_errors=True)
        if state != "nothing":
            shutil.copytree(self.folder / state, self.run)


def build(folder: Path, seed: int) -> World:
    """Make the world of a seed."""
    world = World(folder, random.Random(seed))
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    world.data.write_text("".join(f"{word}\t{' '.join(reversed(word))}\n" for word in words))
    counter = folder / "writes"
    began = time.perf_counter()
    expect(world.train(folder / "whole", first=lambda: _count(folder, counter)).wait(), 0)
    world.seconds, world.writes = time.perf_counter() - began, len(counter.read_bytes())
    expect(world.train(folder / "half", first=lambda: at(folder, world.writes // 2, die)).wait(), -9)
    shutil.copytree(folder / "cache", folder / "cache-whole")
    return world


# Faults of a command, set up in its process before it begins.


def _hook(folder: Path, act: Callable[[], object]) -> None:
    """Call `act` whenever the disk is about to change below the folder."""

    def notice(event: str, arguments: tuple[object, ...]) -> None:
        if event not in WRITES:
            return
        path, mode, flags = (*arguments, None, None)[:3]
        if not isinstance(path, str | Path) or not str(path).startswith(str(folder)):
            return
        if event == "open" and not (isinstance(mode, str) and set(mode) & set("wax+")):
            opened = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            if mode is not None or not opened:
                return
        act()

    sys.addaudithook(notice)


def _count(folder: Path, counter: Path) -> None:
    file = os.open(counter, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    _hook(folder, lambda: os.write(file, b"."))


def at(folder: Path, place: int, act: Callable[[], object], always: bool = False) -> None:
    """Act when the disk changes for the `place`-th time, and perhaps at all later times too."""
    seen = 0

    def count() -> None:
        nonlocal seen
        seen += 1
        if seen == place or (always and seen > place):
            act()

    _hook(folder, count)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number: int) -> Callable[[], None]:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


# Judging.


def expect(ended: Ended, *codes: int) -> Ended:
    """A command ended in one of these ways, and said so in sentences."""
    problem = "hung" if ended.hung else "" if ended.code in codes else f"exit code {ended.code}"
    if not problem and ("Traceback" in ended.err or "a defect in seq2see" in ended.err):
        problem = "a traceback"
    if not problem and ended.code in (1, 2) and "error:" not in ended.err:
        problem = "no sentence"
    if problem:
        raise LostError(f"{problem}: {ended.err[-1500:]}")
    return ended


def ends_the_same(world: World) -> None:
    """The run goes on to the end that nobody disturbed."""
    expect(world.train(None, "--resume").wait(), 0)
    compare(world, world.run)


def compare(world: World, run: Path) -> None:
    """Two runs have the same weights, state and tokenizers."""
    for name in ("model.safetensors", "state/training.safetensors"):
        (one, about), (other, other_about) = (
            read_tensors(world.folder / "whole" / name),
            read_tensors(run / name),
        )
        if one.keys() != other.keys() or not all(one[key].equal(other[key]) for key in one):
            raise LostError(f"{name} is different at the end")
        if about.get("about") != other_about.get("about"):
            raise LostError(f"{name} says something else: {about} {other_about}")


def same_or_refused(world: World, undo: Callable[[], object]) -> str:
    """After damage: the same end at once, or a refusal, and the same end once the damage is undone."""
    said = expect(world.command("predict", str(world.run), str(world.folder / "words.txt")).wait(), 0, 1, 2)
    if said.code == 0 and said.out != world.folder.joinpath("said.txt").read_text():
        raise LostError("predict said something else than before")
    ended = expect(world.train(None, "--resume").wait(), 0, 1, 2)
    verdict = "the same end"
    if ended.code:
        undo()
        verdict = "refused"
    ends_the_same(world)
    return verdict
