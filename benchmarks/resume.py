"""Kill a training run at random moments, resume it each time, and compare it with an unbroken run.

Prints whether weights, optimiser and random state are the same to the bit. Exit code 1 if they are not.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from seq2see.models.weights import read_tensors

FILES = ("model.safetensors", "state/training.safetensors")


def main() -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the moments of killing")
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = write_pairs(folder / "pairs.tsv", 2000)
        started = time.perf_counter()
        subprocess.run(
            command(data, folder / "unbroken", arguments.steps), check=True, stderr=subprocess.DEVNULL
        )
        whole = time.perf_counter() - started
        print(f"unbroken run: {whole:.1f} s for {arguments.steps} steps")
        repeated = folder / "repeated"
        subprocess.run(command(data, repeated, arguments.steps), check=True, stderr=subprocess.DEVNULL)
        broken = folder / "broken"
        for kill in range(arguments.kills):
            # Short enough for the run to last through all the kills, long enough to get past the start.
            wait = moments.uniform(0.5, 4 + whole / arguments.kills)
            saved = killed(data, broken, arguments.steps, wait)
            print(f"kill {kill + 1:2}: SIGKILL after {wait:.2f} s; saved: {saved}")
        subprocess.run(
            [*command(data, broken, arguments.steps), "--resume"], check=True, stderr=subprocess.DEVNULL
        )
        verdicts = {
            "the same command twice": same(folder / "unbroken", repeated),
            f"after {arguments.kills} kills": same(folder / "unbroken", broken),
        }
    for what, verdict in verdicts.items():
        print(f"{what}: {'bit-identical' if verdict else 'DIFFERENT'}")
    sys.exit(0 if all(verdicts.values()) else 1)


def command(data: Path, out: Path, steps: int) -> list[str]:
    """A short training run that saves often."""
    return [
        *(sys.executable, "-m", "seq2see", "train", str(data), "--out", str(out), "--max-steps", str(steps)),
        *(
            "--set",
            "model.width=32",
            "--set",
            "training.batch_pairs=16",
            "--set",
            "training.evaluate_every=100",
        ),
        *(
            "--set",
            "training.save_every=7",
            "--set",
            "training.accumulate=2",
            "--set",
            "training.dev_examples=50",
        ),
    ]


def killed(data: Path, out: Path, steps: int, wait: float) -> str:
    """Start or resume, kill after a while, and say which step was saved last."""
    process = subprocess.Popen([*command(data, out, steps), "--resume"], stderr=subprocess.DEVNULL)
    try:
        process.wait(wait)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    state = out / "state" / "training.safetensors"
    if process.returncode == 0:
        return "the run had ended before"
    return f"step {json.loads(read_tensors(state)[1]['progress'])['step']}" if state.exists() else "nothing"


def same(one: Path, other: Path) -> bool:
    """Whether two runs hold the same numbers."""
    for file in FILES:
        left, right = read_tensors(one / file)[0], read_tensors(other / file)[0]
        if left.keys() != right.keys() or not all(left[name].equal(right[name]) for name in left):
            return False
    return True


def write_pairs(path: Path, count: int) -> Path:
    """Random words and their letters in reverse."""
    letters = random.Random(7)
    words = ["".join(letters.choices("abcdefghij", k=letters.randint(3, 9))) for _ in range(count)]
    path.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words))
    return path


if __name__ == "__main__":
    main()
