"""What other tools need from a run: logits to be compared with, and sources whose outputs never end.

RUN TEST TYPES OUT LONGEST. A source never ends if its greedy output runs into the length limit. Such are
looked for among the test lines, then among random symbols, as garbage makes a model go on for ever.
"""

import random
import sys
from pathlib import Path

import torch
from clock import read_lines

from seq2see.data.columns.contract import fill
from seq2see.goals import load_text
from seq2see.goals.text_model import Source, TextModel
from seq2see.models.weights import write_tensors
from seq2see.text import BEGIN, PAD

SHARE = 50
"""One source in so many never ends."""
COMPARED, TRIED, LENGTHS = 8, 4000, (3, 80)


def main() -> None:
    """Write `logits.safetensors`, `ending.src` and `never-ending.src`."""
    run, test, types, folder = map(Path, sys.argv[1:5])
    longest = int(sys.argv[5])
    model, lines = load_text(run, "cpu"), read_lines(test)
    targets = read_lines(test.with_suffix(".tgt"))
    write_logits(model, lines[:COMPARED], targets[:COMPARED], folder / "logits.safetensors")
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


def write_logits(model: TextModel, sources: list[str], targets: list[str], path: Path) -> None:
    """The logits of pairs, at every place of the target."""
    source = fill(model.codec.encode_sources(sources), PAD)[0]
    inputs = fill([ids[:-1] for ids in model.codec.encode_targets(targets)], PAD, BEGIN)[0]
    with torch.inference_mode():
        logits = model.network.logits(source, inputs)
    write_tensors(path, {"source": source, "inputs": inputs, "logits": logits})


def parted(model: TextModel, lines: list[str], longest: int) -> tuple[list[str], list[str]]:
    """Lines whose outputs end, and those whose outputs are cut off."""
    outputs = model.decode(map(Source, lines), beam=1, max_length=longest)
    parts: tuple[list[str], list[str]] = [], []
    for line, found in zip(lines, outputs, strict=True):
        parts[found[0].cut].append(line)
    return parts


def garbage(types: list[str]) -> list[str]:
    """Random symbols: many of them, or a few again and again."""
    draw = random.Random(1)
    lines = []
    for number in range(TRIED):
        length = draw.randint(*LENGTHS)
        few = draw.choices(types, k=(1, 2, 3, length)[number % 4])
        lines.append(" ".join((few * length)[:length]))
    return lines


if __name__ == "__main__":
    main()
