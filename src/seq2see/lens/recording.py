"""Views of the calls of a model that writes, made after the calls."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from seq2see.decoding import DecodingSettings
from seq2see.lens.edits import Edit
from seq2see.lens.text_lens import TextLens, TextRequest
from seq2see.lens.view import View

__all__ = ["Recording", "record"]


class Recordable(Protocol):
    """A model that tells its recordings of every text that it decodes or scores."""

    recordings: "list[Recording]"

    @property
    def lens(self) -> TextLens: ...

    def decoding(self) -> DecodingSettings: ...


class Recording(Sequence[View]):
    """Remembers each text that was decoded or scored; `recording[n]` makes the view of the n-th."""

    def __init__(self, lens: TextLens, settings: DecodingSettings) -> None:
        self._lens, self._settings = lens, settings
        self._calls: list[tuple[TextRequest, tuple[Edit, ...]]] = []

    def note(
        self, text: str, features: str, said: Sequence[int], edits: Sequence[Edit] = (), into: str = ""
    ) -> None:
        """Remember a source and its target."""
        wanted = TextRequest(text, self._settings, features, tuple(said), into=into)
        self._calls.append((wanted, tuple(edits)))

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return self._lens.look(*self._calls[place])


@contextmanager
def record(model: Recordable) -> Iterator[Recording]:
    """Record all that a model decodes or scores: `with record(model) as seen: model("word")`.

    The calls themselves are left as they are: they cost no more, and give the same. The weights come from
    a pass over the same source and target when a view is asked for.
    """
    seen = Recording(model.lens, model.decoding())
    model.recordings.append(seen)
    try:
        yield seen
    finally:
        model.recordings.remove(seen)
