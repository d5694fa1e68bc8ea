"""Decoding with Hugging Face's `generate`, the weights those of a seq2see run: PLAN.json."""

from functools import partial
from pathlib import Path

import torch
from clock import measure, read_plan
from marian import BEGIN, END, PAD, UNKNOWN, carried_over
from transformers import MarianMTModel

BATCHES = (32, 128, 256)


def main() -> None:
    """Time several sizes of a batch."""
    plan = read_plan()
    model, symbols = carried_over(Path(plan["model"]))
    ids = {symbol: place for place, symbol in enumerate(symbols)}
    by_size = {size: partial(decode, model, symbols, ids, plan["longest"], size) for size in (1, *BATCHES)}
    measure(plan, {f"batch {size}": by_size[size] for size in BATCHES}, {"batch 1": by_size[1]})


@torch.inference_mode()
def decode(
    model: MarianMTModel,
    symbols: list[str],
    ids: dict[str, int],
    longest: int,
    size: int,
    texts: list[str],
    beam: int,
) -> list[str]:
    """Texts by length, longest first, in batches of so many."""
    sources = [[*(ids.get(symbol, UNKNOWN) for symbol in text.split(" ")), END] for text in texts]
    order = sorted(range(len(sources)), key=lambda row: -len(sources[row]))
    outputs = [""] * len(texts)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        width = len(sources[rows[0]])
        source = torch.tensor([sources[row] + [PAD] * (width - len(sources[row])) for row in rows])
        found = model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            num_beams=beam,
            do_sample=False,
            length_penalty=0.0,
            max_new_tokens=longest,
        )
        for row, output in zip(rows, found.tolist(), strict=True):
            outputs[row] = " ".join(symbols[i] for i in output if i not in (PAD, BEGIN, END))
    return outputs


if __name__ == "__main__":
    main()
