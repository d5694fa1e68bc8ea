"""Options that several verbs have."""

from pathlib import Path
from typing import Annotated

import typer

from seq2see.errors import SettingsError

__all__ = [
    "DATA",
    "Beam",
    "By",
    "CategoryColumns",
    "Device",
    "Edits",
    "Engine",
    "FeatureColumn",
    "Goal",
    "Hard",
    "HostNames",
    "ImagePlace",
    "Int8",
    "Json",
    "NumberColumns",
    "Run",
    "SourceColumn",
    "Start",
    "TargetColumn",
    "Verify",
    "named_columns",
    "seed_numbers",
]

DATA = (
    "TSV, CSV, JSONL, CoNLL-U, FASTA, .gz, two parallel files as 'a.en,a.de', - for standard input, "
    "a folder, zip or tar of images, IDX, or a built-in task such as task:reverse."
)
Run = Annotated[Path, typer.Argument(help="A run directory, as 'train' makes it.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Say of each file whether it is as it was written; exit code 1 if not."),
]
Beam = Annotated[int | None, typer.Option(help="Hypotheses kept at each step; 1 is greedy.")]
Hard = Annotated[
    bool, typer.Option("--hard", help="Look at one place at a time: argmax in place of softmax.")
]
HostNames = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A further name that this machine goes by; repeatable."),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")]
Edits = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EDIT",
        help="Change attention, as 'off at=decoder.*.cross heads=0 how=uniform', or leave out a residual "
        "block, as 'skip block=encoder.1.0'; repeatable.",
    ),
]
Engine = Annotated[
    str, typer.Option(help="auto, torch, ctranslate2; auto takes ctranslate2 where it is there and fits.")
]
Int8 = Annotated[
    bool, typer.Option("--int8", help="Compute in 8 bits, with ctranslate2: faster, less exact.")
]
Start = Annotated[
    str | None,
    typer.Option("--from", metavar="RUN", help="Begin with what another run has learnt, as far as it fits."),
]
SourceColumn = Annotated[
    str | None, typer.Option("--source", help="Column of the source: number from 1, or name.")
]
TargetColumn = Annotated[
    str | None,
    typer.Option("--target", help="Column of the target; tags and texts may have several, as de,fr."),
]
NumberColumns = Annotated[
    str | None,
    typer.Option(
        "--numbers", help="Further columns of numbers, with commas between, for a class or a number."
    ),
]
CategoryColumns = Annotated[
    str | None, typer.Option("--categories", help="The same for columns of a few distinct words.")
]
Goal = Annotated[
    str | None,
    typer.Option(
        help="generate, classify, regress, tag, complete or fill; by default what the data look like."
    ),
]
ImagePlace = Annotated[
    str | None,
    typer.Option("--images", help="Where the images lie that the source column names: a folder, zip or tar."),
]
By = Annotated[
    str | None,
    typer.Option(
        help="What counts once: line, or source with all its targets; by default as the file looks."
    ),
]
FeatureColumn = Annotated[
    str | None,
    typer.Option("--features", help="Column of features such as V;IND;PL, joined to the source."),
]


def named_columns(
    source: str | None = None,
    target: str | None = None,
    features: str | None = None,
    numbers: str | None = None,
    categories: str | None = None,
    images: str | None = None,
) -> dict[str, str | None]:
    """The columns that were named."""
    named = {"source": source, "target": target, "features": features}
    return {**named, "numbers": numbers, "categories": categories, "images": images}


def seed_numbers(text: str) -> list[int]:
    """Seeds, with commas between."""
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise SettingsError(f"--seeds {text!r} should be different numbers with commas between, as 1,2,3")
    return numbers
