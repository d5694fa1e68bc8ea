"""Decoding with CTranslate2 on tokens that are cut already: PLAN.json."""

from functools import partial

import ctranslate2
from clock import measure, read_plan

WORKERS = ((2, 1),)
"""Workers, and threads of each: one worker with two threads took up to ten times as long."""
BATCHES = (16, 32, 64, 128)


def main() -> None:
    """Time several sizes of a batch."""
    plan = read_plan()
    translators = {
        f"{workers}x{threads}": ctranslate2.Translator(
            plan["model"], compute_type=plan["type"], inter_threads=workers, intra_threads=threads
        )
        for workers, threads in WORKERS
    }
    batched, single = (
        {
            f"{name} batch {size}": partial(decode, translator, plan["longest"], size)
            for name, translator in translators.items()
            for size in sizes
        }
        for sizes in (BATCHES, (1,))
    )
    measure(plan, batched, single)


def decode(
    translator: ctranslate2.Translator, longest: int, size: int, texts: list[str], beam: int
) -> list[str]:
    """All texts at once; CTranslate2 sorts them by length and shares them among its workers."""
    found = translator.translate_batch(
        [[*text.split(" "), "</s>"] for text in texts],
        max_batch_size=size,
        beam_size=beam,
        length_penalty=0.0,
        min_decoding_length=0,
        max_decoding_length=longest,
    )
    return [" ".join(one.hypotheses[0]) for one in found]


if __name__ == "__main__":
    main()
