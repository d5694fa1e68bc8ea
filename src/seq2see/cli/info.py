"""The verb `info`."""

from dataclasses import asdict
from pathlib import Path

from rich.syntax import Syntax

from seq2see.cli.console import answer, results, table
from seq2see.cli.verify import verify
from seq2see.goals import load
from seq2see.settings import write_yaml
from seq2see.training import Checkpoints
from seq2see.training.log import read_log
from seq2see.wording import visible

__all__ = ["info"]


def info(run: Path, whole: bool, as_json: bool) -> None:
    """Print the recipe, the parameters by part, the data and the best score of a run; or if it is whole."""
    if whole:
        verify(run, as_json)
        return
    model = load(run, "cpu")
    counts = model.network.parameter_counts()
    scores = Checkpoints(run).best()
    steps = max((record["step"] for record in read_log(run / "metrics.jsonl")), default=0)
    if as_json:
        answer(
            {
                "run": str(run),
                "recipe": model.recipe.model_dump(mode="json"),
                "parameters": counts,
                "data": asdict(model.facts),
                "best": scores,
                "step": steps,
            }
        )
        return
    if results.is_terminal:
        results.print(
            Syntax(visible(write_yaml(model.recipe)), "yaml", background_color="default", word_wrap=True)
        )
    else:
        print(write_yaml(model.recipe))
    rows = [*counts.items(), ("all", sum(counts.values()))]
    results.print(table("parameters", ("part", "count"), rows, ["count"]))
    data = [
        (name.replace("_", " ").replace("pairs", "examples"), value)
        for name, value in asdict(model.facts).items()
        if isinstance(value, int | float)
    ]
    data += [(f"examples into {name}", count) for name, count in model.facts.targets.items()]
    results.print(table("data", ("what", "value"), data, ["value"]))
    results.print(
        table(f"best weights, of {steps:,} steps so far", ("what", "value"), scores.items(), ["value"])
    )
