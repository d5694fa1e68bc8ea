"""The goal `fill`: say which tokens of a text were hidden, from all that stands around them."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from seq2see.data import Pair
from seq2see.data.columns import SourceText
from seq2see.data.kinds import GAPS
from seq2see.data.survey import Survey
from seq2see.errors import SettingsError
from seq2see.evaluation import Outcome
from seq2see.evaluation.floors import Known
from seq2see.goals.choices import Choice
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.filler import Filler, masking_of
from seq2see.goals.running_choices import choose_running_schedule, refuse_columns
from seq2see.goals.sources import KeepsColumns
from seq2see.models import MaskedReader, make_masked_reader
from seq2see.models.fronts import TokenFrontSettings
from seq2see.recipe import Recipe, preset
from seq2see.run import Run
from seq2see.text import SourceCodec, Tokenizer

__all__ = ["Fill"]

_CONTEXT = 128
_BATCH = 4096
_SIZES = ((1_000_000, 2000), (10_000_000, 8000), (float("inf"), 16_000))
"""Characters of text up to which so many sub-words are learnt."""
_SMALL = 20_000_000
"""Characters of text from which on the larger model is chosen."""


class Fill(KeepsColumns):
    """Texts with gaps to what belongs there."""

    name = "fill"
    examples = GAPS
    ladder: tuple[str, ...] = ("reader-cnn", "reader-rnn", "filler-tiny")
    kept = frozenset({"source"})

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Tokens, length, model and schedule by the size of the text."""
        choice = Choice(fixed={"model": {"decoder": None}})
        letters = fmean(len(one.target) for one in found.sample)
        size = round(found.count * letters)
        each = _tokens(choice, found, size, asked.get("text", {}).get("source", {}).get("kind"))
        if model:
            name = "filler-tiny" if size < _SMALL else "filler"
            choice.take(preset(name), f"model: {name} ({size:,} characters of text)")
        choice.take({"text": {"begins": True}, "training": {"masking": {}}}, "")
        choice.take({"data": {"max_length": _CONTEXT}}, f"{_CONTEXT} tokens are seen together")
        training = asked.get("training", {})
        batch = training.get("batch_tokens", _BATCH)
        choose_running_schedule(
            choice, size / each, batch, f"batches of about {batch:,} tokens", 10, training
        )
        return choice

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """Learn the vocabulary, unless another run has one."""
        _refuse_misfits(recipe)
        if known is not None and "source" in known:
            source = known["source"]
            assert isinstance(source, SourceText)
            if source.special.mask is None:
                raise SettingsError(
                    "that run's vocabulary has no [MASK], so it cannot learn to fill gaps; "
                    "begin with --goal fill without --from"
                )
            return {"source": SourceText(SourceCodec(source.codec.source, None, recipe.text.begins))}
        texts = (" ".join(one.target.split()) for one in examples())
        tokenizer = Tokenizer.learn_masked(texts, recipe.text.source)
        return {"source": SourceText(SourceCodec(tokenizer, None, recipe.text.begins))}

    def network(self, recipe: Recipe, columns: Columns) -> MaskedReader:
        """An encoder under a head that says what was hidden."""
        source = columns["source"]
        assert isinstance(source, SourceText)
        masking = masking_of(recipe, source)
        return make_masked_reader(recipe.model, source.vocabulary, masking, recipe.training.label_smoothing)

    def predictor(self, run: Run) -> Filler:
        """A model that fills the gaps of a text."""
        return Filler(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """Probabilities of tokens are given as they are."""
        return {}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Texts, each of them all that is known of it."""
        texts = [one.source or one.target for one in examples]
        return Known(texts, texts)


def _tokens(choice: Choice, found: Survey, size: int, asked: str | None) -> float:
    """Choose what a text is cut into; gives about how many characters a token has."""
    spaced = fmean(" " in one.target.strip() for one in found.sample) > 0.5
    kind = asked or ("bpe" if spaced else "characters")
    sized = next(count for most, count in _SIZES if size < most)
    if kind in ("bpe", "unigram", "words"):
        values = {"kind": kind, "size": sized}
        choice.take({"text": {"source": values}}, f"text: {kind} ({sized:,} of them at the most)")
        return 4.0
    why = "texts without spaces" if not spaced else "as asked"
    choice.take({"text": {"source": {"kind": kind}}}, f"text: {kind} ({why})")
    return 1.0


def _refuse_misfits(recipe: Recipe) -> None:
    model = recipe.model
    refuse_columns(recipe, "target")
    if not isinstance(model.front, TokenFrontSettings):
        raise SettingsError(
            f"model.front.kind = {model.front.kind} has no vector for each token that could be hidden; "
            "set model.front.kind=tokens"
        )
    if model.tie_output and model.head.transform is None and model.memory_width != model.width:
        raise SettingsError(
            f"model.tie_output reads tokens off states of width {model.width}, and those of the encoder have "
            f"{model.memory_width}; leave model.encoder.hidden out, or set model.tie_output=false"
        )
