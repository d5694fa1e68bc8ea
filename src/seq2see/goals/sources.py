"""The columns that are read, for models that do not write: tokens of a text, or words with their letters."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seq2see.data import Pair
from seq2see.data.columns import (
    COLUMNS,
    AlignedText,
    Column,
    Counts,
    Extras,
    Images,
    Letters,
    SourceText,
    Stored,
    Vocabulary,
    WordEnds,
    Words,
)
from seq2see.data.columns.contract import ImageShape
from seq2see.errors import RunError, SettingsError
from seq2see.evaluation.floors import Pixels
from seq2see.goals.contract import Columns, Examples
from seq2see.models.fronts import ImageFrontSettings, WordFrontSettings
from seq2see.recipe import Recipe
from seq2see.text import SourceCodec, Tokenizer

__all__ = [
    "KeepsColumns",
    "images_are_read",
    "known_features",
    "known_inputs",
    "known_pixels",
    "learn_images",
    "learn_sources",
    "refuse_class_settings",
    "refuse_several_targets",
    "vocabularies",
]

_FLOOR_SIDE = 64
"""Pixels of the longer side of an image for a few lines of code, which hold one for each class."""


def learn_sources(
    recipe: Recipe, examples: Examples, aligned: bool = False, known: Columns | None = None
) -> dict[str, Column]:
    """Learn what is read: what the front asks for, features before it, and extras for the head.

    What another run has learnt is kept.
    """
    data, front = recipe.data, recipe.model.front
    if data.by is not None:
        raise SettingsError(
            f"--by is for models that write texts, and the goal is {recipe.goal}; leave it out"
        )
    columns: dict[str, Column] = {}
    known = known or {}
    read = known.get("source")
    if images_are_read(recipe):
        columns["source"] = read or learn_images(recipe, examples)
    elif isinstance(front, WordFrontSettings):
        if data.features is not None:
            raise SettingsError(
                "features stand before tokens; set model.front.kind=tokens, or use --categories"
            )
        columns["source"] = read or Words.learn(examples(), front.most_words, front.least)
        columns["letters"] = known.get("letters") or Letters.learn(examples())
    else:
        codec = read.codec if isinstance(read, SourceText) else None
        source = (
            codec.source
            if codec is not None
            else Tokenizer.learn((one.source for one in examples()), recipe.text.source)
        )
        features = known_features(recipe, codec, examples)
        columns |= _tokens(SourceCodec(source, features, recipe.text.begins), aligned)
    if recipe.model.head.counts is not None and not aligned:
        columns["counts"] = known.get("counts") or Counts.learn(examples(), recipe.model.head.counts)
    names = [str(name) for name in (*data.numbers, *data.categories)]
    if names:
        columns["extras"] = Extras.learn(examples(), names, len(data.numbers))
    return columns


def images_are_read(recipe: Recipe) -> bool:
    """Whether sources are images; a front that is for something else is refused."""
    front = recipe.model.front
    if isinstance(front, ImageFrontSettings) and recipe.data.images is None:
        raise SettingsError(
            f"model.front.kind = {front.kind} reads images, and the sources are texts; name a folder of "
            "images, say where they lie with --images, or choose another preset"
        )
    if recipe.data.images is not None and not isinstance(front, ImageFrontSettings):
        raise SettingsError(
            f"the sources are images, and model.front.kind = {front.kind} reads texts; choose stem or "
            "patches, or a preset such as resnet-tiny or vit-tiny"
        )
    return recipe.data.images is not None


def learn_images(recipe: Recipe, examples: Examples) -> Images:
    """The column of images at the size of a recipe."""
    data = recipe.data
    if data.image_size is None:
        raise SettingsError("data.image_size says nothing; give the height and width of images, as [64, 64]")
    if recipe.model.head.counts is not None:
        raise SettingsError("model.head.counts is for texts, and the sources are images; leave it out")
    channels = 1 if data.image_colours == "grey" else 3
    return Images.learn(examples(), data.image_size, channels, data.image_fit)


def known_features(recipe: Recipe, codec: SourceCodec | None, examples: Examples) -> Tokenizer | None:
    """The vocabulary of features: that of another run's codec, if there is one, or a new one if needed."""
    if codec is not None:
        if recipe.data.features is not None and codec.features is None:
            raise SettingsError(
                "--features have ids after those of the text, and the run that --from names has none; "
                "leave --features out, or train without --from"
            )
        return codec.features
    if recipe.data.features is None:
        return None
    return Tokenizer.learn_features(one.features for one in examples())


