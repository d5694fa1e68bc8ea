"""The peak of this machine: multiplications and additions of a large fp32 matrix product in a second."""

import time
from statistics import median

import torch

SIZE, TIMES = 2048, 30


def main() -> None:
    """Print the median."""
    left, right = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)
    seconds = []
    for _ in range(TIMES):
        started = time.perf_counter()
        torch.mm(left, right)
        seconds.append(time.perf_counter() - started)
    print(2 * SIZE**3 / median(seconds))


if __name__ == "__main__":
    main()
