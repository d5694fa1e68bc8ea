"""The verb `predict` (or `decode`): answers, line by line."""

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from seq2see.cli.columns import Named, columns_for
from seq2see.cli.console import answer, errors, say, write
from seq2see.cli.sheet import Sheet
from seq2see.data import Pair, PairFile, Problem
from seq2see.data.image_file import ImageFile
from seq2see.data.image_sets import image_name, is_image_set
from seq2see.data.kinds import without_number
from seq2see.data.lines import Arriving
from seq2see.data.pairs import Columns
from seq2see.data.passages import PromptFile
from seq2see.engines import use_engine
from seq2see.errors import SettingsError
from seq2see.goals import Predictor, load
from seq2see.goals.completer import Completer
from seq2see.goals.filler import Filler
from seq2see.goals.reading_model import ReadingModel
from seq2see.goals.several_model import SeveralModel
from seq2see.goals.text_model import Output, Source, TextModel
from seq2see.goals.text_values import NO_OUTPUT
from seq2see.lens.edits import Edit, parse_edit
from seq2see.lens.terminal import PictureShades, shades_of
from seq2see.lens.text_lens import TextRequest
from seq2see.pipes import is_pipe, open_pipe

__all__ = ["Asked", "choose_engine", "predict", "write_outputs"]

_TOGETHER = 16
"""Lines that are written together; every window of decoding has a multiple of it."""


@dataclass(frozen=True)
class Asked:
    """How answers are wanted."""

    device: str = "auto"
    engine: str = "auto"
    int8: bool = False
    prefix: str | None = None
    edits: Sequence[str] = ()
    show_attention: bool = False
    probabilities: bool = False
    as_json: bool = False
    stop: Sequence[str] = ()
    stream: bool | None = None
    """Whether texts are told as they are written; by default in a terminal."""
    sheet: Sheet | None = None
    """Draws images with their answers."""
    into: str | None = None
    """Names of targets with commas between, where a model has several."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of the search, as under `decoding` in a recipe."""


def predict(run: Path, files: Sequence[str], columns: Named, asked: Asked) -> None:
    """Write an answer for each line or image as soon as it is there; exit code 1 if one could not be read."""
    model = load(run, asked.device)
    edits = [parse_edit(edit) for edit in asked.edits]
    here = columns_for(model, columns)
    write_all = next(writer for kind, writer in _WRITERS.items() if isinstance(model, kind))
    if len(files) > 1 and here.images is None:
        raise SettingsError(f"{run} reads texts of one file; name one, or join them with cat and give -")
    if here.images is not None and "-" in files:
        raise SettingsError(f"{run} reads images; name some, a folder, or a table that names them")
    if asked.into is not None and not isinstance(model, SeveralModel):
        raise SettingsError(f"--into is for models trained on several targets; {run} has one, leave it out")
    if asked.sheet is not None and here.images is None:
        raise SettingsError(f"--sheet shows images, and {run} reads texts; leave it out")
    unread = sum([write_all(model, run, file, here, asked, edits) for file in files])
    if asked.sheet is not None:
        asked.sheet.draw()
    if unread:
        sys.exit(1)


def _write_texts(
    model: TextModel, run: Path, file: str, columns: Columns, asked: Asked, edits: Sequence[Edit]
) -> int:
    """Write a text for each line, and give the number of lines that could not be read."""
    _refuse_probabilities(run, asked)
    _refuse_running(run, asked)
    options = {**asked.options, **({"edits": edits} if edits else {})}
    if not edits:
        choose_engine(model, run, asked, prefix=bool(asked.prefix))
    return write_outputs(model, file, columns, asked, options)


def _refuse_probabilities(run: Path, asked: Asked) -> None:
    if asked.probabilities:
        raise SettingsError(f"{run} writes texts; --nbest and --json give their log-probabilities")


def _refuse_running(run: Path, asked: Asked) -> None:
    for name, given in {"--stop": asked.stop, "--stream": asked.stream}.items():
        if given:
            raise SettingsError(
                f"{name} is for models that go on with a text (--goal complete); {run} is none, leave it out"
            )


