"""Threads that do not hold up a busy machine.

PyTorch's OpenMP threads wait for each other at the end of every operation, and spin while they wait. Beside
other busy processes, one of them is often not running: then the others spin away the time that it would need.
A thread that gives up spinning soon costs nothing on a quiet machine.
"""

import os
import sys
import warnings

__all__ = ["SPINS", "be_fair"]

SPINS = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "1"}
"""How long GNU's and Intel's OpenMP spin: so many rounds, or milliseconds."""
_CHOICES = (*SPINS, "OMP_WAIT_POLICY")


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
    os.environ.update(SPINS)
