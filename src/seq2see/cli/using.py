"""The verbs that use a trained run: decode, score, evaluate, compare."""

import json
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.progress import track

from seq2see import evaluation
from seq2see.cli.console import answer, errors, results, say, table
from seq2see.data import Pair, PairFile, Problem
from seq2see.data.lines import Arriving, save_standard_input
from seq2see.data.pairs import Columns, columns_of
from seq2see.engines import use_engine
from seq2see.errors import DataError, SettingsError
from seq2see.lens.edits import Edit, parse_edit
from seq2see.lens.looking import Wanted
from seq2see.lens.terminal import HeatMap
from seq2see.run import Model, Output, Source, load
from seq2see.workflow import examples_of

__all__ = ["compare", "decode", "decode_with", "evaluate", "pairs_of", "score"]

_TOGETHER = 16
"""Lines that are written together; every window of decoding has a multiple of it."""


def decode(
    run: Path,
    file: str,
    source: str | None,
    features: str | None,
    prefix: str | None,
    device: str,
    engine: str,
    int8: bool,
    as_json: bool,
    options: dict[str, Any],
    edits: list[str],
    show_attention: bool,
) -> None:
    """Write an output for each line as soon as it is there; exit code 1 if one could not be read."""
    model = load(run, device)
    if edits:
        options = {**options, "edits": [parse_edit(edit) for edit in edits]}
    columns = columns_of(model.recipe.data, source=source, features=features)
    if features is not None and model.codec.features is None:
        raise SettingsError(f"{run} was trained without features; leave --features out")
    if not edits:
        _use_engine(model, run, engine, int8, options, prefix=bool(prefix))
    if decode_with(model, file, columns, prefix, as_json, options, show_attention):
        sys.exit(1)


def decode_with(
    model: Model,
    file: str,
    columns: Columns,
    prefix: str | None,
    as_json: bool,
    options: dict[str, Any],
    show_attention: bool = False,
) -> int:
    """Write an output for each line of a file, and give the number of lines that could not be read."""
    reader = PairFile(file, columns, needs_target=False)
    arriving = Arriving() if file == "-" else None
    inputs = _Inputs(model, reader.parse(iter(arriving)) if arriving else iter(reader))
    ready = arriving.ready if arriving else (lambda: True)
    ranked = _ranked(options)
    outputs = model.decode(inputs, prefix, ready, scored=as_json or ranked, **options)
    for done, found in enumerate(outputs, 1):
        line, source = inputs.lines.popleft()
        _write(line, found, as_json, ranked)
        if show_attention and source.text.strip():
            sys.stdout.flush()
            _show_attention(model, source, found[0], options.get("edits", ()))
        # Nothing waits in a buffer while more input is waited for, or a further window is decoded.
        if not inputs.lines or done % _TOGETHER == 0:
            sys.stdout.flush()
    if inputs.unknown:
        shown = ", ".join(f"{piece!r} x{count:,}" for piece, count in inputs.unknown.most_common(10))
        say(f"symbols that training never showed: {shown}")
    return inputs.bad


def _ranked(options: dict[str, Any]) -> bool:
    """Whether several outputs of a line are told apart by rank and log-probability."""
    return (options.get("nbest") or 1) > 1


class _Inputs:
    """The sources of a stream of lines; a line that cannot be read becomes an empty source."""

    def __init__(self, model: Model, items: Iterator[Pair | Problem]) -> None:
        self._model = model
        self._items = items
        self.lines: deque[tuple[int, Source]] = deque()
        self.unknown: Counter[str] = Counter()
        self.bad = 0

    def __iter__(self) -> Iterator[Source]:
        codec, longest = self._model.codec, 10 * self._model.about["longest_source"]
        for item in self._items:
            if isinstance(item, Problem):
                if item.fatal:
                    self.bad += 1
                    say(f"line {item.line}: {item.kind} ({item.detail}); its output is left empty")
                    yield self._noted(item.line, Source(""))
                continue
            if len(item.source) > longest and len(codec.source.encode(item.source)) > longest:
                size = f"{len(item.source):,} characters"
                say(
                    f"line {item.line} has {size}, far more than any in training; expect little of its output"
                )
            if missing := codec.source.unknown([item.source]):
                self.unknown.update(missing)
            if codec.features and (missing := codec.features.unknown([item.features])):
                self.unknown.update(missing)
            yield self._noted(item.line, Source(item.source, item.features))

    def _noted(self, line: int, source: Source) -> Source:
        self.lines.append((line, source))
        return source


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


