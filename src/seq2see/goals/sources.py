"""The columns that are read, for models that do not write: tokens of a text, or words with their letters."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seq2see.data.columns import Column, Extras, Letters, SourceText, Words
from seq2see.data.columns.aligned import AlignedText, WordEnds
from seq2see.data.columns.contract import Symbols
from seq2see.data.columns.counts import Counts, CountsSettings
from seq2see.errors import RunError, SettingsError
from seq2see.goals.contract import Columns, Examples
from seq2see.models import Vocabulary
from seq2see.models.fronts import WordFrontSettings
from seq2see.recipe import Recipe
from seq2see.text import SourceCodec, Tokenizer

__all__ = [
    "column_files",
    "learn_sources",
    "load_sources",
    "read_stored",
    "refuse_class_settings",
    "refuse_several_targets",
    "vocabularies",
]


def learn_sources(recipe: Recipe, examples: Examples, aligned: bool = False) -> dict[str, Column]:
    """Learn what is read: what the front asks for, features before it, and extras for the head."""
    data, front = recipe.data, recipe.model.front
    if data.by is not None:
        raise SettingsError(
            f"--by is for models that write texts, and the goal is {recipe.goal}; leave it out"
        )
    columns: dict[str, Column] = {}
    if isinstance(front, WordFrontSettings):
        if data.features is not None:
            raise SettingsError(
                "features stand before tokens; set model.front.kind=tokens, or use --categories"
            )
        columns["source"] = Words.learn(examples(), front.most_words, front.least)
        columns["letters"] = Letters.learn(examples())
    else:
        source = Tokenizer.learn((one.source for one in examples()), recipe.text.source)
        features = None
        if data.features is not None:
            features = Tokenizer.learn_features(one.features for one in examples())
        columns |= _tokens(SourceCodec(source, features), aligned)
    if recipe.model.head.counts is not None and not aligned:
        columns["counts"] = Counts.learn(examples(), recipe.model.head.counts)
    names = [str(name) for name in (*data.numbers, *data.categories)]
    if names:
        columns["extras"] = Extras.learn(examples(), names, len(data.numbers))
    return columns


def load_sources(recipe: Recipe, folder: Path, aligned: bool = False) -> dict[str, Column]:
    """The same columns, read from a run directory."""
    stored = read_stored(folder)
    columns: dict[str, Column] = {}
    if isinstance(recipe.model.front, WordFrontSettings):
        columns["source"] = Words(stored["source"]["words"], stored["source"]["counts"])
        columns["letters"] = Letters(stored["letters"]["letters"])
    else:
        columns |= _tokens(SourceCodec.load_source(folder / "tokenizers"), aligned)
    if "counts" in stored:
        kept = stored["counts"]
        settings = CountsSettings.model_validate(kept["settings"])
        columns["counts"] = Counts(settings, kept["pieces"], kept["weights"])
    if "extras" in stored:
        kept = stored["extras"]
        columns["extras"] = Extras(kept["names"], kept["numbers"], kept["bounds"], kept["words"])
    return columns


def _tokens(codec: SourceCodec, aligned: bool) -> dict[str, Column]:
    if aligned:
        return {"source": AlignedText(codec), "words": WordEnds(codec.source)}
    return {"source": SourceText(codec)}


def column_files(columns: Columns) -> dict[str, str]:
    """The files that keep columns, by their names inside the run directory."""
    files: dict[str, str] = {}
    kept: dict[str, Any] = {}
    for name, column in columns.items():
        if isinstance(column, SourceText):
            files |= {f"tokenizers/{file}": text for file, text in column.codec.files().items()}
        else:
            kept[name] = column.stored()
    return {**files, "columns.json": json.dumps(kept, ensure_ascii=False, indent=1) + "\n"}


def read_stored(folder: Path) -> Mapping[str, Any]:
    """What `columns.json` of a run directory holds."""
    path = folder / "columns.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise RunError(f"{path} cannot be read: {error}") from None


def refuse_several_targets(recipe: Recipe) -> None:
    """Refuse several columns of targets, which only tags can have."""
    if isinstance(recipe.data.target, tuple):
        raise SettingsError(
            f"several target columns are several tags for each word, and the goal is {recipe.goal}; "
            "name one column with --target, or give --goal tag"
        )


def refuse_class_settings(recipe: Recipe) -> None:
    """Refuse settings of the head that are for classes alone."""
    head = recipe.model.head
    for name, given in {"class_weights": head.class_weights, "several_labels": head.several_labels}.items():
        if given:
            raise SettingsError(
                f"model.head.{name} is for --goal classify, and the goal is {recipe.goal}; leave it out"
            )


def vocabularies(columns: Columns) -> dict[str, Vocabulary]:
    """The vocabulary of every column that has one."""
    return {
        name: Vocabulary(column.size, column.special, getattr(column, "counts", None))
        for name, column in columns.items()
        if isinstance(column, Symbols)
    }
