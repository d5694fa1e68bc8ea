"""Thousands of random commands of every verb: each must end in time, with a known exit code and no traceback.

python -m benchmarks.fuzz --draws 2000 --seed 1
"""

import argparse
import shlex
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.verb_draws import Draw, draws
from benchmarks.warm import Ran, Warm, make_world, wrong_with


def main() -> None:
    """Run the draws, and print what was wrong and a few figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    done: list[tuple[Draw, Ran]] = []
    wrong: Counter[str] = Counter()
    with Warm() as warm, tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        world = make_world(Path(folder) / "world", warm.run)

        @seed(asked.seed)
        @settings(
            max_examples=asked.draws,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(draws())
        def run(draw: Draw) -> None:
            ran = warm.run_in(draw, world)
            done.append((draw, ran))
            if found := wrong_with(draw, ran):
                wrong[found] += 1
                streams = f"{draw.stdin} {draw.stdout} {draw.stderr} {draw.home}"
                print(f"WRONG {found}: {shlex.join(draw.words)[:600]!a} {streams}")
                print(f"   {ran.err[-1500:]!a}", flush=True)

        run()
    seconds = sorted(ran.seconds for _, ran in done)
    print(f"{len(done):,} draws, {sum(wrong.values())} wrong {dict(wrong)}")
    print("by verb:", dict(Counter(draw.verb for draw, _ in done).most_common()))
    print("exit codes:", dict(Counter(ran.code for _, ran in done).most_common()))
    print(
        f"seconds: median {seconds[len(seconds) // 2]:.2f}, longest {seconds[-1]:.2f}, all {sum(seconds):.0f}"
    )
    sizes = [ran.megabytes for _, ran in done]
    print(f"memory: most {max(sizes):,} MB, least {min(sizes):,} MB")


if __name__ == "__main__":
    main()