def _show_attention(model: Model, source: Source, output: Output, edits: Sequence[Edit]) -> None:
    """Where an output looked, on standard error: all heads of the last attention on the source, averaged."""
    wanted = Wanted(source.text, model.decoding(), source.features, output.ids)
    view = model.lens.look(wanted, edits)
    errors.print(HeatMap(view.alignment().tolist(), view.predicted, view.source))


def _use_engine(
    model: Model, run: Path, name: str, int8: bool, options: dict[str, Any], **needs: bool
) -> None:
    """Let the engine that was asked for decode, and say so."""
    use_engine(model, run, name, int8=int8, settings=model.decoding(**options), **needs)
    if model.engine is not None:
        say(f"decoding with {model.engine}")


def score(
    run: Path,
    file: str,
    source: str | None,
    target: str | None,
    features: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Print a log-probability for each line; an empty line for one without a pair."""
    model = load(run, device)
    lines: list[int] = []

    def pairs() -> Iterator[tuple[str, ...]]:
        for pair in _usable(reader):
            lines.append(pair.line)
            yield pair.source, pair.target, pair.features

    with _at_rest(file) as path:
        columns = columns_of(model.recipe.data, source=source, target=target, features=features)
        reader = PairFile(path, columns)
        if as_json:
            scores = [round(value, 6) for value in model.score(pairs())]
            answer({"scores": scores, "lines": lines, "mean": sum(scores) / len(scores)})
            return
        printed = reader.first_line - 1
        for done, value in enumerate(model.score(pairs())):
            print("\n" * (lines[done] - printed - 1) + f"{value:.6f}", flush=True)
            printed = lines[done]


def evaluate(
    run: Path,
    file: str,
    options: dict[str, Any],
    worst: int,
    source: str | None,
    target: str | None,
    features: str | None,
    device: str,
    engine: str,
    int8: bool,
    as_json: bool,
) -> None:
    """Print scores and the worst outputs."""
    model = load(run, device)
    with _at_rest(file) as path:
        pairs = pairs_of(model, path, source, target, features)
    _use_engine(model, run, engine, int8, options)
    examples = examples_of(model, pairs, **options)
    scores = evaluation.score_outputs(examples, model.unit)
    bad = evaluation.worst(examples, model.unit, worst)
    if as_json:
        answer({**scores, "sources": len(examples), "worst": [asdict(example) for example in bad]})
        return
    rows = [(name, value, evaluation.METRICS[name].meaning) for name, value in scores.items()]
    results.print(
        table(f"{len(examples):,} sources of {file}", ("score", "percent", "meaning"), rows, ["percent"])
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
    with _at_rest(file) as path:
        systems = [
            examples_of(model, pairs_of(model, path, source, target, features), beam=beam)
            for model in track(models, "decoding", console=errors, transient=True)
        ]
    one, other = ([(example.source, example.references) for example in system] for system in systems)
    if one != other:
        raise DataError(
            f"{run_a} and {run_b} do not read the same pairs from {file}: their columns differ; "
            "name the columns with --source, --target and --features"
        )
    first, second = (evaluation.Texts(system, models[0].unit) for system in systems)
    found = evaluation.compare(first, second)
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
            one.test,
        )
        for one in found
    ]
    columns = ("score", "A", "B", "B-A", "p", "significant", "test")
    results.print(
        table(f"A = {run_a}, B = {run_b}; {len(systems[0]):,} sources", columns, lines, columns[1:5])
    )
    results.print("p: how likely chance alone does it; below 0.05 counts as significant", style="dim")


def pairs_of(
    model: Model, path: str, source: str | None, target: str | None, features: str | None
) -> list[Pair]:
    """The usable pairs of a file, its columns as in training unless they are named."""
    columns = columns_of(model.recipe.data, source=source, target=target, features=features)
    return list(_usable(PairFile(path, columns)))


def _usable(file: PairFile) -> Iterator[Pair]:
    """The pairs of a file that has some."""
    pair = None
    for pair in file.pairs():
        yield pair
    if pair is None:
        raise DataError(f"{file.name} has no usable pair; a line should hold source, tab, target")


@contextmanager
def _at_rest(file: str) -> Iterator[str]:
    """A file that can be read more than once: standard input is kept for as long as it is needed."""
    if file != "-":
        yield file
        return
    with tempfile.NamedTemporaryFile(suffix=".tsv") as kept:
        save_standard_input(Path(kept.name))
        yield kept.name
