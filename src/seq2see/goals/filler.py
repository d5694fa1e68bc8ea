"""A trained model that fills the gaps of a text."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import SourceText
from seq2see.decoding.bulk import by_length
from seq2see.evaluation import Outcome
from seq2see.evaluation.outcomes import Filled as FilledOutcome
from seq2see.goals.reading_model import ReadingModel
from seq2see.layers.attention import Watch
from seq2see.layers.masking import Masking
from seq2see.lens.edits import Edit
from seq2see.lens.reading import Reading
from seq2see.lens.watchers import Editor, check_addresses, check_for_any
from seq2see.models import MaskedReader
from seq2see.models.contracts import Sides
from seq2see.notebook import Printed
from seq2see.recipe import Recipe
from seq2see.text import MASK, Tokenizer
from seq2see.text.words import SPACE, carries_spaces, word_starts
from seq2see.training.settings import MaskingSettings

__all__ = ["Candidate", "Filled", "Filler", "masking_of"]

_CANDIDATES = 100
"""Tokens that are kept for each gap, and texts that can be asked for."""
_NAMED = 10
"""Candidates of a gap that an answer names."""
_SCORES = 1 << 22
"""Scores of tokens that are held at once."""
_NO_GAP = f"there is no {MASK} in the text; write it where a word is to be filled in"
_SHOWN = 16
"""Words of a text that is shown before anybody has asked for one."""


def masking_of(recipe: Recipe, source: SourceText, whole: bool = False) -> Masking:
    """What hides tokens as a recipe says; with `whole`, all that are chosen become the mask symbol."""
    settings = recipe.training.masking or MaskingSettings()
    special = source.special
    assert special.mask is not None
    return Masking(
        special.mask,
        special.first,
        word_starts(source.codec.source.tokens(range(source.size))),
        settings.share,
        1.0 if whole else settings.masked,
        0.0 if whole else settings.random,
        settings.unit,
        settings.span,
        settings.longest_span,
    )


class Candidate(NamedTuple):
    """A token for a gap, as a person would read it, and how likely it is."""

    token: str
    probability: float


@dataclass(frozen=True, repr=False)
class Filled(Printed):
    """A text with its gaps filled, the likeliest way first, and the candidates for each gap."""

    texts: tuple[tuple[str, float], ...]
    """Texts with the log-probability of what fills them; each gap is told by itself."""
    gaps: tuple[tuple[Candidate, ...], ...]

    @property
    def text(self) -> str:
        """The likeliest text."""
        return self.texts[0][0]

    @property
    def detail(self) -> str:
        """For each gap the likeliest tokens with their probabilities."""
        return "\t".join(" ".join(f"{one.token}={one.probability:.4f}" for one in gap) for gap in self.gaps)

    def values(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "text": self.text,
            "log_probability": self.texts[0][1],
            "gaps": [[one._asdict() for one in gap] for gap in self.gaps],
        }

    def __repr__(self) -> str:
        gaps = "s" * (len(self.gaps) != 1)
        return f"<{self.text!r}: {len(self.gaps)} gap{gaps}, log-probability {self.texts[0][1]:.2f}>"


class Filler(ReadingModel[Filled]):
    """A trained model that takes texts with [MASK] in them, and says what belongs there."""

    @property
    def network(self) -> MaskedReader:
        """The network, which reads ids."""
        assert isinstance(self.run.network, MaskedReader)
        return self.run.network

    @property
    def column(self) -> SourceText:
        """What turns text into ids."""
        column = self.run.columns["source"]
        assert isinstance(column, SourceText)
        return column

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary."""
        return self.column.codec.source

    @property
    def mask(self) -> int:
        """The id of the mask symbol."""
        mask = self.column.special.mask
        assert mask is not None
        return mask

    @cached_property
    def shown(self) -> list[str]:
        """Every token of the vocabulary, as a person would read it."""
        return self.tokenizer.tokens(range(self.tokenizer.size))

    def gaps(self, text: str) -> int:
        """How many tokens of a text are hidden."""
        return self.tokenizer.encode(text).count(self.mask)

    def with_gap(self, text: str) -> str:
        """A text whose middle word is hidden, to begin a look at the model with."""
        words = text.split()[:_SHOWN]
        return " ".join([*words[: len(words) // 2], MASK, *words[len(words) // 2 + 1 :]])

    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Log-probabilities of all tokens at every gap, (B, gaps, V); rows with fewer gaps are filled up."""
        return self.network.head.logits(self._at_gaps(sides, watch)).float().log_softmax(-1)

    def batch_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """The likeliest tokens at every gap, (B, gaps, candidates, 2): log-probabilities, and ids."""
        states = self._at_gaps(sides, watch)
        first, size = self.column.special.first, self.tokenizer.size
        kept = min(_CANDIDATES, size - first)
        found = [states.new_zeros(0, kept, 2)]
        for some in states.flatten(0, 1).split(max(1, _SCORES // size)):
            scores = self.network.head.logits(some).float().log_softmax(-1)
            best = scores[:, first:].topk(kept)  # nobody wants a special symbol in a text
            found.append(torch.stack([best.values, (best.indices + first).float()], -1))
        return torch.cat(found).view(*states.shape[:2], kept, 2)

    def _at_gaps(self, sides: Sides, watch: Watch | None) -> Tensor:
        """The encoder's states at the gaps of each row, in order, (B, gaps, D)."""
        states = self.network.encode(sides, watch).states
        hidden = sides["source"].values == self.mask
        places = (~hidden).int().argsort(dim=1, stable=True)[:, : int(hidden.sum(1).max())]
        return states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))

    def answer(self, example: Pair, outputs: Tensor) -> Filled:
        """The likeliest ways to fill a text; one without gaps comes back as it is."""
        options = [
            [(int(id_), score) for score, id_ in gap] for gap in outputs[: self.gaps(example.source)].tolist()
        ]
        ways: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for gap in options:
            longer = [(total + score, (*ids, id_)) for total, ids in ways for id_, score in gap]
            ways = sorted(longer, key=lambda way: -way[0])[:_CANDIDATES]
        texts = tuple((self._written(example.source, ids), total) for total, ids in ways)
        named = tuple(
            tuple(Candidate(self.shown[id_], float(np.exp(score))) for id_, score in gap[:_NAMED])
            for gap in options
        )
        return Filled(texts, named)

    @cached_property
    def _carries(self) -> bool:
        return carries_spaces(self.shown)

    def _written(self, text: str, ids: Sequence[int]) -> str:
        """A text with tokens in its gaps; where tokens bring their spaces along, those of the text go."""
        written, *rest = text.split(MASK)
        for id_, after in zip(ids, rest, strict=True):
            token = self.shown[id_]
            if self._carries or token.startswith("##"):
                written = written.rstrip(" ")
                token = token.removeprefix("##").removeprefix("" if written else SPACE)
            written += token.replace(SPACE, " ") + after
        return written

    def blank(self, example: Pair) -> Filled:
        """Nothing where there is no text."""
        return Filled((("", 0.0),), ())

    def plain(self, answer: Filled) -> str:
        """The likeliest text."""
        return answer.text

    def read(self, example: Pair, outputs: Tensor) -> Reading:
        """The log-probability of every token at every gap; a text without gaps has only attention to show."""
        count = self.gaps(example.source)
        note = "" if count else _NO_GAP
        scores = outputs[:count]
        ids = scores.argmax(-1).tolist()
        names = [MASK if count == 1 else f"{MASK} {number}" for number in range(1, count + 1)]
        answers = [self.shown[id_] for id_ in ids]
        return Reading("gaps", names, answers, self.shown, scores, self._written(example.source, ids), note)

    def forgotten(self, example: Pair) -> dict[str, list[Any]]:
        """Copies of a text, each of which lacks one token; gaps stay, since they are asked about."""
        rows = super().forgotten(example)
        (ids,) = self.column.encode([example])
        rows["source"] = [
            ids if id_ == self.mask else row for id_, row in zip(ids, rows["source"], strict=True)
        ]
        return rows

    def outcome(
        self,
        examples: Sequence[Pair],
        most: int | None = None,
        edits: Sequence[Edit] = (),
        **options: Any,
    ) -> Outcome:
        """How well hidden tokens are told; which are hidden depends on the text and the seed alone."""
        check_addresses(edits, self.network)
        check_for_any(edits)
        texts = list(self._fitted(examples))
        chosen = texts[:: -(-len(texts) // most)] if most is not None else texts
        masking, seed = masking_of(self.recipe, self.column, whole=True), self.recipe.seed
        hidden: list[list[int]] = []
        told: list[list[int]] = []
        rows = self.column.encode(chosen)
        for row in rows:
            ids = torch.tensor([row])
            generator = torch.Generator().manual_seed(zlib.crc32(repr((seed, row)).encode()))
            read, places = masking(ids, generator)
            hidden.append(read[0].tolist())
            told.append(places[0].nonzero()[:, 0].tolist())
        scores, best = self._told(hidden, told, rows, edits)
        return FilledOutcome(
            np.array([-sum(one) for one in scores]),
            np.array(list(map(len, told))),
            np.array([sum(one) for one in best]),
        )

    def _fitted(self, examples: Iterable[Pair]) -> Iterator[Pair]:
        """Passages as sources that are as long as those of training at the most."""
        return self.column.packed(examples, self.recipe.data.max_length)

    @torch.inference_mode()
    def _told(
        self,
        rows: Sequence[Sequence[int]],
        places: Sequence[Sequence[int]],
        truth: Sequence[Sequence[int]],
        edits: Sequence[Edit] = (),
    ) -> tuple[list[list[float]], list[list[bool]]]:
        """For each row the log-probability of the truth at some places, and whether it is the likeliest."""
        self.refuse_too_long(rows)
        scores: list[list[float]] = [[] for _ in rows]
        best: list[list[bool]] = [[] for _ in rows]
        many = max(1, _SCORES // self.tokenizer.size)
        for chosen in by_length(rows, range(len(rows)), self.recipe.decoding.batch_tokens):
            side = self.column.collate([rows[row] for row in chosen]).to(self.device)
            states = self.network.encode({"source": side}, Editor(edits) if edits else None).states
            asked = [(at, row, place) for at, row in enumerate(chosen) for place in places[row]]
            for first in range(0, len(asked), many):
                some = asked[first : first + many]
                here = states[[at for at, _, _ in some], [place for _, _, place in some]]
                logits = self.network.head.logits(here).float().log_softmax(-1)
                right = torch.tensor([truth[row][place] for _, row, place in some], device=self.device)
                found = logits.gather(1, right[:, None])[:, 0].tolist()
                hits = (logits.argmax(1) == right).tolist()
                for (_, row, _), score, hit in zip(some, found, hits, strict=True):
                    scores[row].append(score)
                    best[row].append(hit)
        return scores, best

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """The texts whose hidden tokens were told worst."""
        assert isinstance(outcome, FilledOutcome)
        texts = list(self._fitted(examples))
        loss = outcome.nats / np.maximum(outcome.tokens, 1)
        return [
            {"line": texts[place].line, "loss": float(loss[place]), "text": texts[place].source}
            for place in np.argsort(-loss, kind="stable")[:count]
        ]

    def target_scores(self, examples: Iterable[Pair]) -> Iterator[float]:
        """The pseudo-log-likelihood of each text: every token from all others (Salazar et al. 2020)."""
        for one in examples:
            yield sum(self._pseudo(row) for row in self.column.encode(list(self._fitted([one]))))

    def _pseudo(self, row: list[int]) -> float:
        places = [place for place, id_ in enumerate(row) if id_ >= self.column.special.first]
        copies = [[*row[:place], self.mask, *row[place + 1 :]] for place in places]
        scores, _ = self._told(copies, [[place] for place in places], [row] * len(places))
        return float(sum(one for found in scores for one in found))
