"""What is left of a score where answers are made of the wrong sources."""

import random
from collections.abc import Sequence

from seq2see.data import Pair
from seq2see.errors import DataError

__all__ = ["with_other_sources"]


def with_other_sources(examples: Sequence[Pair], seed: int = 1) -> list[Pair]:
    """Examples with the source of another one, and never their own; those of one source stay together."""
    sources = list(dict.fromkeys(one.source for one in examples))
    if len(sources) < 2:
        raise DataError(
            "there is only one source, which cannot be exchanged for another; leave --control out"
        )
    random.Random(seed).shuffle(sources)
    other = dict(zip(sources, [*sources[1:], sources[0]], strict=True))
    return [one._replace(source=other[one.source]) for one in examples]
