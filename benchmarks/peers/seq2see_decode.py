"""Decoding with seq2see's own loop, from texts to texts: PLAN.json."""

import inspect
from functools import partial
from typing import Any

from clock import measure, read_plan

from seq2see.goals import load_text
from seq2see.goals.text_model import Source, TextModel

BATCH_TOKENS = (None, 4096)
"""The recipe's own, and some others."""
UNSCORED: dict[str, Any] = (
    {"scored": False} if "scored" in inspect.signature(TextModel.decode).parameters else {}
)
"""The peers give no log-probabilities either; earlier versions always did."""


def main() -> None:
    """Time several sizes of a batch."""
    plan = read_plan()
    model = load_text(plan["model"], "cpu")
    batched = {
        f"batch_tokens {tokens or 'default'}": partial(decode, model, plan["longest"], tokens)
        for tokens in BATCH_TOKENS
    }
    measure(plan, batched, {"one by one": partial(decode_singly, model, plan["longest"])})


def decode(model: TextModel, longest: int, tokens: int | None, texts: list[str], beam: int) -> list[str]:
    """All texts at once."""
    sources = [Source(text) for text in texts]
    options: dict[str, Any] = {
        "beam": beam,
        "length_penalty": 0.0,
        "max_length": longest,
        "batch_tokens": tokens,
    }
    outputs = model.decode(sources, **options, **UNSCORED)
    return [found[0].text for found in outputs]


def decode_singly(model: TextModel, longest: int, texts: list[str], beam: int) -> list[str]:
    """One call for each text."""
    return [decode(model, longest, None, [text], beam)[0] for text in texts]


if __name__ == "__main__":
    main()
