"""Going on with texts: token by token, past the context that the model sees, up to a stop text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from seq2see.decoding import DecodingSettings, Hypothesis
from seq2see.decoding.requests import Request
from seq2see.decoding.search import Search
from seq2see.layers.attention import Watch
from seq2see.models.contracts import Generator
from seq2see.text import Tokenizer

__all__ = ["Ended", "Pieces", "Prompt", "Said", "Stops", "write_on"]

_BYTES = 4
"""Tokens that a character may be made of, at the most."""


@dataclass(frozen=True)
class Prompt:
    """A text to go on with."""

    ids: tuple[int, ...]
    wanted: int
    """New tokens at the most."""
    key: int = 0
    """Names the stream of random numbers."""


@dataclass(frozen=True)
class Said:
    """A token that was chosen for one of the outputs of a prompt."""

    place: int
    token: int


@dataclass(frozen=True)
class Ended:
    """The outputs of a prompt, best first: what follows the prompt."""

    place: int
    outputs: list[Hypothesis]


@dataclass(frozen=True)
class _Text:
    """One output of a prompt while it is written, window after window."""

    place: int
    prompt: Prompt
    written: tuple[int, ...] = ()
    log_probability: float = 0.0
    windows: int = 0
    copy: int = 0
    """Which of several outputs of the same prompt it is."""

    @property
    def left(self) -> int:
        """How many tokens may still follow."""
        return self.prompt.wanted - len(self.written)

    def seen(self, window: int | None) -> tuple[int, ...]:
        """What the model reads before it goes on: all, or the last half of a window if that is full."""
        before = (*self.prompt.ids, *self.written)
        return before if window is None or len(before) < window else before[-(window // 2) or len(before) :]

    def longer(self, found: Hypothesis, copy: int) -> "_Text":
        """The text with what was written in a window."""
        return replace(
            self,
            written=(*self.written, *found.ids),
            log_probability=self.log_probability + found.log_probability,
            windows=self.windows + 1,
            copy=self.copy or copy,
        )


class Stops:
    """Tells whether a text that is being written has come to a stop text."""

    def __init__(self, texts: Sequence[str], tokenizer: Tokenizer) -> None:
        self._texts, self._tokenizer = tuple(texts), tokenizer
        self._tail = _BYTES * (max(map(len, self._texts)) + 1)

    def __call__(self, ids: Sequence[int]) -> bool:
        """Whether a stop text stands at the end of these tokens."""
        tail = self._tokenizer.decode(ids[-self._tail :])
        return any(text in tail for text in self._texts)

    def cut(self, text: str) -> str:
        """A text up to the first stop text in it."""
        return text[: min([len(text), *(text.find(one) for one in self._texts if one in text)])]

    def safe(self, text: str) -> int:
        """How many characters of a text are no part of a stop text, nor could become one."""
        text = self.cut(text)
        for start in range(max(0, len(text) - max(map(len, self._texts)) + 1), len(text)):
            if any(one.startswith(text[start:]) for one in self._texts):
                return start
        return len(text)


@dataclass
class Pieces:
    """Turns tokens, as they come, into text that can be shown: whole characters, no part of a stop text."""

    tokenizer: Tokenizer
    stops: Stops | None = None
    _ids: list[int] = field(default_factory=list)
    _shown: int = 0
    """Characters of the waiting tokens that were given already."""

    def add(self, token: int) -> str:
        """What can be shown after one more token."""
        self._ids.append(token)
        text = self.tokenizer.decode(self._ids)
        if text.endswith("�"):  # the bytes of a character are not all there
            return ""
        safe = self.stops.safe(text) if self.stops is not None else len(text)
        piece = text[self._shown : safe]
        self._shown = max(self._shown, safe)
        if safe == len(text):
            self._ids, self._shown = [], 0
        return piece


def write_on(
    generator: Generator,
    prompts: Sequence[Prompt],
    settings: DecodingSettings,
    window: int | None,
    stops: Stops | None = None,
    streams: bool = False,
    watch: Watch | None = None,
    begins: bool = True,
) -> Iterator[Said | Ended]:
    """Go on with prompts, all at once; tells of each prompt when it has ended, and if asked of each token.

    A model sees `window` tokens, or without it any number. Where an output comes to the end of the window,
    the first half is forgotten: the later half is read again as the prompt of a new window. `begins` says
    whether the begin symbol stands before prompts.
    """
    search = Search(generator, watch=watch)
    waiting: dict[Request, _Text] = {}
    outputs: dict[int, list[Hypothesis]] = {place: [] for place in range(len(prompts))}

    def admit(texts: Sequence[_Text], how: DecodingSettings) -> None:
        requests = [_request(text, how, window, stops, streams, begins) for text in texts]
        waiting.update(zip(requests, texts, strict=True))
        search.admit(None, requests)

    admit([_Text(place, prompt) for place, prompt in enumerate(prompts)], settings)
    alone = settings.model_copy(update={"nbest": 1})
    while search.active:
        for event in search.step():
            place = waiting[event.request].place
            if event.token is not None:
                yield Said(place, event.token)
                continue
            text = waiting.pop(event.request)
            for copy, found in enumerate(event.hypotheses or ()):
                longer = text.longer(found, copy)
                if found.cut and longer.left > 0 and not (stops is not None and stops(longer.written)):
                    admit([longer], alone)
                else:
                    outputs[place].append(_hypothesis(longer, found.cut, settings.length_penalty))
            if not any(other.place == place for other in waiting.values()):
                yield Ended(place, sorted(outputs.pop(place), key=lambda one: -one.score))


def _request(
    text: _Text,
    settings: DecodingSettings,
    window: int | None,
    stops: Stops | None,
    streams: bool,
    begins: bool,
) -> Request:
    """What to search for in the next window of a text."""
    read = text.seen(window)
    room = text.left if window is None else min(text.left, window - len(read))
    # Later windows, and the outputs that go on in them, have random numbers of their own.
    key = text.prompt.key + ((1000 * text.windows + text.copy) << 32)
    written = text.written
    return Request(
        settings,
        room,
        key=key,
        prompt=read,
        begins=begins,
        open_ended=True,
        stops=(lambda ids: stops((*written, *ids))) if stops is not None else None,
        streams=streams,
    )


def _hypothesis(text: _Text, cut: bool, penalty: float) -> Hypothesis:
    score = text.log_probability / (len(text.written) + 1) ** penalty
    return Hypothesis(text.written, text.log_probability, score, cut)
