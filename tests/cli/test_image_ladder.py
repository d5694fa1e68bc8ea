"""The ladder of images: what it tries, what it refuses before it trains, and what it tells apart."""

import json
from pathlib import Path

import pytest
from command_line import Command

from seq2see.data.shapes import draw

SMALL = [
    word
    for setting in (
        *("model.front.width=4", "model.encoder.widths=[4,8]", "model.encoder.depths=[1,1]"),
        *("training.batch_pairs=8", "training.dev_examples=8"),
    )
    for word in ("--set", setting)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kinds of shapes, each in a folder."""
    place = tmp_path_factory.mktemp("ladder") / "kinds"
    for kind in ("circle", "cross"):
        (place / kind).mkdir(parents=True)
        for number in range(24):
            draw(f"red {kind} {16 + number} {14 + number % 7} 6").save(place / kind / f"{number}.png")
    return place


@pytest.mark.parametrize(
    ("presets", "goal", "said"),
    [
        ("resnet-tiny,rnn", None, "preset 'rnn' reads texts, and the sources are images"),
        ("caption", None, "preset 'caption' writes captions, and the goal is classify"),
        ("vit-tiny", "generate", "preset 'vit-tiny' has no decoder, and the goal is generate"),
        (None, "tag", "images are for --goal classify, regress, generate"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_trained(
    folder: Path, tmp_path: Path, seq2see: Command, presets: str | None, goal: str | None, said: str
) -> None:
    words = [*(("--presets", presets) if presets else ()), *(("--goal", goal) if goal else ())]
    found = seq2see("ladder", folder, "--out", tmp_path / "runs", *words)
    assert found.code == 2 and said in found.err
    assert not (tmp_path / "runs").exists()


def test_texts_do_not_climb_with_models_of_images(tmp_path: Path, seq2see: Command) -> None:
    found = seq2see("ladder", "task:copy", "--presets", "rnn,vit-tiny", "--out", tmp_path / "runs")
    assert (
        found.code == 2 and "reads images, and the sources are texts; choose others, such as rnn" in found.err
    )


def test_images_have_no_length(folder: Path, tmp_path: Path, seq2see: Command) -> None:
    words = ("--presets", "resnet-tiny", "--max-steps", 2, "--json", *SMALL)
    found = seq2see("ladder", folder, "--out", tmp_path / "runs", *words)
    assert found.code == 0, found.err
    told = json.loads(found.out)
    (rung,) = told["rungs"]
    assert rung["buckets"] == [] and told["floor"]["name"] in ("majority", "nearest class mean")
    assert "source length" not in (tmp_path / "runs" / "ladder.md").read_text()
    assert (tmp_path / "runs" / "ladder.png").stat().st_size > 5000


def test_captions_are_told_apart_by_their_length(tmp_path: Path, seq2see: Command) -> None:
    data = "task:shapes:pairs=60"
    words = ("--dev", data, "--out", tmp_path / "runs", "--max-steps", 2, "--json", *SMALL)
    found = seq2see("ladder", data, *words, "--set", "model.width=16", "--set", "decoding.max_length=6")
    assert found.code == 0, found.err
    told = json.loads(found.out)
    assert [rung["preset"] for rung in told["rungs"]] == [
        "caption-plain",
        "caption-tiny",
        "caption-transformer",
    ]
    assert (told["along"], told["unit"]) == ("caption length", "words")
    assert len({bucket["longest"] for rung in told["rungs"] for bucket in rung["buckets"]}) > 1
    assert all(sum(bucket["sources"] for bucket in rung["buckets"]) == 60 for rung in told["rungs"])
