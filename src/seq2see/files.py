"""Files that are replaced as a whole."""

import os
from pathlib import Path

__all__ = ["replace_bytes", "replace_text"]


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; what stood there before stays until then."""
    draft = path.with_name(f".{path.name}.draft")
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
