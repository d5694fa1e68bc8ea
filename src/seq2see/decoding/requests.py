"""What is asked of a search, and what it answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seq2see.decoding.settings import DecodingSettings

__all__ = ["Event", "Hypothesis", "Request"]


@dataclass(frozen=True, eq=False)
class Request:
    """One source to find outputs for; requests that look alike are still different ones."""

    settings: DecodingSettings
    limit: int
    """The most tokens of an output, the end symbol counted."""
    prefix: tuple[int, ...] = ()
    """What outputs begin with."""
    key: int = 0
    """Names the stream of random numbers, so that samples do not depend on other requests."""
    prompt: tuple[int, ...] = ()
    """What is read before the output begins: no part of the output, and its probability does not count."""
    begins: bool = True
    """Whether the begin symbol stands before the prompt; without a prompt it stands there in any case."""
    open_ended: bool = False
    """At the limit an output is left as it is; otherwise its last token must be the end symbol."""
    stops: Callable[[Sequence[int]], bool] | None = None
    """Whether an output ends here, asked after each of its tokens; the end symbol ends it in any case."""
    streams: bool = False
    """Whether each token is reported when it is chosen; not in a beam, where a later choice may undo it."""


@dataclass(frozen=True)
class Hypothesis:
    """An output: ids without the end symbol, its log-probability, and the score it is ranked by."""

    ids: tuple[int, ...]
    log_probability: float
    score: float
    cut: bool = False
    """Whether the end came from the length limit, not from the model."""


@dataclass(frozen=True)
class Event:
    """What happened to a request in a step: a token was chosen, or all of its outputs are found."""

    request: Request
    token: int | None = None
    copy: int = 0
    """Which of several samples the token belongs to."""
    hypotheses: list[Hypothesis] | None = None