def _write_completions(
    model: Completer, run: Path, file: str, columns: Columns, asked: Asked, edits: Sequence[Edit]
) -> int:
    """Write each line with what follows it."""
    _refuse_probabilities(run, asked)
    misfits = {
        "--prefix": asked.prefix,
        "--int8": asked.int8,
        "--engine": asked.engine not in ("auto", "torch"),
        "--hard": asked.options.get("hard_attention"),
    }
    for name in (name for name, given in misfits.items() if given):
        raise SettingsError(f"{run} goes on with a text, where {name} means nothing yet; leave it out")
    inputs = _Inputs(model, *_lines(file, columns, PromptFile))
    ranked = (asked.options.get("nbest") or 1) > 1
    alone = not (ranked or asked.as_json or asked.show_attention or (asked.options.get("beam") or 1) > 1)
    if asked.stream or (asked.stream is None and alone and sys.stdout.isatty()):
        if not alone:
            raise SettingsError(
                "--stream tells a text as it is written; leave --json, --nbest, --beam, --show-attention out"
            )
        return _stream(model, inputs, asked, edits)
    outputs = model.decode((one.source for one in inputs), inputs.ready, asked.stop, edits, **asked.options)
    for found in outputs:
        prompt = inputs.waiting.popleft()
        read = prompt.line not in inputs.unread
        _write(prompt.line, found if read else [NO_OUTPUT], asked.as_json, ranked)
        if asked.show_attention and read:
            sys.stdout.flush()
            target = found[0].ids[model.source_length(prompt) :]
            _show_attention(model, TextRequest(prompt.source, model.decoding(beam=1), target=target), edits)
        if not inputs.waiting:
            sys.stdout.flush()
    return inputs.finish()


def _stream(model: Completer, inputs: "_Inputs", asked: Asked, edits: Sequence[Edit]) -> int:
    """Write each line with what follows it, as it is written; an interruption ends the line."""
    for number, prompt in enumerate(inputs):
        inputs.waiting.popleft()
        if prompt.line in inputs.unread:
            write("")
            continue
        try:
            write(prompt.source, end="")
            sys.stdout.flush()
            for piece in model.stream(prompt.source, asked.stop, edits, number, **asked.options):
                write(piece, end="")
                sys.stdout.flush()
        finally:
            write("")
            sys.stdout.flush()
    return inputs.finish()


def _refuse_search(run: Path, model: ReadingModel[Any], asked: Asked) -> None:
    given = [f"--{name.replace('_', '-')}" for name, value in asked.options.items() if value is not None]
    given += ["--prefix"] * (asked.prefix is not None) + ["--int8"] * asked.int8
    given += ["--engine"] * (asked.engine not in ("auto", "torch"))
    if given:
        raise SettingsError(
            f"{run} is for the goal {model.recipe.goal}, which searches for nothing; leave {given[0]} out"
        )


def write_outputs(
    model: TextModel, file: str, columns: Columns, asked: Asked, options: dict[str, Any]
) -> int:
    """Write an output for each line of a file, and give the number of lines that could not be read."""
    inputs = _Inputs(model, *_lines(file, columns), _shows_names(file, columns))
    ranked = (options.get("nbest") or 1) > 1
    sources = (Source(one.source, one.features) for one in inputs)
    into = _targets(model, asked)
    scored = asked.as_json or ranked
    outputs = model.decode_each(sources, into, asked.prefix, inputs.ready, scored, **options)
    for done, found in enumerate(outputs, 1):
        example = inputs.waiting.popleft()
        if isinstance(model, SeveralModel):
            _write_targets(example.line, dict(zip(into, found, strict=True)), asked.as_json, ranked)
        else:
            _write(example.line, found[0], asked.as_json, ranked, inputs.name(example))
        if asked.sheet is not None:
            asked.sheet.add(example.source, found[0][0].text)
        if asked.show_attention and example.source.strip():
            sys.stdout.flush()
            for name, (best, *_) in zip(into, found, strict=True):
                wanted = TextRequest(example.source, model.decoding(), example.features, best.ids, into=name)
                _show_attention(model, wanted, options.get("edits", ()))
        # Nothing waits in a buffer while more input is waited for, or a further window is decoded.
        if not inputs.waiting or done % _TOGETHER == 0:
            sys.stdout.flush()
    return inputs.finish()


