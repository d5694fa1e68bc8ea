"""How far an engine is from our own loop, and from itself called directly, on a run and its sources.

python benchmarks/engines.py RUN SOURCES
"""

import os
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from seq2see.cli.predict import Asked, write_outputs
from seq2see.engines.ctranslate2 import CTranslate2
from seq2see.engines.export import source_names
from seq2see.goals import load_text
from seq2see.goals.text_model import Output, Source, TextModel

SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "beam 5": {"beam": 5},
    "beam 5, length penalty 1": {"beam": 5, "length_penalty": 1.0},
    "beam 5, 5 best": {"beam": 5, "nbest": 5},
}
BATCHES = (16, 32, 64, 128)
ROUNDS = 3


def main(run: Path, file: Path) -> None:
    """Print a table of agreement and one of speed."""
    model = load_text(run, "cpu")
    lines = file.read_text(encoding="utf-8").splitlines()
    sources = [Source(line.split("\t")[0]) for line in lines]
    exact, small = CTranslate2(model, run), CTranslate2(model, run, int8=True)
    print(
        "| search | equal, 32 bits | lower score | log-probabilities differ by | equal, 8 bits |\n"
        + "|---" * 5
        + "|"
    )
    for name, options in SEARCHES.items():
        own, its, coarse = (_outputs(model, engine, sources, options) for engine in (None, exact, small))
        worse = sum(_worse(a, b) for a, b in zip(own, its, strict=True))
        far = max(abs(x.log_probability - y.log_probability) for x, y in _alike(own, its))
        print(f"| {name} | {_share(own, its):.1%} | {worse} | {far:.0e} | {_share(own, coarse):.1%} |")
    print("\n| search | bits | direct, sentences/s | through decode | ratio |\n" + "|---" * 5 + "|")
    for beam in (1, 5):
        for int8 in (False, True):
            direct, through = _speed(model, run, file, [one.text for one in sources], beam, int8)
            row = f"beam {beam} | {8 if int8 else 32} | {direct:,.0f} | {through:,.0f}"
            print(f"| {row} | {through / direct:.2f} |", flush=True)


def _outputs(
    model: TextModel, engine: CTranslate2 | None, sources: list[Source], options: dict[str, Any]
) -> list[list[Output]]:
    model.engine = engine or model.own_loop
    return list(model.decode(sources, **options))


def _worse(own: list[Output], its: list[Output]) -> bool:
    """Whether something in a list scores lower than what our own loop has at its rank."""
    return any(y.score < x.score - 1e-3 for x, y in zip(own, its, strict=True))


def _share(own: list[list[Output]], its: list[list[Output]]) -> float:
    same = ([x.ids for x in a] == [x.ids for x in b] for a, b in zip(own, its, strict=True))
    return sum(same) / len(own)


def _alike(own: list[list[Output]], its: list[list[Output]]) -> list[tuple[Output, Output]]:
    return [(a[0], b[0]) for a, b in zip(own, its, strict=True) if a[0].ids == b[0].ids]


def _speed(
    model: TextModel, run: Path, file: Path, texts: list[str], beam: int, int8: bool
) -> tuple[float, float]:
    """Sentences a second: the engine alone on prepared tokens at its best batch, and all of `decode`."""
    engine = CTranslate2(model, run, int8)
    names = source_names(model.codec)
    tokens = [[names[place] for place in ids] for ids in model.codec.encode_sources(texts)]
    limit = model.output_limit(max(map(len, tokens)), model.decoding(beam=beam), 0)

    def direct(size: int) -> None:
        engine._translator.translate_batch(
            tokens,
            max_batch_size=size,
            beam_size=beam,
            length_penalty=0,
            max_input_length=0,
            max_decoding_length=limit,
        )

    def through() -> None:
        with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
            write_outputs(model, str(file), model.recipe.data, Asked(), {"beam": beam})

    model.engine = engine
    tried: dict[Any, list[float]] = {}
    for _ in range(ROUNDS):
        for size in BATCHES:
            tried.setdefault(size, []).append(_seconds(lambda size=size: direct(size)))  # type: ignore[misc]
        tried.setdefault("through", []).append(_seconds(through))
    rates = {name: len(texts) / statistics.median(times) for name, times in tried.items()}
    through_decode = rates.pop("through")
    return max(rates.values()), through_decode


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
