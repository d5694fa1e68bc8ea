"""The verbs `explore` and `heads`. Nothing heavy is imported before they run."""

from pathlib import Path
from typing import Annotated

import typer

from seq2see.cli.options import (
    DATA,
    CategoryColumns,
    Device,
    FeatureColumn,
    HostNames,
    Json,
    NumberColumns,
    Run,
    SourceColumn,
    TargetColumn,
    named_columns,
)

__all__ = ["add_verbs"]


def add_verbs(app: typer.Typer) -> None:
    """Let the command line know both."""
    app.command()(explore)
    app.command()(heads)


def explore(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN [RUN2] [IMAGES]",
            help="A run directory, or two to compare; images to choose from, for a model that reads images.",
        ),
    ],
    text: Annotated[
        str | None, typer.Option(help="What to look at first: a text, or the name of an image.")
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; by default this machine alone.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The first that is free from here on.")] = 8264,
    allow_host: HostNames = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    device: Device = "auto",
) -> None:
    """See what a model attends to in a page, and change it."""
    from seq2see.cli import explore as verb

    if len(runs) > 3:
        raise typer.BadParameter("one or two runs can be explored at a time, and one set of images")
    verb.explore(runs, host, port, device, text, browser, allow_host or ())


def heads(
    run: Run,
    file: Annotated[str, typer.Argument(help=f"Examples: {DATA}", show_default=False)],
    how: Annotated[str, typer.Option(help="What a head that is off sees: zero, uniform, first.")] = "zero",
    metric: Annotated[str | None, typer.Option(help="The score; by default the one of training.")] = None,
    most: Annotated[int, typer.Option(min=1, help="Sources at the most, evenly chosen.")] = 200,
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses at each step; 1 by default.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw a heat map: .svg, .png or .pdf.")] = None,
    patterns: Annotated[
        bool, typer.Option("--patterns", help="What heads look at instead: nothing is switched off.")
    ] = False,
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Switch off each head in turn, and say what it costs; or say what heads look at."""
    from seq2see.cli import heads as verb

    columns = named_columns(source, target, features, numbers, categories)
    if patterns:
        if (how, metric, beam, out) != ("zero", None, None, None):
            raise typer.BadParameter("--patterns takes none of --how, --metric, --beam and --out")
        verb.patterns(run, file, most, columns, device, json)
        return
    verb.heads(run, file, how, metric, most, beam, out, columns, device, json)
