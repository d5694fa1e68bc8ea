"""A trained model that reads an image and writes a text."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from seq2see.data import Pair
from seq2see.data.columns import TargetText
from seq2see.decoding.engine import OwnLoop
from seq2see.errors import SettingsError
from seq2see.evaluation import Captions, Outcome
from seq2see.goals.shown import NOT_ON_IMAGES
from seq2see.goals.text_model import TextModel
from seq2see.goals.text_values import By
from seq2see.lens.text_lens import TextLens
from seq2see.run import Run
from seq2see.text import Tokenizer

__all__ = ["CaptionModel"]


class _FewerAtOnce(OwnLoop):
    """Our own search, given fewer sources at a time, since images need more memory than texts."""

    window = 512


class CaptionModel(TextModel):
    """Takes names of images, as `photo.jpg` or `photos.zip//cat/1.jpg`, and gives texts."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.own_loop = _FewerAtOnce(self.network)
        self.engine = self.own_loop

    @property
    def target(self) -> Tokenizer:
        """The tokenizer of what is written."""
        column = self.run.columns["target"]
        assert isinstance(column, TargetText)
        return column.tokenizer

    def source_rows(self, texts: Sequence[str], features: Sequence[str]) -> Sequence[Any]:
        """The pixels of images."""
        return self.run.columns["source"].encode([Pair(1, text, "", "") for text in texts])

    def counted_by(self, examples: Sequence[Pair]) -> By:
        """Each image counts once, with all its captions as references."""
        return "source"

    def outcome(
        self, examples: Sequence[Pair], most: int | None = None, by: By | None = None, **options: Any
    ) -> Captions:
        """Captions of images, beside the captions that stand there for them."""
        found = super().outcome(examples, most, by, **options)
        return Captions(found.examples, found.unit)

    def unknown(self, example: Pair) -> Counter[str]:
        """Images have no pieces that could be unknown."""
        return Counter()

    def source_length(self, example: Pair) -> int:
        """An image counts as one."""
        return 1

    def outcome_lengths(self, examples: Sequence[Pair], outcome: Outcome) -> list[int]:
        """An image counts as one."""
        return [1] * len(outcome)

    @property
    def attributions(self) -> Sequence[str]:
        """None so far."""
        return ()

    @property
    def lens(self) -> TextLens:
        """Nothing looks at this model so far."""
        raise SettingsError(NOT_ON_IMAGES)

    def most_tokens(self, texts: Sequence[str], features: str, target: str | None) -> int:
        """Nothing looks at this model so far."""
        raise SettingsError(NOT_ON_IMAGES)
