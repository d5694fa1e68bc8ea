"""A hostile day: random faults against the real program, and what is left of a run after each of them.

A short training run is disturbed (killed, interrupted, its disk full, its files damaged or moved, its data
changed, its terminal closed, others at work in its place). Afterwards it must go on to an end that is the
same to the bit as that of a run that nobody disturbed, or refuse with a sentence; what was refused must go
on to that same end once the damage is undone. Exit code 1 if a fault lost something, or passed in silence.

    python -m benchmarks.chaos --seeds 1,2,3 --faults 100
"""

import argparse
import errno
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from benchmarks.forked import prepare
from benchmarks.hostile_world import (
    SETTINGS,
    STEPS,
    LostError,
    World,
    at,
    build,
    compare,
    die,
    ends_the_same,
    expect,
    fail,
    same_or_refused,
)

KEPT = ("recipe.yaml", "data.json", "digests.json", "tokenizers/*", "*.safetensors", "state/*")
"""Files that matter to a run; the record of steps, events and the card are for people."""


# Kinds of faults. Each gives a verdict, or raises `LostError`.


def signalled(world: World) -> str:
    """SIGKILL, SIGTERM, SIGHUP or Ctrl-C, once or twice, at any moment."""
    world.begin(world.draw.choice(("nothing", "half")))
    number = world.draw.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT))
    child = world.train(None, "--resume")
    time.sleep(world.draw.uniform(0, 1.1 * world.seconds))
    for _ in range(world.draw.choice((1, 1, 2))):
        child.signal(number)
        time.sleep(world.draw.uniform(0, 0.05))
    expect(child.wait(), 0, 130, 128 + number, -number)
    ends_the_same(world)
    return "the same end"


def killed_at_a_write(world: World) -> str:
    """SIGKILL just before the disk changes."""
    world.begin("nothing")
    place = world.draw.randint(1, world.writes)
    expect(world.train(first=lambda: at(world.folder, place, die)).wait(), -9, 0)
    ends_the_same(world)
    return "the same end"


def failing_disk(world: World) -> str:
    """A write fails, once or from then on: full, broken, forbidden."""
    world.begin(world.draw.choice(("nothing", "half")))
    place, number = (
        world.draw.randint(1, world.writes),
        world.draw.choice((errno.ENOSPC, errno.EIO, errno.EACCES)),
    )
    always = world.draw.random() < 0.5
    child = world.train(None, "--resume", first=lambda: at(world.folder, place, fail(number), always))
    expect(child.wait(), 0, 1, 2)
    ends_the_same(world)
    return "the same end"


def small_disk(world: World) -> str:
    """No file may grow beyond a limit."""
    world.begin(world.draw.choice(("nothing", "half")))
    most = int(10 ** world.draw.uniform(3.6, 5.5))  # what it says must fit too
    child = world.train(
        None, "--resume", first=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    )
    expect(child.wait(), 0, 1, 2)
    ends_the_same(world)
    return "the same end"


def closed_pipe(world: World) -> str:
    """Whoever reads standard error goes away; then perhaps Ctrl-C."""
    world.begin("nothing")
    reads, writes = os.pipe()
    child = world.train(stderr=writes)
    os.close(writes)
    if most := world.draw.choice((0, 1, 60)):
        os.read(reads, most)
    os.close(reads)
    interrupted = world.draw.random() < 0.5
    if interrupted:
        time.sleep(world.draw.uniform(0.2, 1) * world.seconds)
        child.signal(signal.SIGINT)
    expect(child.wait(), 0, *([130] if interrupted else []))
    ends_the_same(world)
    return "the same end"


def _a_file(world: World) -> Path:
    names = [path for pattern in KEPT for path in sorted(world.run.glob(pattern)) if path.is_file()]
    return world.draw.choice(names)


def _damage(path: Path, change: Callable[[bytearray], bytes]) -> Callable[[], object]:
    """Change a file; gives what undoes it."""
    before = path.read_bytes()
    path.write_bytes(change(bytearray(before)))
    return lambda: path.write_bytes(before)


