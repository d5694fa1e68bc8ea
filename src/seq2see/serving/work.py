"""How much work a request may make, counted before it begins, and how work is given up."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from torch import nn

from seq2see.errors import DataError, Seq2seeError
from seq2see.goals import Predictor
from seq2see.lens.edits import Borrow, Edit, Force
from seq2see.lens.watchers import addresses_of

__all__ = ["MOST_WEIGHTS", "StoppedError", "longest_text", "refuse_attribution", "refuse_search", "stoppable"]

MOST_WEIGHTS = 100_000_000
"""The most attention weights of one view: 400 MB. What edits need beside it is as much again."""
_MOST_PRODUCTS = 200_000_000_000
"""The most multiplications of one request: some ten seconds of a core or two."""
_EACH = 50
"""Multiplications that an attention weight costs beside those of the layers."""
_LONGEST = 1024
"""The most tokens of a source or an output, however small the model is."""


class StoppedError(Seq2seeError):
    """Work that was given up: nobody waits for it any more."""


def longest_text(model: Predictor, edits: Sequence[Edit], donor: Predictor | None) -> int:
    """Tokens that a source or an output may have, so that all maps of a request stay within bounds.

    A view is one pass over the text. With edits there are three, plain, edited, and what the edited model
    thinks of the plain output; and one for every text that lends weights.
    """
    own, lent = _maps(model), _maps(donor or model)
    if not edits:
        return _side(MOST_WEIGHTS / own)
    return _side(2 * MOST_WEIGHTS / (3 * own + len(_lending(edits)) * lent))


def refuse_search(
    model: Predictor, edits: Sequence[Edit], donor: Predictor | None, tokens: int, beam: int
) -> None:
    """Refuse a view whose searches and passes would take too long; its texts have so many tokens."""
    own = 1 if not edits else 2 + sum(isinstance(edit, Force) for edit in edits)
    # A search reads a token of each hypothesis at every step, and then a pass reads both texts once.
    work = own * _products(model, tokens, tokens, beam) + len(_lending(edits)) * _products(
        donor or model, tokens, tokens, beam
    )
    if work > _MOST_PRODUCTS:
        raise DataError(
            f"this would take too long ({own + len(_lending(edits))} searches through texts of up to "
            f"{tokens:,} tokens with a beam of {beam}); choose a shorter text, a narrower beam or fewer edits"
        )


def refuse_attribution(model: Predictor, kind: str, source: int, answers: int) -> None:
    """Refuse an attribution that would take too long, by the tokens of the source and the answers."""
    passes = source + 1 if kind == "occlusion" else 3 * answers  # forwards once, and back for twice as much
    if passes * _products(model, source, answers) > _MOST_PRODUCTS:
        raise DataError(
            f"{kind} reads {source + answers:,} tokens {passes:,} times, which would take too long with this "
            "model; look at a part of the text"
        )


@contextmanager
def stoppable(networks: Sequence[nn.Module], stops: Sequence[threading.Event]) -> Iterator[None]:
    """While entered, every layer of the networks looks before it begins whether to go on."""
    refuse = _refusal(stops)
    hooks = [
        module.register_forward_pre_hook(lambda module, given: refuse())
        for network in networks
        for module in network.modules()
    ]
    try:
        refuse()
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _refusal(stops: Sequence[threading.Event]) -> Callable[[], None]:
    def refuse() -> None:
        if any(stop.is_set() for stop in stops):
            raise StoppedError("this was given up, because nobody waits for it any more; ask for it again")

    return refuse


def _lending(edits: Sequence[Edit]) -> set[tuple[str | None, str | None]]:
    """What lends weights: each model with each text once."""
    return {(edit.model, edit.text) for edit in edits if isinstance(edit, Borrow)}


def _maps(model: Predictor) -> int:
    return max(1, sum(addresses_of(model.network).values()))


def _side(weights: float) -> int:
    return min(_LONGEST, int(weights**0.5))


def _products(model: Predictor, source: int, answers: int, beam: int = 0) -> int:
    """Multiplications of a pass over a source and its answers, and of the search for them if there is one."""
    size = sum(parameter.numel() for parameter in model.network.parameters())
    tokens, weights = source + answers, _maps(model) * max(source, answers) ** 2
    return (beam + 1) * (tokens * size + weights * _EACH)
