"""What encoding once and decoding many is worth: in time beside the arithmetic, and in quality.

python -m benchmarks.encode_once time
python -m benchmarks.encode_once learn --data MULTI30K --out FOLDER [--minutes 90] [--models all,de] [--each]

`time` builds a model of three targets for long sources and decodes them greedily: into all targets from one
encoding; the same search with three encodings; and one target after the other, which encodes three times and
searches three times. Rounds are interleaved in one process, and medians of the ratios of rounds are printed.
`learn` trains English into German, French and Czech in one model (`all`) and in three single ones, each for
the steps that `train` chooses and for the same minutes at the most, and keeps the BLEU of each on the test
set of 2016. With `--each` the one model has a decoder for each target. Two cores are used best by two such
commands at once, with other models and one thread each; the one that ends last prints the table.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from benchmarks.lab import write_json
from seq2see.data import PairFile
from seq2see.data.pairs import Columns
from seq2see.data.several import SeveralTexts
from seq2see.decoding.engine import OwnLoop
from seq2see.evaluation import score
from seq2see.goals import load
from seq2see.goals.generate import columns_of, network_of
from seq2see.goals.several_model import SeveralModel
from seq2see.goals.text_model import Source, TextModel
from seq2see.lab.measuring import arithmetic
from seq2see.layers.attention import Watch
from seq2see.models import EncoderDecoder
from seq2see.models.contracts import Memory, Sides
from seq2see.recipe import compose, preset
from seq2see.run import DataFacts, Run
from seq2see.text import Codec
from seq2see.text.tokenizer import TextSettings, TokenizerSettings
from seq2see.workflow import Request, train

import torch  # isort: skip  after seq2see, which tells its threads not to spin

WANTED = 0.85
"""The most that one encoding may take of the time of three, for long sources."""
NEAR = 1.5
"""Points of BLEU that one model may be below three."""
TARGETS = ("de", "fr", "cs")
MODELS = {"all": TARGETS, **{target: (target,) for target in TARGETS}}
WORDS = [f"word{number}" for number in range(2000)]


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parts = parser.add_subparsers(dest="part", required=True)
    timed = parts.add_parser("time")
    timed.add_argument("--lengths", type=int, nargs="+", default=[64, 256, 512], help="tokens of a source")
    timed.add_argument("--outputs", type=int, default=32, help="tokens of an output")
    timed.add_argument("--sources", type=int, default=32)
    timed.add_argument("--rounds", type=int, default=7)
    timed.add_argument("--preset", default="transformer-small")
    learnt = parts.add_parser("learn")
    learnt.add_argument("--data", type=Path, required=True, help="the folder of Multi30k")
    learnt.add_argument("--out", type=Path, default=Path("runs/encode-once"))
    learnt.add_argument("--minutes", type=float, default=90, help="of each of the four trainings at the most")
    learnt.add_argument("--seed", type=int, default=1)
    learnt.add_argument("--models", default=",".join(MODELS), help="those to train now")
    learnt.add_argument("--each", action="store_true", help="the model of all has a decoder for each target")
    learnt.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    if asked.part == "time":
        measure_time(asked.lengths, asked.outputs, asked.sources, asked.rounds, asked.preset)
    else:
        torch.set_num_threads(asked.threads)
        for name in asked.models.split(","):
            learn(asked.data, asked.out, name, asked.minutes, asked.seed, asked.each)
        summed_up(asked.out)


@dataclass(frozen=True)
class EncodesAgain:
    """A network that reads every source so many times, to see what that costs."""

    network: EncoderDecoder
    times: int

    def __getattr__(self, name: str) -> object:
        return getattr(self.network, name)

    def encode(self, sides: Sides, watch: Watch | None = None) -> Memory:
        """Read sources, and use what was read last."""
        for _ in range(self.times):
            memory = self.network.encode(sides, watch)
        return memory


def measure_time(lengths: list[int], outputs: int, count: int, rounds: int, preset_name: str) -> None:
    """Print the time and the arithmetic of one encoding beside those of three."""
    model = long_model(max(lengths), preset_name)
    print(f"{preset_name}, {count} sources, three targets of {outputs} tokens, greedy, ", end="")
    print(f"{torch.get_num_threads()} threads, {rounds} interleaved rounds")
    print("one encoding as a share of: the same search with three encodings; one target after the other\n")
    heads = ("source tokens", "once, s", "same search", "arithmetic", "one by one", "arithmetic", "wanted")
    print(f"| {' | '.join(heads)} |\n" + "|---" * len(heads) + "|")
    for length in lengths:
        print(f"| {length} | {told(model, length, outputs, count, rounds)} | {WANTED} |", flush=True)


def told(model: SeveralModel, length: int, outputs: int, count: int, rounds: int) -> str:
    """The seconds of one encoding, and its ratios to three."""
    draw = random.Random(length)
    sources = [Source(" ".join(draw.choices(WORDS, k=length - 1))) for _ in range(count)]

    def decode(into: list[str]) -> None:
        list(model.decode_each(sources, into, scored=False, beam=1, max_length=outputs))

    def once() -> None:
        model.own_loop = model.engine = OwnLoop(model.network)
        decode(model.targets)

    def again() -> None:
        model.own_loop = model.engine = OwnLoop(EncodesAgain(model.network, 3))  # type: ignore[arg-type]
        decode(model.targets)

    def one_by_one() -> None:
        model.own_loop = model.engine = OwnLoop(model.network)
        for name in model.targets:
            decode([name])

    ways: list[Callable[[], None]] = [once, again, one_by_one]
    for way in ways:
        way()  # warm
    seconds = [[timed(way) for way in ways] for _ in range(rounds)]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # operations are counted in this thread alone
    done = [arithmetic(way) for way in ways]
    torch.set_num_threads(threads)
    same, each = (median(row[0] / row[way] for row in seconds) for way in (1, 2))
    own = median(row[0] for row in seconds)
    return f"{own:.2f} | {same:.2f} | {done[0] / done[1]:.2f} | {each:.2f} | {done[0] / done[2]:.2f}"


def timed(work: Callable[[], None]) -> float:
    """The seconds that something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def long_model(longest: int, preset_name: str) -> SeveralModel:
    """An untrained model of three targets: what it writes is of no matter, only how much."""
    text = TextSettings(source=TokenizerSettings(kind="words"), target=TokenizerSettings(kind="words"))
    codec = Codec.learn(WORDS, WORDS, None, text, TARGETS)
    data = {"train": "nothing", "target": TARGETS, "max_length": longest}
    recipe = compose([preset(preset_name), {"goal": "generate", "data": data}], preset_name)
    torch.manual_seed(1)
    facts = DataFacts("", 0, 0, longest_source=longest, longest_target=longest)
    return SeveralModel(Run(recipe, columns_of(codec), network_of(recipe, codec), facts))


