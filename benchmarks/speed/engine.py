"""The fast engine: the whole command `seq2see decode`, against CTranslate2 on tokens that are ready."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import sacrebleu

from benchmarks.lab import CommandError, Lab
from benchmarks.speed.decoding import Carried, Size, run_tool
from benchmarks.speed.results import Result
from benchmarks.speed.tasks import LONGEST, read_lines, write_lines

__all__ = ["engine"]

BEAMS = {1: "greedy", 5: "beam 5"}
TYPES = {"fp32": ["--engine", "ctranslate2"], "int8": ["--engine", "ctranslate2", "--int8"]}
OWN = {"own loop": ["--engine", "torch"]}


def engine(lab: Lab, models: list[Carried], repeats: int, size: Size, lines: int) -> Iterator[Result]:
    """Command and library in turn, on the test lines repeated to so many."""
    for carried in models:
        try:
            yield from _quality(lab, carried)
        except CommandError as failure:
            yield Result(carried.text.task.name, "engine", "seq2see decode", 0).failed(failure)
    for repeat in range(repeats):
        for carried in models:
            test = read_lines(carried.text.file("test.src"))
            bulk, one = carried.folder / f"bulk-{lines}.src", carried.folder / "one.src"
            write_lines(bulk, [test[number % len(test)] for number in range(lines)])
            write_lines(one, test[:1])
            for kind in TYPES:
                blank = Result(carried.text.task.name, kind, "seq2see decode", repeat)
                try:
                    yield from _command(lab, carried, kind, bulk, one, lines, blank)
                    yield from _library(lab, carried, kind, bulk, size, blank)
                except CommandError as failure:
                    yield replace(blank, work=f"engine {kind}").failed(failure)


def _command(
    lab: Lab, carried: Carried, kind: str, bulk: Path, one: Path, lines: int, blank: Result
) -> Iterator[Result]:
    """Throughput without and with the start, which is the time that one line takes."""
    for beam, name in BEAMS.items():
        work = f"engine {kind}, {name}, {lines:,} lines"
        options = [*TYPES[kind], "--beam", str(beam), "--max-length", str(LONGEST)]
        # The first call may export the model into the run.
        lab.seq2see("decode", carried.run, one, *options)
        start = lab.seq2see("decode", carried.run, one, *options).seconds
        cost = lab.seq2see("decode", carried.run, bulk, *options)
        after_start, memory = lines / (cost.seconds - start), cost.megabytes
        yield replace(blank, work=work).measured(after_start, "sentences/s", megabytes=memory)
        whole = replace(blank, work=work, tool="seq2see decode, start-up counted")
        yield whole.measured(lines / cost.seconds, "sentences/s", megabytes=memory)
        yield replace(blank, work=f"start-up, engine {kind}").measured(start, "s", option=name)


def _library(
    lab: Lab, carried: Carried, kind: str, bulk: Path, size: Size, blank: Result
) -> Iterator[Result]:
    """CTranslate2 at the setting that is best on the test lines."""
    tool = f"CTranslate2 {kind}"
    found, cost, _ = run_tool(lab, carried, tool, size, bulk)
    for one in found["found"]:
        if one["work"].endswith(", bulk"):
            work = f"engine {kind}, {one['work'].removesuffix(', bulk')}, {one['sentences']:,} lines"
            yield replace(blank, work=work, tool=tool).measured(
                one["sentences"] / one["seconds"],
                "sentences/s",
                tokens_per_second=one["tokens"] / one["seconds"],
                megabytes=cost.megabytes,
                note=one["setting"],
            )


def _quality(lab: Lab, carried: Carried) -> Iterator[Result]:
    """Greedy outputs beside those of our own loop, and the BLEU of a beam where there are sentences."""
    test, task = carried.text.file("test.src"), carried.text.task.name

    def outputs(options: list[str], beam: int) -> list[str]:
        limits = ["--beam", str(beam), "--max-length", str(LONGEST)]
        written = lab.seq2see("decode", carried.run, test, *options, *limits).output
        return written.removesuffix("\n").split("\n")

    own = outputs(OWN["own loop"], 1)
    for kind, options in TYPES.items():
        same = sum(one == other for one, other in zip(own, outputs(options, 1), strict=True))
        result = Result(task, "greedy outputs equal to our own loop's", f"seq2see decode {kind}", 0)
        yield result.measured(100 * same / len(own), "%")
    if not (reference := carried.text.file("test.de")).exists():
        return
    for kind, options in (OWN | TYPES).items():
        words = [output.replace(" ", "").replace("</w>", " ").strip() for output in outputs(options, 5)]
        # Both sides are cut into words already.
        bleu = sacrebleu.corpus_bleu(words, [read_lines(reference)], tokenize="none", force=True)
        yield Result(task, "beam 5, test2016", f"seq2see decode {kind}", 0).measured(bleu.score, "BLEU")
