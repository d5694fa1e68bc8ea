"""Views of the calls of a model that writes, made after the calls."""

from collections.abc import Sequence
from typing import Any

from seq2see.decoding import DecodingSettings
from seq2see.lens.edits import Edit
from seq2see.lens.text_lens import TextLens, TextRequest
from seq2see.lens.view import View

__all__ = ["Recording"]


class Recording(Sequence[View]):
    """Remembers each text that was decoded or scored; `recording[n]` makes the view of the n-th."""

    def __init__(self, lens: TextLens, settings: DecodingSettings) -> None:
        self._lens, self._settings = lens, settings
        self._calls: list[tuple[TextRequest, tuple[Edit, ...]]] = []

    def note(self, text: str, features: str, said: Sequence[int], edits: Sequence[Edit] = ()) -> None:
        """Remember a source and its target."""
        self._calls.append((TextRequest(text, self._settings, features, tuple(said)), tuple(edits)))

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return self._lens.look(*self._calls[place])
