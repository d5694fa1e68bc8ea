"""Whatever is asked of a verb, with whatever files and streams: a known exit code, and sentences.

`benchmarks/fuzz.py` runs thousands of the same draws.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from benchmarks.verb_draws import Draw, draws
from benchmarks.warm import Warm, make_world, wrong_with


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """A process that runs commands in children of its own."""
    with Warm() as process:
        yield process


@pytest.fixture(scope="module")
def world(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files good and bad, two small runs and broken ones."""
    return make_world(tmp_path_factory.mktemp("fuzz") / "world", warm.run, ("generate", "classify"))


NASTY: dict[str, tuple[Draw, int, str]] = {
    "closed input": (Draw(["predict", "generate"], stdin="closed"), 2, "standard input cannot be read"),
    "closed input of training": (Draw(["train", "-"], stdin="closed"), 2, "cannot be read"),
    "endless input": (Draw(["check", "-"], stdin="zero"), 2, "standard input is a device"),
    "full output": (Draw(["check", "pairs.tsv"], stdout="full"), 1, "No space left on device"),
    "full output of predictions": (Draw(["predict", "generate", "pairs.tsv"], stdout="full"), 1, "No space"),
    "closed output": (Draw(["info", "generate"], stdout="closed"), 1, "standard output"),
    "nobody reads": (Draw(["predict", "generate", "pairs.tsv"], stdout="broken"), 1, ""),
    "nobody hears": (Draw(["check", "pairs.tsv"], stderr="broken"), 0, ""),
    "closed errors": (Draw(["info", "nowhere"], stderr="closed"), 2, ""),
    "a name of 300 letters": (Draw(["info", "x" * 300]), 2, "File name too long"),
    "a file of 300 letters": (Draw(["check", "x" * 300]), 2, "File name too long"),
    "a run of 300 letters": (Draw(["train", "pairs.tsv", "--out", "x" * 300]), 2, "File name too long"),
    "a name that is no text": (Draw(["check", "caf\udce9.tsv"]), 2, "caf\\udce9.tsv"),
    "a superscript": (Draw(["check", "pairs.tsv", "--source", "²"]), 2, "no column '²'"),
    "device meta": (Draw(["predict", "generate", "--device", "meta"]), 2, "not to be had"),
    "no home": (Draw(["train", "pairs.tsv", "--max-steps", "1"], home=False), 2, "SEQ2SEE_CACHE"),
    "cold": (Draw(["predict", "generate", "--sample", "--temperature", "1e-40"]), 2, "temperature"),
    "narrow": (Draw(["predict", "generate", "--sample", "--top-p", "1e-300"]), 2, "top_p"),
    "a date": (Draw(["train", "pairs.tsv", "--set", "seed=2024-13-45"]), 2, "seed = '2024-13-45'"),
    "no digits": (Draw(["train", "pairs.tsv", "--set", "seed=0x_"]), 2, "seed = '0x_'"),
    "a tag": (Draw(["train", "pairs.tsv", "--set", "seed=!!int x"]), 2, "seed = '!!int x'"),
    "brackets": (Draw(["train", "pairs.tsv", "--set", "seed=" + "[" * 3000]), 2, "seed = '[["),
    "no edit": (Draw(["predict", "generate", "--edit", ""]), 2, "edits"),
    "a bad list": (Draw(["predict", "generate", "--edit", "off at=* heads=["]), 2, "edits"),
    "aliases": (Draw(["train", "pairs.tsv", "--recipe", "bomb.yaml"]), 2, "aliases"),
    "an endless recipe": (Draw(["train", "pairs.tsv", "--recipe", "/dev/zero"]), 2, "bytes"),
    "weights that are none": (Draw(["predict", "nan", "pairs.tsv", "--beam", "1"]), 2, "no numbers"),
    "scores of them": (Draw(["score", "nan", "pairs.tsv", "--json"]), 2, "no numbers"),
    "half a letter": (Draw(["check", "odd.jsonl", "--features", "features"]), 1, ""),
    "an unknown metric": (Draw(["heads", "generate", "pairs.tsv", "--metric", "foo"]), 2, "no metric"),
    "another goal's metric": (Draw(["heads", "generate", "pairs.tsv", "--metric", "mae"]), 2, "no score"),
    "an unknown way": (Draw(["heads", "generate", "pairs.tsv", "--how", "foo"]), 2, "choose from"),
    "no folder": (Draw(["heads", "generate", "pairs.tsv", "--out", "no/x.svg"]), 2, "the folder no"),
    "no kind": (Draw(["heads", "generate", "pairs.tsv", "--out", "x"]), 2, ".svg, .png or .pdf"),
    "a pipe twice": (Draw(["compare", "generate", "generate", "/dev/fd/9"]), 0, ""),
    "a pipe for scores": (Draw(["evaluate", "generate", "/dev/fd/9"]), 0, ""),
    "a pipe to check": (Draw(["check", "/dev/fd/9"]), 0, ""),
    "input to check": (Draw(["check", "-"], stdin="pipe"), 1, ""),
    "a pipe that nobody fills": (Draw(["check", "pipe"]), 2, "nobody writes to the pipe"),
    "a pipe in a run": (Draw(["info", "piped"]), 2, "is not a file"),
    "a device as file": (Draw(["check", "/dev/zero"]), 2, "is a device"),
    "a usage error with escapes": (Draw(["check", "pairs.tsv", "--\x1b[31mx"]), 2, "[31mx"),
    "a host that is none": (Draw(["explore", "generate", "--host", "nowhere.invalid"]), 2, "no server can"),
}  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_what_once_ended_in_a_traceback(warm: Warm, world: Path, name: str) -> None:
    draw, code, message = NASTY[name]
    ran = warm.run_in(draw, world)
    assert (ran.code, wrong_with(draw, ran)) == (code, ""), ran.err
    assert message in ran.err


def test_standard_input_serves_every_rung(warm: Warm, world: Path) -> None:
    """The second model of a ladder gets the same examples as the first."""
    words = ["ladder", "-", "--presets", "rnn,transformer-tiny", "--max-steps", "1", "--set", "model.width=8"]
    ran = warm.run_in(Draw(words), world)
    assert ran.code == 0, ran.err


def test_no_draw_ends_in_a_traceback(warm: Warm, world: Path) -> None:
    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(draws())
    def run(draw: Draw) -> None:
        ran = warm.run_in(draw, world)
        assert not wrong_with(draw, ran), (draw, ran)

    run()
