"""Where an exported model lives: in the run directory, made on first use, renewed with the weights."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from seq2see.digests import seal, whole
from seq2see.files import publish
from seq2see.goals.text_model import TextModel
from seq2see.locks import held
from seq2see.models.weights import weights_of

__all__ = ["exported", "fingerprint"]

_FORMAT = 1
"""Raised when an export of the same weights would look different."""


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

    Each export has a folder of its own, named by what it holds, that appears when it is whole. One process
    at a time makes, loads and clears them.
    """
    folder = place / fingerprint(model)

    def write_sealed(draft: Path) -> None:
        write(draft)
        seal(draft)
        draft.chmod(0o755)

    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
    with held(place.with_name(".lock")), ExitStack() as stack:
        if not whole(folder):
            try:
                publish(folder, write_sealed)
                _clear(place, keep=folder)
            except OSError:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="seq2see-")))
                write(folder)
        yield folder


def _clear(place: Path, keep: Path) -> None:
    """Remove exports of other weights."""
    for old in place.iterdir():
        if old != keep and not old.name.startswith(".draft-"):
            shutil.rmtree(old, ignore_errors=True)
