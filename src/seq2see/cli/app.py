"""The verbs. Nothing heavy is imported before a verb runs."""

from pathlib import Path
from typing import Annotated

import typer

from seq2see.cli import exchange, experiments, looking
from seq2see.cli.options import (
    DATA,
    Beam,
    By,
    CategoryColumns,
    Device,
    Edits,
    Engine,
    FeatureColumn,
    Goal,
    Hard,
    ImagePlace,
    Int8,
    Json,
    NumberColumns,
    Run,
    SourceColumn,
    Start,
    TargetColumn,
    Verify,
    named_columns,
)

__all__ = ["app"]

app = typer.Typer(
    name="seq2see",
    help="Sequence-to-sequence models that you can see through.",
    epilog="Start with: seq2see demo, or seq2see train examples.tsv (source, tab, target on each line).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help comes in half the time
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from seq2see import __version__

        typer.echo(f"seq2see {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Sequence-to-sequence models that you can see through."""


@app.command()
def train(
    data: Annotated[str, typer.Argument(help=f"Pairs to train on: {DATA}", show_default=False)],
    dev: Annotated[str | None, typer.Option(help="Pairs to look at; without it some are held out.")] = None,
    out: Annotated[str | None, typer.Option(help="Run directory to make; by default under runs/.")] = None,
    preset: Annotated[str | None, typer.Option(help="A model by name, such as transformer-base.")] = None,
    recipe: Annotated[str | None, typer.Option(help="A recipe file (YAML).")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override, as model.width=256.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="For everything random.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Updates of the weights at the most.")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0, help="Minutes of training at the most.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on exactly where a run was stopped.")] = False,
    start: Start = None,
    goal: Goal = None,
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    by: By = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda, mps.")] = None,
    json: Json = False,
) -> None:
    """Train on a file of examples. With no recipe, everything is chosen by looking at the data."""
    from seq2see.cli import train as verb

    if preset is not None and recipe is not None:
        raise typer.BadParameter("give --preset or --recipe, not both; a recipe can be changed with --set")
    verb.train(
        {
            "data": data,
            "dev": dev,
            "out": out,
            "preset": preset,
            "recipe": recipe,
            "settings": set_ or (),
            "seed": seed,
            "max_steps": max_steps,
            "max_minutes": max_minutes,
            "resume": resume,
            "start": start,
            "goal": goal,
            "by": by,
            "device": device,
            **named_columns(source, target, features, numbers, categories, images),
        },
        json,
    )


@app.command()
def predict(
    run: Run,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Sources, one a line; images, or folders of them. Standard input by default.",
            show_default=False,
        ),
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="How sure each answer is: of every class, or an interval."),
    ] = False,
    beam: Beam = None,
    nbest: Annotated[
        int | None, typer.Option(min=1, help="Outputs for each line, with rank and log-probability.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw outputs at random instead of searching.")
    ] = False,
    temperature: Annotated[
        float | None, typer.Option(help="Of sampling: below 1 safer, above 1 wilder.")
    ] = None,
    top_k: Annotated[int | None, typer.Option(help="Sample among the k likeliest tokens.")] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Sample among the likeliest tokens that make up p.")
    ] = None,
    length_penalty: Annotated[
        float | None, typer.Option(help="Rank by log-probability / length ** penalty.")
    ] = None,
    hard: Hard = False,
    into: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Of several targets, those to write, as de,fr; by default all."),
    ] = None,
    prefix: Annotated[str | None, typer.Option(help="What every output must begin with.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Tokens of an output at the most.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of sampling.")] = None,
    stop: Annotated[
        list[str] | None,
        typer.Option(help="End a text that is gone on with before this; repeatable, \\n for a new line."),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Tell a text that is gone on with as it is written; by default in a terminal.",
        ),
    ] = None,
    source: SourceColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    device: Device = "auto",
    engine: Engine = "auto",
    int8: Int8 = False,
    edit: Edits = None,
    show_attention: Annotated[
        bool, typer.Option("--show-attention", help="Draw where each output looked, on standard error.")
    ] = False,
    sheet: Annotated[
        Path | None, typer.Option(help="Draw images with their answers: .png, .svg, .pdf.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line, with scores.")] = False,
) -> None:
    """Read sources, write texts, classes, numbers or tags, line by line and in order."""
    from seq2see.cli import predict as verb
    from seq2see.cli.sheet import Sheet

    options = {
        "beam": beam,
        "nbest": nbest,
        "sample": sample or None,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "length_penalty": length_penalty,
        "hard_attention": hard or None,
        "max_length": max_length,
        "seed": seed,
    }
    stops = [one.replace("\\n", "\n").replace("\\t", "\t") for one in stop or ()]
    drawn = Sheet(sheet) if sheet is not None else None
    asked = verb.Asked(
        *(device, engine, int8, prefix, edit or (), show_attention, probabilities, json, stops, stream),
        sheet=drawn,
        into=into,
        options=options,
    )
    verb.predict(
        run, files or ["-"], named_columns(source, None, features, numbers, categories, images), asked
    )


