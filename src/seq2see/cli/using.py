"""The verbs that use a trained run: decode, score, evaluate, compare."""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import track

from seq2see import evaluation
from seq2see.cli.console import answer, errors, results, table
from seq2see.data import Pair, PairFile, Problem
from seq2see.data.lines import Arriving, save_standard_input
from seq2see.data.pairs import columns_of
from seq2see.errors import DataError
from seq2see.run import Model, Output, Source, load
from seq2see.workflow import examples_of

__all__ = ["compare", "decode", "evaluate", "score"]


def decode(
    run: Path,
    file: str,
    source: str | None,
    features: str | None,
    prefix: str | None,
    device: str,
    as_json: bool,
    options: dict[str, Any],
) -> None:
    """Write an output line for each input line, as soon as it is there."""
    model = load(run, device)
    columns = columns_of(model.recipe.data, source=source, features=features)
    reader = PairFile(file, columns, needs_target=False)
    arriving = Arriving() if file == "-" else None
    longest = 10 * model.about["longest_source"]

    unknown: Counter[str] = Counter()

    def sources() -> Iterator[Source]:
        for item in reader.parse(iter(arriving)) if arriving else reader:
            if isinstance(item, Problem):
                if item.fatal:
                    raise DataError(f"{reader.name}, line {item.line}: {item.kind} ({item.detail})")
                continue
            if len(item.source) > longest and len(model.codec.source.encode(item.source)) > longest:
                errors.print(
                    f"line {item.line} has {len(item.source):,} characters, far more than any in training; "
                    "expect little of its output",
                    highlight=False,
                )
            unknown.update(model.codec.source.unknown([item.source]))
            yield Source(item.source, item.features)

    waits = {"ready": arriving.ready} if arriving else {}
    outputs = model.decode(sources(), prefix, **waits, **options)
    for number, found in enumerate(outputs, 1):
        _write(number, found, as_json, (options["nbest"] or 1) > 1)
    if unknown:
        shown = ", ".join(f"{piece!r} x{count:,}" for piece, count in unknown.most_common(10))
        errors.print(
            f"symbols that training never showed: {shown}", markup=False, highlight=False, soft_wrap=True
        )


def _write(number: int, found: list[Output], as_json: bool, ranked: bool) -> None:
    if as_json:
        print(
            json.dumps({"line": number, "outputs": [asdict(output) for output in found]}, ensure_ascii=False)
        )
    elif ranked:
        for rank, output in enumerate(found, 1):
            print(f"{number}\t{rank}\t{output.log_probability:.4f}\t{output.text}")
    else:
        print(found[0].text)
    sys.stdout.flush()


def score(
    run: Path,
    file: str,
    source: str | None,
    target: str | None,
    features: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Print a log-probability for each usable line."""
    model = load(run, device)
    pairs = _pairs(model, file, source, target, features)
    scores = model.score((pair.source, pair.target, pair.features) for pair in pairs)
    if as_json:
        listed = [round(value, 6) for value in scores]
        answer({"scores": listed, "mean": sum(listed) / len(listed)})
        return
    for value in scores:
        print(f"{value:.6f}", flush=True)


def evaluate(
    run: Path,
    file: str,
    beam: int | None,
    worst: int,
    source: str | None,
    target: str | None,
    features: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Print scores and the worst outputs."""
    model = load(run, device)
    examples = examples_of(model, _pairs(model, file, source, target, features), beam=beam)
    scores = evaluation.score_outputs(examples, model.unit)
    bad = evaluation.worst(examples, model.unit, worst)
    if as_json:
        answer({**scores, "sources": len(examples), "worst": [asdict(example) for example in bad]})
        return
    rows = [(name, value, _meaning(name, model.unit)) for name, value in scores.items()]
    results.print(
        table(f"{len(examples):,} sources of {file}", ("score", "percent", "meaning"), rows, "percent")
    )
    if bad:
        shown = [(e.source, e.output, " | ".join(e.references)) for e in bad]
        results.print(table("worst outputs", ("source", "output", "should be"), shown))


def compare(
    run_a: Path,
    run_b: Path,
    file: str,
    beam: int | None,
    source: str | None,
    target: str | None,
    features: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Print the scores of two runs and whether their difference is significant."""
    models = [load(run, device) for run in (run_a, run_b)]
    systems = [
        examples_of(model, _pairs(model, file, source, target, features), beam=beam)
        for model in track(models, "decoding", console=errors, transient=True)
    ]
    found = evaluation.compare(systems[0], systems[1], models[0].unit)
    if as_json:
        rows = {
            one.metric: {"a": one.first, "b": one.second, "difference": one.difference, "p": one.p}
            for one in found
        }
        answer({"sources": len(systems[0]), **rows})
        return
    lines = [
        (
            one.metric,
            one.first,
            one.second,
            f"{one.difference:+.2f}",
            f"{one.p:.3f}",
            "yes" if one.significant else "no",
        )
        for one in found
    ]
    columns = ("score", "A", "B", "B-A", "p", "significant")
    results.print(
        table(f"A = {run_a}, B = {run_b}; {len(systems[0]):,} sources", columns, lines, "A B B-A p")
    )
    results.print("p: paired bootstrap, 1,000 draws; below 0.05 counts as significant", style="dim")


def _meaning(metric: str, unit: evaluation.Unit) -> str:
    whole = "outputs that equal no reference (word error rate of whole outputs)"
    return {
        "exact": "outputs that equal a reference",
        "wer": "edits per reference word" if unit == "words" else whole,
        "ser": "edits per reference symbol",
        "bleu": "n-grams in common (sacrebleu)",
        "chrf": "letter n-grams in common (sacrebleu)",
        "ter": "edits with shifts per word (sacrebleu)",
    }[metric]


def _pairs(
    model: Model, file: str, source: str | None, target: str | None, features: str | None
) -> list[Pair]:
    columns = columns_of(model.recipe.data, source=source, target=target, features=features)
    if file != "-":
        return _usable(PairFile(file, columns))
    with tempfile.NamedTemporaryFile(suffix=".tsv") as kept:
        save_standard_input(Path(kept.name))
        return _usable(PairFile(kept.name, columns))


def _usable(file: PairFile) -> list[Pair]:
    pairs = list(file.pairs())
    if not pairs:
        raise DataError(f"{file.name} has no usable pair; a line should hold source, tab, target")
    return pairs
