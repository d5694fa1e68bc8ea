"""The verbs `ladder` and `lab`. Nothing heavy is imported before they run."""

from pathlib import Path
from typing import Annotated

import typer

from seq2see.cli.options import (
    DATA,
    CategoryColumns,
    FeatureColumn,
    Goal,
    ImagePlace,
    Json,
    NumberColumns,
    SourceColumn,
    TargetColumn,
    named_columns,
    seed_numbers,
)

__all__ = ["add_verbs"]


def add_verbs(app: typer.Typer) -> None:
    """Let the command line know both."""
    app.command()(ladder)
    app.command()(lab)


def ladder(
    data: Annotated[str, typer.Argument(help=f"Examples to train on: {DATA}", show_default=False)],
    presets: Annotated[
        str | None,
        typer.Option(help="Models, with commas between; by default from a plain one to a Transformer."),
    ] = None,
    dev: Annotated[str | None, typer.Option(help="Examples to look at; else some are held out.")] = None,
    out: Annotated[str | None, typer.Option(help="Folder for the runs; by default under runs/.")] = None,
    seeds: Annotated[str, typer.Option(help="Each model is trained with each of them, as 1,2,3.")] = "1",
    max_steps: Annotated[int | None, typer.Option(min=1, help="Steps of each model at the most.")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0, help="Minutes of each at the most.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Target tokens of each at the most.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override in every model.")
    ] = None,
    goal: Goal = None,
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda, mps.")] = None,
    json: Json = False,
) -> None:
    """Train several models on the same examples, and show what each is worth by source length."""
    from seq2see.cli import ladder as verb

    options = {
        "data": data,
        "dev": dev,
        "out": out,
        "settings": set_ or (),
        "max_steps": max_steps,
        "max_minutes": max_minutes,
        "max_tokens": max_tokens,
        "goal": goal,
        "device": device,
        **named_columns(source, target, features, numbers, categories, images),
    }
    verb.ladder(options, presets, seed_numbers(seeds), json)


def lab(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="An experiment; without a name they are listed.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run every experiment.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Less of everything: a minute or two each.")] = False,
    seeds: Annotated[str, typer.Option(help="One repetition with each of them.")] = "1,2,3",
    out: Annotated[Path | None, typer.Option(help="Folder for figures, data and runs; runs/lab.")] = None,
    control: Annotated[
        bool, typer.Option("--control", help="Take away the cause that the claim names: it should fail.")
    ] = False,
    opened: Annotated[
        bool, typer.Option("--open", help="Then open its page, as that of `worked`, in a browser.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Repetitions side by side; one for each core, up to 8.")
    ] = None,
    json: Json = False,
) -> None:
    """Put the claims of the lectures to the test: table, figure and verdict."""
    from seq2see.cli import lab as verb

    verb.lab(name, everything, quick, seed_numbers(seeds), out, control, json, opened, jobs)
