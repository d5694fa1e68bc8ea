"""Experiments: the claims of the lectures put to the test, several models compared, heads switched off."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seq2see.lab.running import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    """Load what runs experiments when it is first asked for."""
    if name != "run":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from seq2see.lab import running

    return running.run