def _flip(world: World) -> Callable[[bytearray], bytes]:
    def flip(content: bytearray) -> bytes:
        place = world.draw.randrange(8 * max(1, len(content)))
        if content:
            content[place // 8] ^= 1 << place % 8
        return bytes(content)

    return flip


def flipped_bit(world: World) -> str:
    """One bit of one file of a stopped or finished run."""
    world.begin(world.draw.choice(("half", "whole")))
    return same_or_refused(world, _damage(_a_file(world), _flip(world)))


def cut_off(world: World) -> str:
    """One file of a run is shorter than it was."""
    world.begin(world.draw.choice(("half", "whole")))
    return same_or_refused(
        world,
        _damage(_a_file(world), lambda content: bytes(content[: world.draw.randrange(len(content) + 1)])),
    )


def moved_file(world: World) -> str:
    """One file of a run is somewhere else."""
    world.begin(world.draw.choice(("half", "whole")))
    path, away = _a_file(world), world.folder / "away"
    path.rename(away)
    verdict = same_or_refused(world, lambda: away.rename(path))
    away.unlink(missing_ok=True)
    return verdict


def moved_run(world: World) -> str:
    """The run moves away while it is trained, and back."""
    world.begin("nothing")
    child = world.train()
    time.sleep(world.draw.uniform(0.1, 0.9) * world.seconds)
    away = world.folder / "away"
    if world.run.exists():
        world.run.rename(away)
    expect(child.wait(), 0, 1, 2)
    if away.exists():
        shutil.rmtree(world.run, ignore_errors=True)
        away.rename(world.run)
    ends_the_same(world)
    return "the same end"


def changed_data(world: World) -> str:
    """The data are not what they were, before or while training goes on."""
    state = world.draw.choice(("nothing", "half"))
    world.begin(state)
    before = world.data.read_bytes()
    changed = world.draw.choice((before[: len(before) // 2], before + b"new\tw e n\n"))
    child = world.train() if state == "nothing" else None
    if child is not None:
        time.sleep(world.draw.uniform(0, 0.5) * world.seconds)
    world.data.write_bytes(changed)
    if child is not None:
        expect(child.wait(), 0, 1, 2)
    ended = expect(world.train(None, "--resume").wait(), 0, 1, 2)
    world.data.write_bytes(before)
    if state == "half" and ended.code == 0:
        raise LostError("a run went on with other data")
    if state == "nothing" and ended.code == 0:  # all of it was trained on the new data, or all on the old
        return "trained on what was there"
    again = expect(world.train(None, "--resume").wait(), 0, 2)
    if again.code == 0:
        compare(world, world.run)
    return "refused"


def damaged_cache(world: World) -> str:
    """One bit of an encoded corpus."""
    world.begin("half")
    files = [path for path in sorted((world.folder / "cache").rglob("*")) if path.is_file()]
    _damage(world.draw.choice(files), _flip(world))
    ends_the_same(world)
    return "the same end"


def two_at_once(world: World) -> str:
    """Two processes go on with the same run."""
    world.begin("half")
    first = world.train(None, "--resume")
    time.sleep(world.draw.uniform(0, 0.5) * world.seconds)
    second = world.train(None, "--resume")
    codes = sorted(expect(child.wait(), 0, 2).code for child in (first, second))
    if codes[0] != 0:
        raise LostError("neither of two went on")
    compare(world, world.run)
    return "one writer" if codes[1] else "one after the other"


def readers_beside(world: World) -> str:
    """Others read a run while it is trained."""
    world.begin("half")
    child = world.train(None, "--resume")
    words = str(world.folder / "words.txt")
    verbs = (
        ("info", str(world.run)),
        ("predict", str(world.run), words),
        ("info", "--verify", str(world.run)),
    )
    readers = [world.command(*world.draw.choice(verbs)) for _ in range(3)]
    for reader in readers:
        expect(reader.wait(), 0)
    expect(child.wait(), 0)
    compare(world, world.run)
    return "the same end"


def one_cache(world: World) -> str:
    """Several begin at once on a cache that is empty, and without a name for their run."""
    shutil.rmtree(world.folder / "cache")
    shutil.rmtree(world.folder / "runs", ignore_errors=True)
    options = [word for setting in SETTINGS for word in ("--set", setting)]
    words = ("train", str(world.data), "--max-steps", str(STEPS), *options)
    for child in [world.command(*words) for _ in range(3)]:
        expect(child.wait(), 0)
    runs = sorted((world.folder / "runs").iterdir())
    if len(runs) != 3:
        raise LostError(f"three runs are in {len(runs)} folders")
    for run in runs:
        compare(world, run)
    return "the same end"


KINDS: dict[Callable[[World], str], int] = {
    signalled: 3,
    killed_at_a_write: 3,
    failing_disk: 2,
    small_disk: 1,
    closed_pipe: 1,
    flipped_bit: 3,
    cut_off: 1,
    moved_file: 1,
    moved_run: 1,
    changed_data: 1,
    damaged_cache: 1,
    two_at_once: 1,
    readers_beside: 1,
    one_cache: 1,
}
"""Each kind of fault, and how often it comes; the first round has each of them once."""


def rage(seed: int, faults: int, folder: Path, tell: Callable[[str], None]) -> tuple[Counter[str], list[str]]:
    """Let some faults happen; gives how often each kind ended how, and what was lost."""
    world = build(folder, seed)
    (folder / "words.txt").write_text("bam\nfeist\nkulr\n")
    said = expect(world.command("predict", str(folder / "whole"), str(folder / "words.txt")).wait(), 0)
    (folder / "said.txt").write_text(said.out)
    verdicts: Counter[str] = Counter()
    lost: list[str] = []
    kinds = [*KINDS, *world.draw.choices(list(KINDS), list(KINDS.values()), k=faults)]
    for number, kind in enumerate(kinds[:faults]):
        try:
            verdict = kind(world)
        except LostError as error:
            verdict = "LOST"
            lost.append(f"seed {seed}, fault {number}, {kind.__name__}: {error}")
            tell(lost[-1])
        verdicts[f"{kind.__name__}: {verdict}"] += 1
        shutil.rmtree(folder / "cache")
        shutil.copytree(folder / "cache-whole", folder / "cache")
        shutil.rmtree(folder / "said")
    return verdicts, lost


def main() -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", default="1,2,3", help="with commas between")
    parser.add_argument("--faults", type=int, default=100, help="for each seed")
    arguments = parser.parse_args()
    prepare()
    total: Counter[str] = Counter()
    lost: list[str] = []
    began = time.perf_counter()
    for seed in map(int, arguments.seeds.split(",")):
        with tempfile.TemporaryDirectory() as name:
            verdicts, found = rage(seed, arguments.faults, Path(name), print)
        total += verdicts
        lost += found
        print(f"seed {seed}: {sum(verdicts.values())} faults, {len(found)} lost", flush=True)
    for verdict, count in sorted(total.items()):
        print(f"{count:4}  {verdict}")
    print(f"{sum(total.values())} faults, {len(lost)} lost, {time.perf_counter() - began:.0f} seconds")
    sys.exit(1 if lost else 0)


if __name__ == "__main__":
    main()
