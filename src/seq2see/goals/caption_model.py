"""A trained model that reads an image and writes a text."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Images, TargetText
from seq2see.decoding.engine import OwnLoop
from seq2see.errors import SettingsError
from seq2see.evaluation import Captions, Outcome
from seq2see.goals.text_model import TextModel
from seq2see.goals.text_values import By
from seq2see.lens.captions import CaptionLens
from seq2see.lens.edits import Edit
from seq2see.lens.pictures import grid_of
from seq2see.lens.request import LensRequest
from seq2see.lens.text_lens import TextRequest
from seq2see.lens.view import View
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
        """Images have no length: how many words the first right caption of each has."""
        assert isinstance(outcome, Captions)
        return [len(one.references[0].split()) for one in outcome.examples]

    @property
    def images(self) -> Images:
        """The column of what is read."""
        column = self.run.columns["source"]
        assert isinstance(column, Images)
        return column

    @property
    def lens(self) -> CaptionLens:
        """What looks at this model."""
        return CaptionLens(self)

    def look(self, asked: LensRequest, edits: Sequence[Edit] = (), donor: TextModel | None = None) -> View:
        """The view of an image, with the effect of edits."""
        return CaptionLens(self, asked.read).look(
            self._wanted(asked), edits, self._image_lender(donor, asked)
        )

    def attribute(
        self, asked: LensRequest, kind: str, edits: Sequence[Edit] = (), donor: TextModel | None = None
    ) -> Tensor:
        """What each place did for each output token, (T, S)."""
        lens = CaptionLens(self, asked.read)
        return lens.attribution(self._wanted(asked), kind, edits, self._image_lender(donor, asked))

    def _image_lender(self, donor: TextModel | None, asked: LensRequest) -> CaptionLens | None:
        if donor is None or isinstance(donor, CaptionModel):
            return CaptionLens(donor, asked.read) if donor is not None else None
        raise SettingsError("a model of another kind has other rows, so it cannot lend weights to this one")

    def most_tokens(self, texts: Sequence[str], features: str, target: str | None) -> int:
        """How many places an image has, or how many tokens a target."""
        said = self.target.encode(target) if target is not None else []
        return max(len(grid_of(self.network, self.images.shape)), len(said) + 1)

    def _wanted(self, asked: LensRequest) -> TextRequest:
        limit = self.output_limit(1, self.decoding(beam=asked.beam))
        longest = min(asked.longest, limit) if asked.longest is not None else limit
        settings = self.decoding(beam=asked.beam, max_length=longest)
        return TextRequest(asked.text, settings, asked.features, asked.target)
