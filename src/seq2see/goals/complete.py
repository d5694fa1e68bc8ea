"""The goal `complete`: write on, each token told from those before it."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from seq2see.data import Pair
from seq2see.data.columns import Passages
from seq2see.data.kinds import RUNNING
from seq2see.data.passages import ENDS
from seq2see.data.survey import Survey
from seq2see.errors import SettingsError
from seq2see.evaluation import Foretold, Outcome
from seq2see.evaluation.floors import Known
from seq2see.goals.choices import Choice
from seq2see.goals.completer import Completer
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.running_choices import choose_running_schedule, refuse_columns
from seq2see.goals.sources import KeepsColumns
from seq2see.models import DecoderOnly, make_decoder_only
from seq2see.models.settings import RecurrentDecoderSettings
from seq2see.recipe import Recipe, preset
from seq2see.run import Run
from seq2see.text import Tokenizer

__all__ = ["Complete"]

_SUBWORDS_FROM = 10_000_000
"""Characters of text from which on sub-words are worth their vocabulary."""
_END = "\0"
"""Stands for the symbol that ends a document, where characters are counted."""
_CONTEXT = 128
_BATCH = 1024


class Complete(KeepsColumns):
    """Running text to more of it."""

    name = "complete"
    examples = RUNNING
    ladder: tuple[str, ...] = ("char-rnn", "gpt-tiny")
    kept = frozenset({"target"})

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Tokens, context, model and schedule by the size of the text."""
        given = asked.get("model", {})
        if (given.get("encoder") or {}).get("kind", "none") != "none":
            raise SettingsError(
                "a model that writes on reads no source, so it has no encoder; choose --preset gpt-tiny or "
                "char-rnn, or leave model.encoder out"
            )
        choice = Choice(fixed={"model": {"encoder": {"kind": "none"}}})
        size = round(found.count * fmean(len(one.target) for one in found.sample))
        kind = asked.get("text", {}).get("target", {}).get("kind")
        letters = _tokens(choice, size, kind)
        if model:
            choice.take(preset("gpt-tiny"), f"model: gpt-tiny ({size:,} characters of text)")
        if (given.get("decoder") or {}).get("kind") == "recurrent":
            choice.take({"model": {"decoder": {"kind": "recurrent", "attention": "none"}}}, "")
        context = asked.get("data", {}).get("max_length", _CONTEXT)
        choice.take({"data": {"max_length": _CONTEXT}}, f"{_CONTEXT} tokens are seen together")
        choice.take({"decoding": {"sample": True, "temperature": 0.8}, "text": {"begins": True}}, "")
        training = asked.get("training", {})
        batch = training.get("batch_tokens", max(_BATCH, context))
        shown = f"batches of {max(1, batch // context)} windows"
        choose_running_schedule(choice, size / letters, batch, shown, 20, training)
        return choice

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """Learn the vocabulary."""
        _refuse_misfits(recipe)
        if known is not None and isinstance(kept := known.get("target"), Passages):
            return {"target": Passages(kept.tokenizer)}
        texts = (one.target for one in examples())
        return {"target": Passages(Tokenizer.learn_running(texts, recipe.text.target))}

    def network(self, recipe: Recipe, columns: Columns) -> DecoderOnly:
        """A decoder alone."""
        target = columns["target"]
        assert isinstance(target, Passages)
        return make_decoder_only(recipe.model, target.vocabulary, recipe.training.label_smoothing)

    def predictor(self, run: Run) -> Completer:
        """A model that goes on with a text."""
        return Completer(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """Log-probabilities are given as they are."""
        return {}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Passages with a sign where a document ends; of those foretold, how many tokens and characters."""
        texts = [one.target + _END * (ENDS in one.extras) for one in examples]
        if not isinstance(outcome, Foretold):
            return Known(texts, texts)
        return Known(texts[: len(outcome)], np.stack([outcome.tokens, outcome.characters], 1).tolist())


def _tokens(choice: Choice, size: int, asked: str | None) -> float:
    """Choose what a text is cut into; gives about how many characters a token has."""
    kind = asked or ("characters" if size < _SUBWORDS_FROM else "bpe")
    bound = f"{_SUBWORDS_FROM // 1_000_000} million"
    if kind == "characters":
        choice.take(
            {"text": {"target": {"kind": kind}}},
            f"text: characters ({size:,} of them; sub-words from {bound} on)",
        )
        return 1.0
    count = 8000 if size >= _SUBWORDS_FROM else 1000
    choice.take(
        {"text": {"target": {"kind": kind, "size": count}}},
        f"text: {kind} ({count:,} sub-words over bytes, for {size:,} characters)",
    )
    return 3.0


def _refuse_misfits(recipe: Recipe) -> None:
    model = recipe.model
    refuse_columns(recipe, "source")
    if model.decoder is None:
        raise SettingsError(
            "a model that writes on needs a decoder, and model.decoder is none; choose --preset gpt-tiny"
        )
    if model.pointer:
        raise SettingsError("model.pointer copies from a source, and --goal complete has none; leave it out")
    if model.share_embeddings or recipe.text.shared:
        raise SettingsError(
            "model.share_embeddings and text.shared join two sides, and --goal complete has one; "
            "leave them out"
        )
    if isinstance(model.decoder, RecurrentDecoderSettings) and model.decoder.attention != "none":
        raise SettingsError(
            f"model.decoder.attention = {model.decoder.attention} looks at a source, and --goal complete has "
            "none; set it to none (model.decoder.self_attention looks at the states before)"
        )
