"""Residual blocks left out while many images are answered, not only while one is looked at."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from image_runs import SCENE

from seq2see.data import Pair
from seq2see.data.shapes import draw
from seq2see.errors import SettingsError
from seq2see.goals.text_model import Source
from seq2see.lens.blocks import blocks_of
from seq2see.lens.edits import Hide, Skip

OTHER = "task:shapes//green cross 24 24 6, white circle 8 40 5"


def test_classes_are_those_that_the_lens_shows(image_models: dict[str, Any]) -> None:
    model = image_models["resnet"]
    examples = [Pair(1, SCENE, "circle", ""), Pair(2, OTHER, "cross", "")]
    plain = [one.probabilities for one in model.answers(examples)]
    for block in blocks_of(model.network):
        edits = [Skip(block=block)]
        found = list(model.answers(examples, edits))
        for example, one in zip(examples, found, strict=True):
            view = model.attention(example.source, edits=edits)
            assert one.text == view.output
            assert max(one.probabilities.values()) == pytest.approx(math.exp(view.log_probability), abs=1e-4)
        assert [one.probabilities for one in found] != plain
        assert len(model.outcome(examples, edits=edits)) == 2
    assert [one.probabilities for one in model.answers(examples)] == plain  # nothing is left behind


def test_captions_are_those_that_the_lens_shows(image_models: dict[str, Any]) -> None:
    model = image_models["caption"]
    sources = [Source(SCENE), Source(OTHER)]

    def scored(*edits: Skip) -> list[tuple[str, float]]:
        found = model.decode(sources, edits=edits, beam=1)
        return [(outputs[0].text, outputs[0].log_probability) for outputs in found]

    plain = scored()
    for block in blocks_of(model.network):
        found = scored(Skip(block=block))
        views = [model.attention(one.text, edits=[Skip(block=block)], beam=1) for one in sources]
        assert [text for text, _ in found] == [view.output for view in views]
        assert [value for _, value in found] == pytest.approx(
            [view.log_probability for view in views], abs=1e-3
        )
        assert found != plain
    assert scored() == plain


def test_a_view_between_two_outputs_is_not_touched(image_models: dict[str, Any]) -> None:
    model, edits = image_models["caption"], [Skip(block="encoder.1.0")]
    alone = model.attention(SCENE, edits=edits)
    stream = model.decode((one for one in [Source(SCENE), Source(OTHER)]), edits=edits)
    next(stream)
    between = model.attention(SCENE, edits=edits)
    assert between.effect == alone.effect
    assert len(list(stream)) == 1


def test_unknown_blocks_and_single_places_are_refused(image_models: dict[str, Any]) -> None:
    model = image_models["resnet"]
    with pytest.raises(SettingsError, match=r"no residual block .* 'encoder\.1\.9'"):
        list(model.answers([Pair(1, SCENE, "", "")], [Skip(block="encoder.1.9")]))
    with pytest.raises(SettingsError, match="made for one source"):
        list(model.answers([Pair(1, SCENE, "", "")], [Hide(places=[1])]))


def test_both_verbs_take_it(image_runs: dict[str, Path], tmp_path: Path, seq2see: Command) -> None:
    for kind in ("circle", "cross"):
        (tmp_path / "test" / kind).mkdir(parents=True)
        for number in range(3):
            draw(f"red {kind} {14 + 4 * number} 20 6").save(tmp_path / "test" / kind / f"{number}.png")
    edit = ("--edit", "skip block=encoder.1.0")
    for words in (("predict", "--json"), ("evaluate", "--json", "--no-floor")):
        given = (words[0], image_runs["resnet"], tmp_path / "test", *words[1:])
        plain, skipped = seq2see(*given), seq2see(*given, *edit)
        assert skipped.code == 0, skipped.err
        assert skipped.out != plain.out
    assert json.loads(skipped.out)["sources"] == 6
    said = seq2see("evaluate", image_runs["vit"], tmp_path / "test", *edit)
    assert said.code == 2 and "it has none" in said.err
