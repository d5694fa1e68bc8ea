"""A front for whole words: an embedding of each word beside what its letters tell."""

from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from seq2see.layers.dropout import Dropout
from seq2see.models.contracts import Sides, States, Vocabulary
from seq2see.models.fronts.tokens import embedding, forget_tokens
from seq2see.models.parts import FrontSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["WordFront", "WordFrontSettings"]


class WordFrontSettings(FrontSettings):
    """Words and their letters to vectors."""

    kind: Literal["words"] = "words"
    word_width: int = Field(default=100, ge=1, le=65536)
    letter_width: int = Field(default=32, ge=1, le=65536)
    letter_features: int = Field(default=100, ge=1, le=65536)
    """How many features a convolution over the letters of a word gives, for each kernel size."""
    kernels: tuple[int, ...] = (3, 5)
    """How many neighbouring letters are seen at once."""
    most_words: int = Field(default=50_000, ge=1)
    least: int = Field(default=2, ge=1)
    """How often a word must stand in the training file to have a vector of its own."""
    rare_dropout: float = Field(default=0.25, ge=0, le=100)
    """Training replaces a word that it shows n times by the unknown one in a share a / (a + n) of the cases
    (Kiperwasser & Goldberg 2016), so that letters must do."""


class WordFront(nn.Module):
    """Joins the vector of a word with the strongest patterns of its letters (dos Santos & Zadrozny 2014)."""

    forgotten: Tensor

    def __init__(
        self,
        words: Vocabulary,
        letters: Vocabulary,
        width: int,
        part: WordFrontSettings,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embed = embedding(words, part.word_width)
        self.letters = embedding(letters, part.letter_width)
        self.kernels = nn.ModuleList(
            nn.Linear(kernel * part.letter_width, part.letter_features) for kernel in part.kernels
        )
        self.join = nn.Linear(part.word_width + len(part.kernels) * part.letter_features, width)
        self.sizes = part.kernels
        # Embeddings that stand beside activations are scaled to be as large.
        self.scales = part.word_width**0.5, part.letter_width**0.5
        self.dropout = Dropout(dropout)
        counts = torch.tensor(list(words.counts or [0] * words.size), dtype=torch.float)
        share = part.rare_dropout / (part.rare_dropout + counts) if part.rare_dropout else counts * 0
        self.register_buffer("forgotten", share, persistent=False)
        self.special = words.special

    @classmethod
    def of(cls, settings: "ModelSettings", vocabularies: dict[str, Vocabulary]) -> "WordFront":
        """The front of a model."""
        assert isinstance(settings.front, WordFrontSettings)
        words, letters = vocabularies["source"], vocabularies["letters"]
        return cls(words, letters, settings.width, settings.front, settings.dropout)

    def forward(self, sides: Sides) -> States:
        (words, mask), (letters, seen) = sides["source"], sides["letters"]
        assert mask is not None and seen is not None
        if self.training:
            words = forget_tokens(words, self.forgotten[words], self.special)
        spelt = self._spelt(letters[mask], seen[mask])  # only words that are there, (W, F)
        patterns = spelt.new_zeros(*words.shape, spelt.shape[-1]).masked_scatter(mask[..., None], spelt)
        joined = torch.cat([self.embed(words) * self.scales[0], patterns], -1)
        return States(self.dropout(self.join(self.dropout(joined))), mask)

    def _spelt(self, letters: Tensor, seen: Tensor) -> Tensor:
        """The maximum of each convolution feature over the letters of each word, (W, L) -> (W, F)."""
        states = (self.letters(letters) * self.scales[1]).masked_fill(~seen[..., None], 0)
        found = []
        for size, kernel in zip(self.sizes, self.kernels, strict=True):
            left = (size - 1) // 2
            padded = nn.functional.pad(states, (0, 0, left, size - 1 - left))
            windows = padded.unfold(1, size, 1).transpose(2, 3).flatten(2)  # (W, L, size * letter_width)
            answers = kernel(windows).masked_fill(~seen[..., None], -float("inf"))
            found.append(answers.amax(1))
        return torch.relu(torch.cat(found, -1))
