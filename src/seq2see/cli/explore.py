"""The verb `explore`."""

import socket
from collections.abc import Sequence
from pathlib import Path

from seq2see.cli.console import say
from seq2see.cli.listening import serve
from seq2see.data import Pair, PairFile
from seq2see.data.image_file import ImageFile
from seq2see.data.passages import PromptFile
from seq2see.data.tasks import is_task
from seq2see.errors import Seq2seeError, SettingsError
from seq2see.goals import Predictor, load
from seq2see.goals.completer import Completer
from seq2see.goals.filler import Filler
from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk
from seq2see.serving.gallery import Gallery

__all__ = ["explore", "serve_explorer"]

_EXAMPLE_BYTES = 1 << 20
"""So much is read of the data of a run, to find an example."""


def explore(
    runs: list[Path],
    host: str,
    port: int,
    device: str,
    example: str | None,
    browser: bool,
    names: Sequence[str] = (),
) -> None:
    """Serve the explorer until Ctrl-C; it answers to these further names of its host.

    After the runs may stand a set of images to choose from.
    """
    images = runs[-1] if len(runs) > 1 and not (runs[-1] / "recipe.yaml").exists() else None
    named = runs[:-1] if images is not None else runs
    if len(named) > 2:
        raise SettingsError("one or two runs can be explored at a time")
    models = [(run, load(run, device)) for run in named]
    reads_images = {model.recipe.data.images is not None for _, model in models}
    if len(reads_images) > 1:
        raise SettingsError("one of these runs reads images and the other texts; explore one at a time")
    gallery = None
    if True in reads_images:
        gallery = _gallery(models[0][1], str(images) if images is not None else None)
        example = example or next(iter(gallery.names), "")
    elif images is not None:
        raise SettingsError(f"{images} is no run directory, and {runs[0]} reads texts; name runs alone")
    serve_explorer(models, host, port, example or _example(models[0][1]), browser, names, gallery)


def serve_explorer(
    models: Sequence[tuple[Path, Predictor]],
    host: str,
    port: int,
    example: str,
    browser: bool = False,
    names: Sequence[str] = (),
    gallery: Gallery | None = None,
) -> None:
    """Say where the page is, and answer it until Ctrl-C."""
    desk = Desk(dict(zip("ab", models, strict=False)), example, gallery)
    app = explorer(desk, [host, socket.gethostname(), f"{socket.gethostname()}.local", *names])
    serve("the explorer", app, host, port, browser, on_end=desk.close)


def _gallery(model: Predictor, place: str | None) -> Gallery:
    """The images of a place, or of the run's own data if they are still there."""
    data = model.recipe.data
    named = place or str(data.dev or data.train)
    try:
        found = ImageFile(named, data, needs_target=False)
        return Gallery((one for one in found if isinstance(one, Pair)), draws=is_task(named))
    except Seq2seeError as error:
        if place is not None:
            raise
        say(f"the images of the run cannot be read ({error}); name others, or upload some in the page")
        return Gallery([])


def _example(model: Predictor) -> str:
    """The first source of the run's dev or training file, if that is still there."""
    data = model.recipe.data
    try:
        reads = PromptFile if isinstance(model, Filler | Completer) else PairFile
        items = reads(str(data.dev or data.train), data, needs_target=reads is PairFile).beginning(
            _EXAMPLE_BYTES
        )
        text = next((item.source for item in items if isinstance(item, Pair)), "")
        if isinstance(model, Completer):  # half of what it sees, so that there is room to go on
            return text[: model.context // 2]
        return model.with_gap(text) if isinstance(model, Filler) else text
    except Seq2seeError:
        return ""