def learn(data: Path, out: Path, name: str, minutes: float, seed: int, each: bool) -> None:
    """Train one of the models, and keep its scores."""
    targets = MODELS[name]
    ending = ".gz" if (data / "train.en.gz").exists() else ""

    def files(part: str) -> str:
        return ",".join(str(data / f"{part}.{side}{ending}") for side in ("en", *targets))

    request = Request(
        files("train"),
        dev=files("val"),
        out=str(out / name),
        target=",".join(targets),
        goal="generate",
        seed=seed,
        settings=["model.decoder_for_each=true"] if each and len(targets) > 1 else [],
        max_minutes=minutes,
        resume=(out / name).exists(),
    )
    trained = train(request)
    if not trained.progress.finished:
        sys.exit("interrupted; the same command goes on")
    model = load(out / name, device="cpu")
    assert isinstance(model, TextModel)
    columns = Columns(target=targets if len(targets) > 1 else targets[0])
    opens = SeveralTexts if len(targets) > 1 else PairFile
    outcomes = model.outcomes(list(opens(files("test_2016_flickr"), columns).pairs()), beam=5)
    scores = [score(one, ["bleu"])["bleu"] for one in outcomes.values()]
    row = {
        "bleu": dict(zip(targets, scores, strict=True)),
        "minutes": round(trained.progress.seconds / 60, 1),
        "steps": trained.progress.step,
        "seed": seed,
        "threads": torch.get_num_threads(),
    }
    write_json(out / f"{name}.json", row)
    print(name, json.dumps(row), flush=True)


def summed_up(out: Path) -> None:
    """Print the scores of one model beside those of three, if all are there."""
    if not all((out / f"{name}.json").exists() for name in MODELS):
        return
    rows = {name: json.loads((out / f"{name}.json").read_text()) for name in MODELS}
    three = {target: rows[target]["bleu"][target] for target in TARGETS}
    found = {"one model": rows["all"]["bleu"], "three models": three}
    print(f"\nBLEU on test_2016_flickr, beam 5\n\n| | {' | '.join(TARGETS)} | mean |")
    print("|---" * (len(TARGETS) + 2) + "|")
    for name, row in found.items():
        print(f"| {name} | {' | '.join(f'{row[one]:.1f}' for one in TARGETS)} | {fmean(row.values()):.2f} |")
    behind = fmean(three.values()) - fmean(found["one model"].values())
    print(f"\none model is {behind:.2f} points behind; wanted: at most {NEAR}")


if __name__ == "__main__":
    main()
