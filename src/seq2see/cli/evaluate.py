"""The verbs `evaluate` and `compare`: how good a run is, and whether another is better."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.progress import track

from seq2see.cli.columns import Named, examples_for
from seq2see.cli.console import answer, errors, figure_kind, results, say, table, write_figure
from seq2see.cli.predict import Asked, choose_engine
from seq2see.cli.sheet import Sheet
from seq2see.data import Pair
from seq2see.data.image_sets import image_name
from seq2see.data.values import many
from seq2see.errors import DataError, SettingsError
from seq2see.evaluation import METRICS, Captions, Outcome
from seq2see.evaluation import compare as compare_outcomes
from seq2see.evaluation.captions import CIDER_NEEDS, has_cider
from seq2see.goals import Predictor, load
from seq2see.goals.text_model import TextModel
from seq2see.goals.text_values import COUNTED
from seq2see.judgement import Judgement, judge, training_examples
from seq2see.lens.edits import parse_edit

__all__ = ["compare", "evaluate"]

_DRAWN = 24


def evaluate(
    run: Path,
    file: str,
    columns: Named,
    asked: Asked,
    by: str | None = None,
    worst: int = 8,
    figure: Path | None = None,
    floor: bool = True,
    control: bool = False,
    worst_figure: Path | None = None,
) -> None:
    """Print scores beside the floor, what was confused with what, and the worst answers."""
    drawn = figure_kind(figure)
    sheet = Sheet(worst_figure) if worst_figure is not None else None
    model = load(run, asked.device)
    if sheet is not None and model.recipe.data.images is None:
        raise SettingsError(f"--worst-figure shows images, and {run} reads texts; leave it out")
    examples = examples_for(model, file, columns)
    options = dict(asked.options)
    counted = _counted(model, examples, by, options)
    if isinstance(model, TextModel) and not asked.edits:
        choose_engine(model, run, asked)
    if asked.edits:
        options["edits"] = [parse_edit(edit) for edit in asked.edits]
    found = judge(model, examples, options, training_examples(model) if floor else None, control=control)
    if isinstance(found.outcome, Captions) and not has_cider():
        say(CIDER_NEEDS)
    if figure is not None:
        write_figure(figure, found.figure(drawn))
    bad = found.worst(worst)
    if sheet is not None:
        _draw_worst(sheet, found)
    if asked.as_json:
        answer({**found.values(), "sources": len(found.outcome), **counted, "worst": bad})
        return
    _show(found, file, counted, bad)


def _draw_worst(sheet: Sheet, found: Judgement) -> None:
    """Draw the images of the worst answers, the surest errors first, with what they should have been."""
    sources = {image_name(one.source): one.source for one in found.examples}
    for one in found.worst(_DRAWN):
        name = next(str(one.pop(key)) for key in ("image", "source", "text") if key in one)
        if references := one.pop("references", None):
            one["should be"] = references[0]
        told = "\n".join(f"{key}: {value}" for key, value in one.items())
        sheet.add(sources[image_name(name)], told)
    sheet.draw()


def _counted(
    model: Predictor, examples: Sequence[Pair], by: str | None, options: dict[str, Any]
) -> dict[str, str]:
    """What is counted once, where that is a question: lines, or distinct sources."""
    if by not in (None, "line", "source"):
        raise SettingsError(f"--by {by!r}; choose line or source")
    if not isinstance(model, TextModel):
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise SettingsError(f"--{given[0].split('_')[0]} is for models that write texts; leave it out")
        options.clear()
        if by == "source":
            raise SettingsError(
                f"--by source is for models that write texts; for {model.recipe.goal} a line counts"
            )
        return {"by": "example"}
    options["by"] = by or model.counted_by(examples)
    return {"by": options["by"]}


def _show(found: Judgement, file: str, counted: dict[str, str], bad: Sequence[dict[str, Any]]) -> None:
    how = COUNTED.get(counted["by"])
    title = many(len(found.outcome), counted["by"]) + f" of {file}" + (f": {how}" if how else "")
    beside: dict[str, Mapping[str, float]] = {"floor": {}}
    if found.floor is not None:
        beside = {f"floor: {found.floor.name}": found.floor.scores}
    if found.shuffled is not None:
        beside["sources shuffled"] = found.shuffled
    rows = [
        (
            name,
            *(
                _told(name, scores[name]) if name in scores else ""
                for scores in (found.scores, *beside.values())
            ),
            METRICS[name.rsplit(".", 1)[-1]].meaning,
        )
        for name in found.scores
    ]
    results.print(table(title, ("score", "value", *beside, "meaning"), rows, ["value", *beside]))
    if found.below_floor and found.floor is not None:
        results.print(f"beware: {found.floor.name}, a few lines of code, does better", style="bold red")
    if found.confusion:
        results.print(
            table("most confused", ("right", "said instead", "times"), found.confusion[:12], ["times"])
        )
    if bad:
        columns = list(bad[0])
        shown = [
            [" | ".join(cell) if isinstance(cell, list) else cell for cell in one.values()] for one in bad
        ]
        results.print(table("worst answers", columns, shown))


def _told(name: str, value: float, sign: str = "") -> str:
    """A score with two decimals, or with three where it is no share and small, as CIDEr is."""
    small = METRICS[name.rsplit(".", 1)[-1]].unit == "" and abs(value) < 1
    return f"{value:{sign},.{3 if small else 2}f}"


def compare(run_a: Path, run_b: Path, file: str, columns: Named, asked: Asked, by: str | None = None) -> None:
    """Print the scores of two runs and whether their difference is significant."""
    models = [load(run, asked.device) for run in (run_a, run_b)]
    if models[0].recipe.goal != models[1].recipe.goal:
        raise SettingsError(f"{run_a} is for {models[0].recipe.goal} and {run_b} for {models[1].recipe.goal}")
    outcomes: list[Outcome] = []
    read = [examples_for(model, file, columns) for model in models]
    if read[0] != read[1]:
        raise DataError(
            f"{run_a} and {run_b} do not read the same examples from {file}: their columns differ; "
            "name the columns with --source, --target and --features"
        )
    counted: dict[str, str] = {}
    for model in track(models, "decoding", console=errors, transient=True):
        options = dict(asked.options)
        counted = _counted(model, read[0], by, options)
        outcomes.append(model.outcome(read[0], **options))
    found = compare_outcomes(outcomes[0], outcomes[1])
    if asked.as_json:
        rows = {
            one.metric: {
                "a": one.first,
                "b": one.second,
                "difference": one.difference,
                "p": one.p,
                "test": one.test,
            }
            for one in found
        }
        answer({"sources": len(outcomes[0]), **counted, **rows})
        return
    lines = [
        (
            one.metric,
            _told(one.metric, one.first),
            _told(one.metric, one.second),
            _told(one.metric, one.difference, "+"),
            f"{one.p:.3f}",
            "yes" if one.significant else "no",
            one.test,
        )
        for one in found
    ]
    heads = ("score", "A", "B", "B-A", "p", "significant", "test")
    title = f"A = {run_a}, B = {run_b}; {len(outcomes[0]):,} {counted['by']}s"
    results.print(table(title, heads, lines, heads[1:5]))
    results.print("p below 0.05 counts as significant; the bootstrap has 1,000 draws", style="dim")
