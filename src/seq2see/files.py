"""Files and folders that appear whole or not at all."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["publish", "replace_bytes", "replace_text", "sweep"]

_ABANDONED = 24 * 3600.0
"""Seconds after which the draft of a folder has lost its maker."""


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; what stood there before stays until then."""
    draft = path.with_name(f".{os.getpid()}-{threading.get_ident()}.draft")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """The same for text, in UTF-8."""
    replace_bytes(path, text.encode("utf-8"))


def publish(folder: Path, write: Callable[[Path], None]) -> None:
    """Make a folder that appears when it is whole; one that stood there before goes at that moment.

    Whoever calls this holds the lock of the place, so that no other process does the same.
    """
    for old in folder.parent.glob(".draft-*"):
        if time.time() - old.stat().st_mtime > _ABANDONED:
            shutil.rmtree(old, ignore_errors=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
    try:
        write(draft)
        if folder.exists():  # those who have its files open keep them
            folder.rename(draft.with_name(f"{draft.name}-before"))
        draft.rename(folder)
    finally:
        for rest in (draft, draft.with_name(f"{draft.name}-before")):
            shutil.rmtree(rest, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove the drafts that a killed process left; the caller is the only one who writes here."""
    for draft in folder.glob(".*.draft"):
        draft.unlink(missing_ok=True)
