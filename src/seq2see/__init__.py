"""Sequence-to-sequence models that you can see through.

import seq2see
model = seq2see.train("pairs.tsv")
model(["text"])
"""

from typing import TYPE_CHECKING, Any

from seq2see.threads import be_fair

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from seq2see.goals.text_model import TextModel
    from seq2see.lens.recording import Recording

be_fair()

__all__ = ["__version__", "load", "record", "train"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The room `seq2see.lab`, loaded when it is first asked for."""
    if name != "lab":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module("seq2see.lab")


def load(folder: "str | Path", device: str = "auto") -> Any:
    """Load a run directory: what comes back answers texts with texts, classes, numbers or tags."""
    from seq2see.goals import load

    return load(folder, device)


def train(
    data: "str | Path",
    *,
    goal: str | None = None,
    dev: "str | Path | None" = None,
    out: "str | Path | None" = None,
    preset: str | None = None,
    recipe: "str | Path | None" = None,
    settings: "Sequence[str]" = (),
    seed: int | None = None,
    max_steps: int | None = None,
    max_minutes: float | None = None,
    max_tokens: int | None = None,
    source: str | None = None,
    target: str | None = None,
    features: str | None = None,
    images: "str | Path | None" = None,
    numbers: str | None = None,
    categories: str | None = None,
    by: str | None = None,
    device: str | None = None,
    resume: bool = False,
    start: "str | Path | None" = None,
) -> Any:
    """Train on a file of examples; what comes back answers texts with texts, classes, numbers or tags.

    data: a TSV, CSV, JSONL, CoNLL-U or FASTA file, `.gz` too; two parallel files as `a.en,a.de`; or a
        built-in task such as `task:reverse`; of images, a folder with a folder for each class, a zip or tar
        of it, or an IDX file.
    goal: `generate`, `classify`, `regress`, `tag`, `complete` or `fill`; by default what the data look like.
    dev: a file to look at while training; by default some examples are held out.
    out: the run directory to make; by default a new one under `runs/`.
    preset: a model by name, such as `transformer-base` (docs/recipe.md lists them).
    recipe: a YAML file with settings.
    settings: single settings over all others, as `["model.width=256"]`.
    seed: of everything random.
    max_steps, max_minutes, max_tokens: training ends when the first of them is reached.
    source, target, features: columns by number, counted from 1, or by name; tags may have several targets,
        as `upos,xpos`; features such as `V;IND;PL` are read before the source.
    images: where the images lie that the source column of a table names: a folder, a zip or a tar.
    numbers, categories: further columns, with commas between, for a model that gives a class or a number.
    by: what counts once in scores of texts, `line` or `source`; by default as the dev file looks.
    device: `auto`, `cpu`, `cuda` or `mps`.
    resume: go on exactly where the run in `out` was stopped.
    start: a run directory to begin with: vocabularies, parts and weights are taken over as far as they fit.
    """
    from seq2see.workflow import Request, train

    paths = {"dev": dev, "out": out, "recipe": recipe, "start": start, "images": images}
    request = Request(
        data=str(data),
        goal=goal,
        preset=preset,
        settings=settings,
        seed=seed,
        max_steps=max_steps,
        max_minutes=max_minutes,
        max_tokens=max_tokens,
        source=source,
        target=target,
        features=features,
        numbers=numbers,
        categories=categories,
        by=by,
        device=device,
        resume=resume,
        **{name: str(path) if path is not None else None for name, path in paths.items()},
    )
    trained = train(request)
    if trained.interrupted is not None:
        raise KeyboardInterrupt(f"stopped at step {trained.progress.step}; resume=True goes on")
    return trained.model


def record(model: "TextModel") -> "AbstractContextManager[Recording]":
    """Keep views of all that a model does: `with seq2see.record(model) as seen: model("word")`."""
    from seq2see.lens.recording import record

    return record(model)
