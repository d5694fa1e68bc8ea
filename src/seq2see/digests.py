"""Checksums of files, kept beside them: whether a folder still holds what was written into it.

They tell damage, not malice: who can change a file can change its checksum too.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from seq2see.errors import RunError
from seq2see.files import replace_text

__all__ = ["faults", "replace_sealed", "seal", "sealed", "verify", "whole"]

_NAME = "digests.json"


def seal(folder: Path) -> None:
    """Note the checksum of every file of a folder."""
    _write(folder, {file.name: _digest(file) for file in sorted(folder.iterdir()) if file.name != _NAME})


def replace_sealed(folder: Path, texts: Mapping[str, str]) -> None:
    """Replace some files of a folder, in this order, and note their checksums.

    A file that is about to change is taken off the list first: after a kill in the middle it stands there
    whole, the old or the new one, only without a checksum.
    """
    known = sealed(folder)
    rest = {name: digest for name, digest in known.items() if name not in texts}
    if rest != known:
        _write(folder, rest)
    for name, text in texts.items():
        replace_text(folder / name, text)
    _write(folder, rest | {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()})


def faults(folder: Path) -> dict[str, str]:
    """What became of each listed file that is not as it was written: "missing" or "damaged"."""
    return {
        name: fault for name, digest in sealed(folder).items() if (fault := _fault(folder / name, digest))
    }


def whole(folder: Path) -> bool:
    """Whether a folder has a list of checksums, and all that is on it is as it was written."""
    try:
        return bool(sealed(folder)) and not faults(folder)
    except RunError:
        return False


def verify(folder: Path) -> None:
    """Refuse a run directory in which a listed file is not as it was written."""
    for name, fault in faults(folder).items():
        raise RunError(
            f"{folder / name} is {fault}: it is not what was written there; put a copy of it back, "
            f"or, if the change is yours, remove {folder / _NAME}"
        )


def sealed(folder: Path) -> dict[str, str]:
    """The checksums of a folder by file; none where there is no list, as in runs of version 0.1.0."""
    path = folder / _NAME
    try:
        listed = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}; put a copy of it back, or remove it") from None
    if not isinstance(listed, dict) or not all(isinstance(digest, str) for digest in listed.values()):
        raise RunError(f"{path} is not a list of checksums; put a copy of it back, or remove it")
    return listed


def _write(folder: Path, listed: Mapping[str, str]) -> None:
    replace_text(folder / _NAME, json.dumps(listed, ensure_ascii=False, indent=1) + "\n")


def _fault(path: Path, digest: str) -> str:
    try:
        return "" if _digest(path) == digest else "damaged"
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"unreadable ({error.strerror})"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
