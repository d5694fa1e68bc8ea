"""What encoding once and decoding many is worth: in time beside the arithmetic, and in quality.

python benchmarks/encode_once.py time
python benchmarks/encode_once.py learn --data MULTI30K --minutes 30

`time` builds a model of three targets for long sources and decodes them greedily: into all targets from one
encoding; the same search with three encodings; and one target after the other, which encodes three times and
searches three times. Rounds are interleaved in one process, and medians of the ratios of rounds are printed.
`learn` trains English into German, French and Czech in one model, and three single models for the same
minutes each, and prints the BLEU of each on the test set of 2016.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

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
    learnt.add_argument("--minutes", type=float, default=30, help="of each of the four trainings")
    learnt.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if asked.part == "time":
        measure_time(asked.lengths, asked.outputs, asked.sources, asked.rounds, asked.preset)
    else:
        learn(asked.data, asked.out, asked.minutes, asked.seed)


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


def learn(data: Path, out: Path, minutes: float, seed: int) -> None:
    """Train one model of three targets and three of one, and print their scores."""
    ending = ".gz" if (data / "train.en.gz").exists() else ""

    def files(part: str, targets: tuple[str, ...]) -> str:
        return ",".join(str(data / f"{part}.{side}{ending}") for side in ("en", *targets))

    found: dict[str, dict[str, float]] = {"one model": {}, "three models": {}}
    for name, targets in {"all": TARGETS, **{target: (target,) for target in TARGETS}}.items():
        request = Request(
            files("train", targets),
            dev=files("val", targets),
            out=str(out / name),
            target=",".join(targets),
            goal="generate",
            seed=seed,
            max_minutes=minutes,
            resume=(out / name).exists(),
        )
        if not train(request).progress.finished:
            sys.exit("interrupted; the same command goes on")
        model = load(out / name, device="cpu")
        assert isinstance(model, TextModel)
        columns = Columns(target=targets if len(targets) > 1 else targets[0])
        opens = SeveralTexts if len(targets) > 1 else PairFile
        test = list(opens(files("test_2016_flickr", targets), columns).pairs())
        outcomes = model.outcomes(test, beam=5)
        scores = [score(one, ["bleu"])["bleu"] for one in outcomes.values()]
        kind = "one model" if len(targets) > 1 else "three models"
        found[kind] |= dict(zip(targets, scores, strict=True))
    print(f"\nBLEU on test_2016_flickr, beam 5, {minutes:g} minutes for each training\n")
    print(f"| | {' | '.join(TARGETS)} | mean |\n" + "|---" * (len(TARGETS) + 2) + "|")
    for name, row in found.items():
        print(f"| {name} | {' | '.join(f'{row[one]:.1f}' for one in TARGETS)} | {fmean(row.values()):.2f} |")
    behind = fmean(found["three models"].values()) - fmean(found["one model"].values())
    print(f"\none model is {behind:.2f} points behind; wanted: at most {NEAR}")


if __name__ == "__main__":
    main()
