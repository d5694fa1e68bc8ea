"""What other tools need from a run: logits to be compared with, and sources whose outputs never end.

RUN TEST TYPES OUT LONGEST. A source never ends if its greedy output runs into the length limit. Such are
looked for among the test lines, then among random symbols, as garbage makes a model go on for ever.
"""

import random
import sys
from pathlib import Path

import torch
from clock import read_lines

import seq2see
from seq2see.data.batches import pad
from seq2see.models.weights import write_tensors
from seq2see.run import Model, Source
from seq2see.text import BEGIN

SHARE = 50
"""One source in so many never ends."""
COMPARED, TRIED, LENGTHS = 8, 4000, (3, 40)


def main() -> None:
    """Write `logits.safetensors`, `ending.src` and `never-ending.src`."""
    run, test, types, folder = map(Path, sys.argv[1:5])
    longest = int(sys.argv[5])
    model, lines = seq2see.load(run, "cpu"), read_lines(test)
    write_logits(model, lines[:COMPARED], longest, folder / "logits.safetensors")
    ends, goes_on = parted(model, lines, longest)
    wanted = len(ends) // (SHARE - 1)
    if len(goes_on) < wanted:
        goes_on += parted(model, garbage(read_lines(types)), longest)[1]
    print(f"{len(ends):,} of {len(lines):,} test lines end; {len(goes_on):,} sources were found that do not")
    if not goes_on:
        return
    mixed = list(ends)
    for number in range(wanted):
        # Spread evenly, and taken again from the start where too few were found.
        mixed.insert(number * SHARE, goes_on[number % len(goes_on)])
    for name, those in (("ending", ends), ("never-ending", mixed)):
        (folder / f"{name}.src").write_text("".join(f"{line}\n" for line in those))


def write_logits(model: Model, lines: list[str], longest: int, path: Path) -> None:
    """The logits of a model's own outputs."""
    source = pad(model.codec.encode_sources(lines))
    outputs = [found[0].ids for found in model.decode(map(Source, lines), beam=1, max_length=longest)]
    inputs = pad(outputs, before=BEGIN)
    with torch.inference_mode():
        logits = model.network(source, inputs)
    write_tensors(path, {"source": source, "inputs": inputs, "logits": logits})


def parted(model: Model, lines: list[str], longest: int) -> tuple[list[str], list[str]]:
    """Lines whose outputs end, and those whose outputs are cut off."""
    outputs = model.decode(map(Source, lines), beam=1, max_length=longest)
    cut = [found[0].cut for found in outputs]
    halves = (
        [line for line, was in zip(lines, cut, strict=True) if was == wanted] for wanted in (False, True)
    )
    ends, goes_on = halves
    return ends, goes_on


def garbage(types: list[str]) -> list[str]:
    """Random symbols, and one symbol again and again."""
    draw = random.Random(1)
    lines = []
    for number in range(TRIED):
        length = draw.randint(*LENGTHS)
        symbols = draw.choices(types, k=length) if number % 2 else [draw.choice(types)] * length
        lines.append(" ".join(symbols))
    return lines


if __name__ == "__main__":
    main()
