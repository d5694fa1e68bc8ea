"""The verb `score`: log-probabilities of targets, line by line."""

from collections.abc import Iterator
from pathlib import Path

from seq2see.cli.columns import Named, file_for, usable
from seq2see.cli.console import answer
from seq2see.data import Pair
from seq2see.goals import load
from seq2see.goals.filler import Filler
from seq2see.goals.several_model import SeveralModel

__all__ = ["score"]


def score(run: Path, file: str, columns: Named, device: str, as_json: bool) -> None:
    """Print the log-probability of each line's target; an empty line for one without a pair.

    With several targets: line number, target and log-probability of each that stands there.
    """
    model = load(run, device)
    lines: list[int] = []
    names: list[str] = []

    def noted() -> Iterator[Pair]:
        for pair in usable(reader):
            lines.append(pair.line)
            names.append(pair.into)
            yield pair

    reader = file_for(model, file, columns, by_line=isinstance(model, Filler))
    values = model.target_scores(noted())
    if as_json:
        scores = [round(value, 6) for value in values]
        into = {"into": names} if any(names) else {}
        answer({"scores": scores, "lines": lines, **into, "mean": sum(scores) / len(scores)})
        return
    if isinstance(model, SeveralModel):
        for done, value in enumerate(values):
            print(f"{lines[done]}\t{names[done]}\t{value:.6f}", flush=True)
        return
    printed = reader.first_line - 1
    for done, value in enumerate(values):
        print("\n" * (lines[done] - printed - 1) + f"{value:.6f}", flush=True)
        printed = lines[done]
