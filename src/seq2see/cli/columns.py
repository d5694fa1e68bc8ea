"""Examples of a file for a trained model: its columns as in training unless they are named."""

from collections.abc import Iterator, Mapping

from seq2see.data import Pair, PairFile
from seq2see.data.kinds import opener
from seq2see.data.pairs import Columns, columns_of, refuse_repeats
from seq2see.errors import DataError, SettingsError
from seq2see.goals import Predictor, goal_named

__all__ = ["Named", "columns_for", "examples_for", "file_for", "usable"]

Named = Mapping[str, str | None]
"""Columns as a command line names them."""


def columns_for(model: Predictor, named: Named) -> Columns:
    """The columns of training, over which those that are named stand; there must be as many of each."""
    data = model.recipe.data
    columns = columns_of(data, **named)
    kinds = {
        "target": (data.targets, columns.targets),
        "features": ((data.features,) * (data.features is not None), (columns.features,)),
        "numbers": (data.numbers, columns.numbers),
        "categories": (data.categories, columns.categories),
    }
    if columns.images is not None and data.images is None:
        raise SettingsError("the model reads texts, not images; leave --images out")
    for kind, (trained, given) in kinds.items():
        if named.get(kind) is None or len(trained) == len(given):
            continue
        if not trained:
            raise SettingsError(f"the model was trained without {kind}; leave --{kind} out")
        asked = f"{len(trained)} column{'s' * (len(trained) > 1)} ({', '.join(map(str, trained))})"
        raise SettingsError(f"the model was trained with {asked} as --{kind}; name as many, in that order")
    return columns


def file_for(model: Predictor, path: str, named: Named, by_line: bool = False) -> PairFile:
    """A file whose examples are checked for what the goal of a model needs; `by_line` keeps lines apart."""
    columns, goal = columns_for(model, named), goal_named(model.recipe.goal)
    refuse_repeats(columns)
    if by_line:
        columns = columns.model_copy(update={"documents": "line"})
    numbers = list(map(str, columns.numbers))
    return opener(goal.examples, columns)(
        path, columns, check=lambda example: goal.examples.problem(example, numbers)
    )


def examples_for(model: Predictor, path: str, named: Named) -> list[Pair]:
    """The usable examples of a file."""
    return list(usable(file_for(model, path, named)))


def usable(file: PairFile) -> Iterator[Pair]:
    """The examples of a file that has some."""
    pair = None
    for pair in file.pairs():
        yield pair
    if pair is None:
        raise DataError(f"{file.name} has no usable example; {file.shape}")
