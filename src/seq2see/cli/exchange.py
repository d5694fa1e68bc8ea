"""The verbs `import` and `export`. Nothing heavy is imported before they run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from seq2see.cli.options import Run

__all__ = ["add_verbs"]


def add_verbs(app: typer.Typer) -> None:
    """Let the command line know both."""
    app.command("import")(import_)
    app.command("export")(export)


def import_(
    folder: Annotated[Path, typer.Argument(help="A folder in Hugging Face's layout, or another model.")],
    out: Annotated[Path, typer.Option(help="Run directory to make.", show_default=False)],
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Read numbers out of a pickle, if you trust where it is from."),
    ] = False,
) -> None:
    """Make a run of a model from elsewhere: BERT, GPT-2, Llama, Marian, Pegasus, BART, fairseq, g2p-en."""
    from seq2see.cli.console import say
    from seq2see.exchange.importing import import_model

    import_model(folder, out, allow_pickle, say)
    say(f"{out} is a run: seq2see predict {out}, explore, evaluate and train --from take it")


def export(
    run: Run,
    folder: Annotated[Path, typer.Argument(help="Folder to make.", show_default=False)],
    to: Annotated[
        Literal["huggingface"], typer.Option(help="The layout: a folder that transformers loads.")
    ] = "huggingface",
) -> None:
    """Write a run in the layout of another tool."""
    from seq2see.cli.console import say
    from seq2see.exchange.exporting import export_run

    kind = export_run(run, folder)
    say(f"{folder} holds a {kind}, which transformers loads")