def _targets(model: TextModel, asked: Asked) -> list[str]:
    """The names of the targets that are wanted; a model of one target has no name for it."""
    if not isinstance(model, SeveralModel):
        return [""]
    given = asked.into.split(",") if asked.into is not None else None
    names = model.chosen([name.strip() for name in given] if given is not None else None)
    if asked.prefix and len(names) > 1:
        raise SettingsError(
            f"--prefix is what outputs of one target begin with; name it, as --into {names[0]}"
        )
    return names


def _write_targets(number: int, found: dict[str, list[Output]], as_json: bool, ranked: bool) -> None:
    """Write the outputs of a line: a column for each target, or a line for each output of each target."""
    if as_json:
        answer({"line": number, "targets": {name: [*map(asdict, one)] for name, one in found.items()}})
    elif ranked:
        for name, outputs in found.items():
            for rank, output in enumerate(outputs, 1):
                write(f"{number}\t{name}\t{rank}\t{output.log_probability:.4f}\t{output.text}")
    else:
        write("\t".join(outputs[0].text.replace("\t", " ") for outputs in found.values()))


def _write_answers(
    model: ReadingModel[Any], run: Path, file: str, columns: Columns, asked: Asked, edits: Sequence[Edit]
) -> int:
    """The same for a model that reads but does not write."""
    _refuse_search(run, model, asked)
    _refuse_running(run, asked)
    inputs = _Inputs(model, *_lines(file, columns), _shows_names(file, columns))
    for found in model.answers(inputs, edits, inputs.ready):
        example = inputs.waiting.popleft()
        name = inputs.name(example)
        if asked.sheet is not None:
            asked.sheet.add(example.source, found.brief)
        if asked.as_json:
            answer({"line": example.line, **({"image": name} if name else {}), **found.values()})
        else:
            said = f"{found.text}\t{found.detail}" if asked.probabilities else found.text
            write(f"{name}\t{said}" if name else said)
        if asked.show_attention and example.source.strip():
            sys.stdout.flush()
            _show_reading(model, example, edits)
        if not inputs.waiting:
            sys.stdout.flush()
    return inputs.finish()


def _write_filled(
    model: Filler, run: Path, file: str, columns: Columns, asked: Asked, edits: Sequence[Edit]
) -> int:
    """Write each line with its gaps filled; a line without any stays as it is."""
    nbest = asked.options.get("nbest") or 1
    _refuse_search(run, model, replace(asked, options={**asked.options, "nbest": None}))
    inputs = _Inputs(model, *_lines(file, columns, PromptFile))
    for found in model.answers(inputs, edits, inputs.ready):
        example = inputs.waiting.popleft()
        outputs = [Output(text, (), score, score, False) for text, score in found.texts[:nbest]]
        if asked.as_json:
            ranked = [{"text": one.text, "log_probability": one.score} for one in outputs]
            answer({"line": example.line, **found.values(), "outputs": ranked})
        elif asked.probabilities:
            write(f"{found.text}\t{found.detail}")
        else:
            _write(example.line, outputs, False, nbest > 1)
        if asked.show_attention and model.gaps(example.source):
            sys.stdout.flush()
            _show_reading(model, example, edits)
        if not inputs.waiting:
            sys.stdout.flush()
    return inputs.finish()


_WRITERS: dict[type[Any], Callable[..., int]] = {
    TextModel: _write_texts,
    Completer: _write_completions,
    Filler: _write_filled,
    ReadingModel: _write_answers,
}
"""By the kind of a model: what writes its answers, and gives the number of lines that could not be read."""


