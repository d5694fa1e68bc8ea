"""Threads that do not hold up a busy machine.

PyTorch's OpenMP threads wait for each other at the end of every operation, and spin while they wait. Beside
other busy processes, one of them is often not running: then the others spin away the time that it would need.
A thread that gives up soon and sleeps is fair to a busy machine, and costs a tenth of the speed on a quiet
one; so how long threads spin depends on whether others are running when the program starts.
"""

import os
import sys
import time
import warnings
from pathlib import Path

__all__ = ["BUSY", "QUIET", "be_fair", "others_running"]

QUIET = {"GOMP_SPINCOUNT": "20000", "KMP_BLOCKTIME": "1"}
"""How long GNU's and Intel's OpenMP spin: so many rounds, or milliseconds."""
BUSY = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}
"""The same where others need the processor."""
_CHOICES = (*QUIET, "OMP_WAIT_POLICY")
_SAMPLES = 8


def be_fair() -> None:
    """Bound the spinning, unless somebody has decided on it; it must come before PyTorch is loaded."""
    if any(name in os.environ for name in _CHOICES):
        return
    if "torch" in sys.modules:
        warnings.warn(
            "torch was imported before seq2see, so its threads wait by spinning, which is slow beside other "
            "busy programs; import seq2see first, or set OMP_WAIT_POLICY=PASSIVE",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    os.environ.update(BUSY if others_running() > 0.6 else QUIET)


def others_running(loads: Path = Path("/proc/loadavg")) -> float:
    """How many threads of all others want to run just now, on the average of a few milliseconds.

    The fourth number of Linux's /proc/loadavg is `running/all`; this thread is one of those running. Where
    there is no such file, nobody is taken to be running.
    """
    found = []
    for _ in range(_SAMPLES):
        try:
            found.append(int(loads.read_text().split()[3].split("/")[0]) - 1)
        except (OSError, ValueError, IndexError):
            return 0.0
        if not found[0]:
            return 0.0  # who is busy is always running, and start-up need not wait to see that nobody is
        time.sleep(0.001)
    return sum(found) / len(found)
