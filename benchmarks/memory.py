"""Peak memory of training on five million pairs, against fifty thousand, and the speed of encoding."""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 700


def main() -> None:
    """Run both trainings and print the difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--small", type=int, default=50_000)
    parser.add_argument("--steps", type=int, default=50)
    arguments = parser.parse_args()
    peaks = {}
    with tempfile.TemporaryDirectory() as name:
        for count in (arguments.small, arguments.pairs):
            data = write_pairs(Path(name) / f"{count}.tsv", count)
            peaks[count] = measure(data, arguments.steps)
            data.unlink()
    extra = peaks[arguments.pairs] - peaks[arguments.small]
    print(f"{arguments.pairs:,} pairs need {extra:,.0f} MB more than {arguments.small:,} (limit {LIMIT} MB)")
    sys.exit(0 if extra <= LIMIT else 1)


def measure(data: Path, steps: int) -> float:
    """Peak resident megabytes of a training run in a process of its own."""
    command = [
        *(sys.executable, "-m", "seq2see", "train", str(data), "--out", str(data.with_suffix(".run"))),
        *("--max-steps", str(steps), "--set", "training.evaluate_every=50", "--preset", "transformer-tiny"),
    ]
    environment = os.environ | {"SEQ2SEE_CACHE": str(data.with_suffix(".cache"))}
    started = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(said)
    peak = usage.ru_maxrss / 1024
    speed = re.search(r"\(([\d,]+) pairs/s\)", said)
    encoding = f", encoding {speed[1]} pairs/s" if speed else ""
    print(f"{data.stem}: peak {peak:,.0f} MB, {time.perf_counter() - started:.0f} s in all{encoding}")
    return peak


def write_pairs(path: Path, count: int) -> Path:
    """Words of random syllables and their letters in reverse, all different enough to be a corpus."""
    random.seed(7)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiouy"]
    with path.open("w") as file:
        for _ in range(count):
            word = "".join(random.choices(syllables, k=random.randint(2, 6)))
            file.write(f"{word}\t{' '.join(reversed(word))}\n")
    return path


if __name__ == "__main__":
    main()