app.command("decode", help="The same as predict.")(predict)


@app.command()
def score(
    run: Run,
    file: Annotated[str, typer.Argument(help=f"Examples: {DATA}", show_default=False)],
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Print the log-probability of each target given its source."""
    from seq2see.cli import score as verb

    verb.score(run, file, named_columns(source, target, features, numbers, categories, images), device, json)


@app.command()
def evaluate(
    run: Run,
    file: Annotated[str, typer.Argument(help=f"Examples: {DATA}", show_default=False)],
    beam: Beam = None,
    hard: Hard = False,
    by: By = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst answers to show.")] = 8,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw what is confused, or numbers beside the right ones: .svg, .png, .pdf."),
    ] = None,
    worst_figure: Annotated[
        Path | None, typer.Option(help="Draw the images of the worst answers: .png, .svg, .pdf.")
    ] = None,
    floor: Annotated[bool, typer.Option(help="What a few lines of code reach, beside each score.")] = True,
    control: Annotated[
        bool,
        typer.Option("--control", help="The same scores with the sources shuffled, none keeping its own."),
    ] = False,
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    device: Device = "auto",
    engine: Engine = "auto",
    int8: Int8 = False,
    edit: Edits = None,
    json: Json = False,
) -> None:
    """Score a run on a file of examples, with the metrics that fit the goal."""
    from seq2see.cli import evaluate as verb
    from seq2see.cli.predict import Asked

    options = {"beam": beam, "hard_attention": hard or None}
    asked = Asked(device, engine, int8, edits=edit or (), as_json=json, options=options)
    columns = named_columns(source, target, features, numbers, categories, images)
    verb.evaluate(run, file, columns, asked, by, worst, figure, floor, control, worst_figure)


@app.command()
def compare(
    run_a: Run,
    run_b: Run,
    file: Annotated[str, typer.Argument(help=f"Examples: {DATA}", show_default=False)],
    beam: Beam = None,
    by: By = None,
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Say whether one run is better than another by more than chance."""
    from seq2see.cli import evaluate as verb
    from seq2see.cli.predict import Asked

    asked = Asked(device, as_json=json, options={"beam": beam})
    verb.compare(
        run_a, run_b, file, named_columns(source, target, features, numbers, categories, images), asked, by
    )


@app.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="The training file first, then dev and test files.", show_default=False
        ),
    ],
    goal: Goal = None,
    source: SourceColumn = None,
    target: TargetColumn = None,
    features: FeatureColumn = None,
    numbers: NumberColumns = None,
    categories: CategoryColumns = None,
    images: ImagePlace = None,
    show: Annotated[int, typer.Option(min=0, help="How many problems of each kind to list.")] = 5,
    json: Json = False,
) -> None:
    """List every problem of data files, with line numbers."""
    from seq2see.cli import check as verb

    verb.check(files, named_columns(source, target, features, numbers, categories, images), goal, show, json)


@app.command()
def info(run: Run, verify: Verify = False, json: Json = False) -> None:
    """Say what a run is: recipe, parameters by part, data, best score; or whether it is whole."""
    from seq2see.cli import info as verb

    verb.info(run, verify, json)


experiments.add_verbs(app)
looking.add_verbs(app)
exchange.add_verbs(app)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Where the demo's data and run go.")] = Path("runs/demo"),
    minutes: Annotated[float, typer.Option(help="How long to train at the most, all models together.")] = 8.0,
    explore: Annotated[bool, typer.Option(help="Serve the explorer at the end.")] = True,
) -> None:
    """Let three models learn to pronounce English in a few minutes, and look inside."""
    from seq2see.cli import demo as show

    show.demo(out, minutes, explore)