def _show_reading(model: ReadingModel[Any], example: Pair, edits: Sequence[Edit]) -> None:
    """Where a model that reads looked, on standard error; without attention, what each token did."""
    view = model.lens.look(example, edits)
    if view.weights:
        errors.print(shades_of(view))
        return
    missing = "place is grey" if view.picture is not None else "token is unknown"
    errors.print(f"no attention; what the answer loses where a {missing} (occlusion):", style="dim")
    lost = model.lens.attribution(example, "occlusion", edits)
    if view.picture is not None:
        errors.print(PictureShades(view.predicted, lost[:, view.grid.first :], view.grid.columns))
        return
    for said, row in zip(view.predicted, lost.tolist(), strict=True):
        told = "  ".join(f"{token} {value:+.2f}" for token, value in zip(view.source, row, strict=True))
        errors.print(f"{said}: {told}")


def _lines(
    file: str, columns: Columns, opens: type[PairFile] = PairFile
) -> tuple[Iterator[Pair | Problem], Callable[[], bool]]:
    """The lines or images of a file or of standard input, and whether the next can be had without waiting."""
    opens = opens if columns.images is None else ImageFile
    numbers = list(map(str, columns.numbers))
    reader = opens(file, columns, needs_target=False, check=lambda example: without_number(example, numbers))
    if not is_pipe(Path(file)):
        return iter(reader), lambda: True
    arriving = Arriving(open_pipe(Path(file)), "standard input" if file == "-" else file)
    return reader.parse(iter(arriving)), arriving.ready


def _shows_names(file: str, columns: Columns) -> bool:
    """Whether answers stand beside the names of images: a table has lines of its own to go by."""
    return columns.images is not None and is_image_set(file)


class _Inputs:
    """The examples of a stream of lines; a line that cannot be read becomes an empty one."""

    def __init__(
        self,
        model: Predictor,
        items: Iterator[Pair | Problem],
        ready: Callable[[], bool],
        names: bool = False,
    ) -> None:
        self._items, self.ready, self._names = items, ready, names
        self._longest = 10 * max(1, model.facts.longest_source)
        self._model = model
        self.waiting: deque[Pair] = deque()
        self._unknown: Counter[str] = Counter()
        self.unread: set[int] = set()
        """Lines that could not be read."""

    def __iter__(self) -> Iterator[Pair]:
        for item in self._items:
            if isinstance(item, Problem):
                if item.fatal:
                    self.unread.add(item.line)
                    say(f"line {item.line}: {item.kind} ({item.detail}); its output is left empty")
                    yield self._noted(Pair(item.line, "", "", ""))
                continue
            if len(item.source) > self._longest and self._model.source_length(item) > self._longest:
                size = f"{len(item.source):,} characters"
                say(
                    f"line {item.line} has {size}, far more than any in training; expect little of its output"
                )
            self._unknown.update(self._model.unknown(item))
            yield self._noted(item)

    def name(self, example: Pair) -> str | None:
        """The name of an image that answers should show."""
        return image_name(example.source) or "?" if self._names else None

    def _noted(self, example: Pair) -> Pair:
        self.waiting.append(example)
        return example

    def finish(self) -> int:
        """Say what training never showed; gives the number of lines that could not be read."""
        if self._unknown:
            shown = ", ".join(f"{piece!r} x{count:,}" for piece, count in self._unknown.most_common(10))
            say(f"symbols that training never showed: {shown}")
        return len(self.unread)


def _write(number: int, found: list[Output], as_json: bool, ranked: bool, name: str | None = None) -> None:
    if as_json:
        shown = {"image": name} if name else {}
        answer({"line": number, **shown, "outputs": [asdict(output) for output in found]})
    elif ranked:
        for rank, output in enumerate(found, 1):
            write(f"{number}\t{rank}\t{output.log_probability:.4f}\t{output.text}")
    else:
        write(f"{name}\t{found[0].text}" if name else found[0].text)


def _show_attention(model: TextModel | Completer, wanted: TextRequest, edits: Sequence[Edit]) -> None:
    """Where an output looked, on standard error: all heads of the last attention, averaged."""
    view = model.lens.look(wanted, edits)
    errors.print(shades_of(view))


def choose_engine(model: TextModel, run: Path, asked: Asked, **needs: bool) -> None:
    """Let the engine that was asked for decode, and say so."""
    settings = model.decoding(**asked.options)
    use_engine(model, run, asked.engine, int8=asked.int8, settings=settings, **needs)
    if model.engine is not model.own_loop:
        say(f"decoding with {model.engine}")
