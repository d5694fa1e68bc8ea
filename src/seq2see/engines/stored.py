"""Where an exported model lives: in the run directory, made on first use, renewed with the weights."""

import contextlib
import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from seq2see.goals.text_model import TextModel
from seq2see.models.weights import weights_of

__all__ = ["exported", "fingerprint"]

_FORMAT = 1
"""Raised when an export of the same weights would look different."""
_ABANDONED = 3600.0
"""Seconds after which a draft has lost its maker."""


def fingerprint(model: TextModel) -> str:
    """A digest of all that goes into an export."""
    digest = hashlib.blake2b(digest_size=12)
    parts = [str(_FORMAT), model.recipe.model.model_dump_json(), model.facts.to_json()]
    for text in (*parts, *(text for _, text in sorted(model.codec.files().items()))):
        digest.update(text.encode("utf-8", "surrogatepass"))
    for name, tensor in sorted(weights_of(model.network).items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().data)
    return digest.hexdigest()


@contextmanager
def exported(model: TextModel, place: Path, write: Callable[[Path], None]) -> Iterator[Path]:
    """The folder of the export, made if it is not there; where nothing can be written, one for a while.

    Each export has a folder of its own, named by what it holds, that appears when it is whole.
    """
    folder = place / fingerprint(model)
    if folder.is_dir():
        yield folder
        return
    try:
        _make(folder, write)
    except OSError:
        with tempfile.TemporaryDirectory(prefix="seq2see-") as passing:
            write(Path(passing))
            yield Path(passing)
        return
    yield folder


def _make(folder: Path, write: Callable[[Path], None]) -> None:
    """Write an export as a draft beside its place, and move it there when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
    try:
        write(draft)
        draft.chmod(0o755)
        try:
            draft.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process may have been first
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _clear(folder.parent, keep=folder)


def _clear(place: Path, keep: Path) -> None:
    """Remove exports of other weights, and drafts that a killed process left."""
    for old in place.iterdir():
        drafted = old.name.startswith(".draft-")
        with contextlib.suppress(OSError):
            if old != keep and (not drafted or time.time() - old.stat().st_mtime > _ABANDONED):
                shutil.rmtree(old, ignore_errors=True)
