"""Views of a model that goes on with a text: prompt and output are one text, which looks back at itself."""

from seq2see.layers.attention import Watch
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

    def _read(self, wanted: TextRequest) -> tuple[list[int], int, list[int]]:
        first, *opening = [*self.codec.before, *self.codec.target.encode(wanted.text)]
        return [], first, opening

    def _shown(self, source: list[int], first: int, said: list[int]) -> list[int]:
        return [first, *said[:-1]]

    def _memory(self, source: list[int], watch: Watch | None) -> Memory | None:
        return None
