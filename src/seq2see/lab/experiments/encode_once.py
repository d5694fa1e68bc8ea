"""The encoder does not depend on the decoder: one encoding serves any number of outputs."""

import time
from collections.abc import Sequence
from functools import partial
from statistics import fmean, median

import torch
from torch import Tensor

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.measuring import arithmetic
from seq2see.lab.panels import Panel
from seq2see.models import EncoderDecoder, ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.text import STANDARD

__all__ = ["EXPERIMENT"]

_VOCABULARY, _WIDTH, _TARGET = 500, 64, 16


def measure(trial: Trial) -> Measured:
    """Count the arithmetic, and take the time, of several outputs from one encoding and from several."""
    lengths = trial.pick((64,), (16, 64, 256), (16, 32, 64, 128, 256, 512))
    counts = trial.pick((1, 3), (1, 2, 3, 4), (1, 2, 3, 4))
    vocabulary = Vocabulary(_VOCABULARY, STANDARD)
    network = make_encoder_decoder(ModelSettings(width=_WIDTH, dropout=0.0), vocabulary, vocabulary).eval()
    rows: list[Row] = []
    for length in lengths:
        source = torch.randint(len(STANDARD), _VOCABULARY, (1, length))
        targets = torch.randint(len(STANDARD), _VOCABULARY, (1, _TARGET))
        for outputs in counts:
            for name in ("once", "each time"):
                encodings = 1 if name == "once" and not trial.control else outputs

                work = partial(_answer, network, source, targets, outputs, encodings)
                began = time.perf_counter()
                work()
                seconds = time.perf_counter() - began
                rows.append(
                    {
                        "encoding": name,
                        "length": length,
                        "outputs": outputs,
                        "operations": arithmetic(work),
                        "milliseconds": 1000 * seconds,
                    }
                )
    return Measured(_saved(rows, max(lengths)), rows)


def _answer(network: EncoderDecoder, source: Tensor, targets: Tensor, outputs: int, encodings: int) -> None:
    """Encode a source so many times, and write so many outputs token by token."""
    with torch.no_grad():
        for _ in range(encodings):
            memory = network.encode_ids(source)
        for _ in range(outputs):
            state = network.begin(memory)
            for token in targets[0]:
                _, state = network.step(token[None], state)


def _saved(rows: Sequence[Row], length: int, outputs: int = 3) -> float:
    """The share of arithmetic that one encoding for so many outputs saves, in percent."""
    own = [row for row in rows if row["length"] == length and row["outputs"] == outputs]
    once, each = (
        fmean(float(row["operations"]) for row in own if row["encoding"] == name)
        for name in ("once", "each time")
    )
    return 100 * (1 - once / each)


def remarks(rows: Sequence[Row]) -> list[str]:
    """What one encoding saves at every length, in arithmetic and in time."""
    lengths = sorted({int(row["length"]) for row in rows})
    listed = ", ".join(f"{_saved(rows, length):.0f} % at {length}" for length in lengths)
    times = {
        name: median(
            float(row["milliseconds"])
            for row in rows
            if row["encoding"] == name and row["outputs"] == 3 and row["length"] == lengths[-1]
        )
        for name in ("once", "each time")
    }
    ratio = times["once"] / times["each time"]
    return [
        f"Three outputs of {_TARGET} tokens from one encoding save arithmetic, by source length: {listed}.",
        f"In time that is {ratio:.2f} of encoding three times, for {lengths[-1]} source tokens here.",
    ]


EXPERIMENT = Experiment(
    name="encode-once",
    claim="Another output of the same source costs only its decoding: the encoding need not be done again.",
    where="Berkeley CS182 discussion 7, section 2.3, Machine Translation, question 4",
    effect="the arithmetic that three outputs of a long source save by one encoding, in percent",
    wanted=15.0,
    measure=measure,
    keys=("encoding", "length", "outputs"),
    panels=(
        Panel(
            "outputs",
            "operations",
            "encoding",
            "outputs of one source",
            "operations, 64 source tokens",
            where={"length": "64"},
        ),
        Panel(
            "length",
            "operations",
            "encoding",
            "source length M",
            "operations for three outputs",
            True,
            True,
            {"outputs": "3"},
        ),
    ),
    cause="the encoding that is kept",
    remarks=remarks,
    timed=frozenset({"milliseconds"}),
)