def _tokens(codec: SourceCodec, aligned: bool) -> dict[str, Column]:
    if aligned:
        return {"source": AlignedText(codec), "words": WordEnds(codec.source, codec.begins)}
    return {"source": SourceText(codec)}


class KeepsColumns:
    """Keeps the columns of a goal in `columns.json`, and their tokenizers in files of their own."""

    kept = frozenset({"source", "target"})
    """Columns that there must be."""

    def files(self, columns: Columns) -> dict[str, str]:
        """The files that keep the columns, by their names inside the run directory."""
        files: dict[str, str] = {}
        kept: dict[str, Stored] = {}
        for name, column in columns.items():
            stored = column.stored()
            files |= {f"tokenizers/{file}": text for file, text in stored.items() if _is_file(file)}
            kept[name] = {key: None if _is_file(key) else value for key, value in stored.items()}
        return {**files, "columns.json": json.dumps(kept, ensure_ascii=False, indent=1) + "\n"}

    def load(self, recipe: Recipe, folder: Path) -> Columns:
        """The columns that such files hold."""
        path = folder / "columns.json"
        try:
            kept: dict[str, Stored] = json.loads(path.read_text(encoding="utf-8"))
            if missing := self.kept - kept.keys():
                raise KeyError(*missing)
            return {name: _load(stored, folder / "tokenizers") for name, stored in kept.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise RunError(f"{path} cannot be read: {error!r}; the run directory is not complete") from None


def _is_file(name: str) -> bool:
    return name.endswith(".json")


def _load(stored: Stored, tokenizers: Path) -> Column:
    files = {name: (tokenizers / name).read_text(encoding="utf-8") for name in stored if _is_file(name)}
    return COLUMNS[stored["kind"]](stored | files)


def refuse_several_targets(recipe: Recipe) -> None:
    """Refuse several columns of targets, which only tags and texts that are written of texts can have."""
    if len(recipe.data.targets) > 1:
        reads = " and the sources are images" if recipe.data.images is not None else ""
        raise SettingsError(
            f"several target columns are several tags for each word, or texts in several languages, and the "
            f"goal is {recipe.goal}{reads}; name one column with --target, or give --goal tag or generate"
        )


def refuse_class_settings(recipe: Recipe) -> None:
    """Refuse settings of the head that are for classes alone."""
    head = recipe.model.head
    for name, given in {"class_weights": head.class_weights, "several_labels": head.several_labels}.items():
        if given:
            raise SettingsError(
                f"model.head.{name} is for --goal classify, and the goal is {recipe.goal}; leave it out"
            )


def known_inputs(examples: Sequence[Pair], recipe: Recipe) -> list[str]:
    """What a few lines of code get to read: of images nothing, since their names may tell the answer."""
    return ["image" if recipe.data.images is not None else one.source for one in examples]


def known_pixels(examples: Sequence[Pair], recipe: Recipe) -> Pixels | None:
    """The pixels of images at the size at which they are trained on, or smaller."""
    data = recipe.data
    if data.images is None or data.image_size is None:
        return None
    channels = 1 if data.image_colours == "grey" else 3
    scale = min(1.0, _FLOOR_SIDE / max(data.image_size))
    height, width = (max(1, round(side * scale)) for side in data.image_size)
    column = Images(ImageShape(channels, height, width, (0.0,) * channels, (1.0,) * channels), data.image_fit)
    return lambda rows: np.concatenate(column.encode([examples[row] for row in rows]))


def vocabularies(columns: Columns) -> dict[str, Vocabulary]:
    """The vocabulary of every column that has one."""
    return {name: column.vocabulary for name, column in columns.items() if column.vocabulary is not None}
