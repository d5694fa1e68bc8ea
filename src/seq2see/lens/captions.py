"""Views of a model that reads an image and writes a text about it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

import torch
from torch import Tensor

from seq2see.data.columns import Images
from seq2see.lens import pictures
from seq2see.lens.attribution import Watching
from seq2see.lens.blocks import feature_maps, skipping, worths
from seq2see.lens.edits import Edit
from seq2see.lens.image_reading import Eye, ReadImage
from seq2see.lens.teacher_forcing import Source, teacher_force
from seq2see.lens.text_lens import TextLens, TextPass, TextRequest, Writer
from seq2see.lens.view import Unknown, View
from seq2see.lens.watchers import Editor, Patterns
from seq2see.models import EncoderDecoder
from seq2see.text import Tokenizer

__all__ = ["CaptionLens"]


class Captioner(Writer, Protocol):
    """A model that can be looked at while it writes about an image."""

    @property
    def target(self) -> Tokenizer: ...

    @property
    def images(self) -> Images: ...


class CaptionLens(TextLens):
    """Makes views of a model that writes captions."""

    kind_of_source = "image"
    _model: Captioner

    def __init__(self, model: Captioner, read: ReadImage | None = None) -> None:
        super().__init__(model)
        self._eye = Eye(self.network, model.images, read)

    def _finished(
        self, view: View, wanted: TextRequest, seen: TextPass, edits: Sequence[Edit], patterns: Patterns
    ) -> View:
        assert isinstance(seen.source, Tensor)
        editor = partial(Editor, edits, patterns) if edits else lambda: None

        def answers() -> tuple[str, float | None, float]:
            other = self._see(replace(wanted, text=seen.text), edits, patterns)
            again = teacher_force(self.network, seen.source, seen.said, editor(), seen.first)
            return (
                self.target.decode(other.said),
                sum(other.forced.of(other.said)),
                sum(again.of(seen.said)),
            )

        found = worths(self.network, edits, answers)
        with torch.inference_mode(), skipping(self.network, edits), feature_maps(self.network) as features:
            if found:
                self._memory(seen.source, editor())
        picture = self._eye.see(seen.text, edits)
        return replace(view, picture=picture, blocks=found, features=features)

    def _tokenizer(self) -> Tokenizer:
        return self._model.target

    def _read(self, wanted: TextRequest, edits: Sequence[Edit]) -> tuple[Source, int, list[int]]:
        return self._eye.see(wanted.text, edits).pixels, self._special.begin, []

    def _length(self, source: Source) -> int:
        return 1

    def _source_tokens(self, source: Source) -> list[str]:
        return self._eye.grid.names

    def _unknown(self, seen: TextPass) -> Unknown:
        return Unknown({})

    def _attributed(self, kind: str, seen: TextPass, watching: Watching) -> Tensor:
        said = torch.tensor(seen.said, device=self.network.device)
        network = self.network
        assert isinstance(seen.source, Tensor) and isinstance(network, EncoderDecoder)
        inputs = torch.tensor([[seen.first, *seen.said[:-1]]], device=network.device)

        def scores(values: Tensor) -> Tensor:
            logits = network.logits(values.to(network.device), inputs.expand(len(values), -1), watching())
            chances = logits.float().log_softmax(-1)
            return chances.gather(2, said.expand(len(values), -1)[..., None])[..., 0]

        picture = self._eye.holding(seen.source)
        if kind == "gradient":
            return pictures.gradient(picture, scores, self.network.device)
        return pictures.occlusion(picture, scores)
