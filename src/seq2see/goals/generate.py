"""The goal `generate`: read a text, write another."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seq2see.data import Pair
from seq2see.data.columns import Images, SourceText, TargetText
from seq2see.data.kinds import TEXTS
from seq2see.data.survey import Survey
from seq2see.errors import SettingsError
from seq2see.evaluation import Outcome, Texts
from seq2see.evaluation.floors import Known
from seq2see.goals.caption_model import CaptionModel
from seq2see.goals.choices import Choice, choose
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.image_choices import choose_captions, images_asked
from seq2see.goals.several_model import SeveralModel
from seq2see.goals.sources import (
    KeepsColumns,
    images_are_read,
    known_features,
    known_inputs,
    learn_images,
    refuse_several_targets,
    vocabularies,
)
from seq2see.goals.text_model import TextModel
from seq2see.models import EncoderDecoder, Vocabulary, make_encoder_decoder
from seq2see.recipe import Recipe
from seq2see.run import Run, read_as
from seq2see.text import SPECIAL, Codec, SourceCodec, Tokenizer

__all__ = ["Generate", "network_of"]

_USED = "used.json"
"""The file with the ids in the texts of each of several targets."""


class Generate:
    """Texts to texts."""

    name = "generate"
    examples = TEXTS
    ladder: tuple[str, ...] = ("rnn", "rnn-attention", "transformer")

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Tokenisation, batches, schedule and a model by the kind and number of pairs."""
        if images_asked(asked):
            return choose_captions(found, asked, model)
        return choose(found, asked, model)

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """Learn the vocabularies of both sides, as far as they are not known."""
        _refuse_misfits(recipe)
        into = list(map(str, recipe.data.targets)) if len(recipe.data.targets) > 1 else []
        if images_are_read(recipe):
            refuse_several_targets(recipe)
            return _learn_captions(recipe, examples, known or {})
        features: Iterable[str] | None = None
        if recipe.data.features is not None:
            features = (one.features for one in examples())
        sources, targets = (one.source for one in examples()), (one.target for one in examples())
        if not known:
            learnt = Codec.learn(sources, targets, features, recipe.text, into)
            return columns_of(_with_used(learnt, recipe, examples))
        read, written = known.get("source"), known.get("target")
        codec = read.codec if isinstance(read, SourceText) else None
        if isinstance(codec, Codec) and codec.shared and written is not None:
            source = target = codec.source
        else:
            source = codec.source if codec is not None else Tokenizer.learn(sources, recipe.text.source)
            target = (
                written.tokenizer
                if isinstance(written, TargetText)
                else Tokenizer.learn(targets, recipe.text.target).with_targets(into)
            )
        if list(target.targets) != into:
            raise SettingsError(
                f"the targets are {_listed(into)}, and those of the run that --from names are "
                f"{_listed(target.targets)}; name the same, in that order, or train without --from"
            )
        tags = known_features(recipe, codec, examples)
        return columns_of(
            _with_used(Codec(source, target, tags, recipe.text.begins), recipe, examples, codec)
        )

    def files(self, columns: Columns) -> dict[str, str]:
        """The tokenizers; of images, their size too."""
        if isinstance(columns["source"], Images):
            return _CAPTIONS.files(columns)
        codec = codec_of(columns)
        files = codec.files() | ({_USED: json.dumps(codec.used)} if codec.used else {})
        return {f"tokenizers/{name}": text for name, text in files.items()}

    def load(self, recipe: Recipe, folder: Path) -> Columns:
        """Read the tokenizers."""
        if recipe.data.images is not None:
            return _CAPTIONS.load(recipe, folder)
        codec = Codec.load(folder / "tokenizers", recipe.text.begins)
        if recipe.model.decoder_for_each:
            codec.used = read_as(list[list[int]], folder / "tokenizers" / _USED)
        return columns_of(codec)

    def network(self, recipe: Recipe, columns: Columns) -> EncoderDecoder:
        """An encoder and a decoder."""
        if isinstance(columns["source"], Images):
            read, written = vocabularies(columns)["source"], vocabularies(columns)["target"]
            return make_encoder_decoder(
                recipe.model, read, written, smoothing=recipe.training.label_smoothing
            )
        return network_of(recipe, codec_of(columns))

    def predictor(self, run: Run) -> TextModel:
        """A model that takes and gives text."""
        if isinstance(run.columns["source"], Images):
            return CaptionModel(run)
        return SeveralModel(run) if len(run.recipe.data.targets) > 1 else TextModel(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """Log-probabilities are given as they are."""
        return {}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Sources and their targets, as the outcome counts them."""
        if len(targets := recipe.data.targets) > 1:
            examples = [one for one in examples if one.into == str(targets[column])]
        if isinstance(outcome, Texts):
            asked = outcome.examples
            inputs = ["image" if recipe.data.images is not None else one.source for one in asked]
            return Known(inputs, [one.references for one in asked], unit=outcome.unit)
        return Known(known_inputs(examples, recipe), [(one.target,) for one in examples])


def _with_used(codec: Codec, recipe: Recipe, examples: Examples, known: SourceCodec | None = None) -> Codec:
    """Note which ids the texts of each target have, where each has a decoder of its own."""
    if isinstance(known, Codec) and known.used:
        codec.used = known.used
    elif recipe.model.decoder_for_each:
        ids: dict[str, set[int]] = {name: set() for name in codec.target.targets}
        for one in examples():
            ids[str(one.into)].update(codec.target.encode(one.target))
        codec.used = [sorted(found) for found in ids.values()]
    return codec


def _learn_captions(recipe: Recipe, examples: Examples, known: Columns) -> Columns:
    """The columns of images and of the captions that are written of them."""
    written = known.get("target")
    if not isinstance(written, TargetText):
        written = TargetText(Tokenizer.learn((one.target for one in examples()), recipe.text.target))
    return {"source": known.get("source") or learn_images(recipe, examples), "target": written}


_CAPTIONS = KeepsColumns()


def _refuse_misfits(recipe: Recipe) -> None:
    if recipe.data.numbers or recipe.data.categories:
        raise SettingsError(
            "--numbers and --categories are for --goal classify and regress; give a model that writes texts "
            "further words before its source with --features"
        )
    if recipe.model.decoder is None:
        raise SettingsError(
            "a model that writes texts needs a decoder, and model.decoder is none; "
            "choose another preset, such as transformer, or another --goal"
        )
    if recipe.model.decoder_for_each and len(recipe.data.targets) < 2:
        raise SettingsError(
            "model.decoder_for_each is for several targets, and there is one; name them, as --target de,fr, "
            "or leave it out"
        )


def _listed(targets: Iterable[str]) -> str:
    return ", ".join(targets) or "one column"


def columns_of(codec: Codec) -> Columns:
    """The columns of a text that is read and one that is written."""
    return {"source": SourceText(codec), "target": TargetText(codec.target)}


def codec_of(columns: Columns) -> Codec:
    """The tokenizers of both sides."""
    source = columns["source"]
    assert isinstance(source, SourceText) and isinstance(source.codec, Codec)
    return source.codec


def network_of(recipe: Recipe, codec: Codec) -> EncoderDecoder:
    """The untrained network of a recipe."""
    copies = codec.copies() if recipe.model.pointer else None
    if copies is not None and not any(place >= len(SPECIAL) for place in copies):
        raise SettingsError(
            "model.pointer copies tokens that both sides have, and these pairs have none in common; "
            "leave it out, or cut both sides alike (text.source.kind, text.target.kind)"
        )
    return make_encoder_decoder(
        recipe.model,
        Vocabulary(codec.source_size, codec.source.special),
        Vocabulary(codec.target_size, codec.target.special, used=codec.used),
        copies,
        recipe.training.label_smoothing,
    )
