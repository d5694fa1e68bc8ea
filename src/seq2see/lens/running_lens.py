"""Views of a model that goes on with a text: prompt and output are one text, which looks back at itself."""

from collections.abc import Sequence

from seq2see.layers.attention import Watch
from seq2see.lens.edits import Edit
from seq2see.lens.teacher_forcing import Source
from seq2see.lens.text_lens import TextLens, TextRequest
from seq2see.models.contracts import Memory

__all__ = ["RunningLens"]


class RunningLens(TextLens):
    """Makes views of a decoder alone.

    The prompt is the beginning of the output, with candidates and log-probabilities of its own. What is
    shown as the source are the tokens that the model has read at each step. Where no begin symbol stands
    before texts, the first token is read and not foretold.
    """

    open_ended = True

    def _read(self, wanted: TextRequest, edits: Sequence[Edit]) -> tuple[Source, int, list[int]]:
        first, *opening = [*self.codec.before, *self.codec.target.encode(wanted.text)]
        return [], first, opening

    def _shown(self, source: Source, first: int, said: list[int]) -> Source:
        return [first, *said[:-1]]

    def _memory(self, source: Source, watch: Watch | None) -> Memory | None:
        return None
