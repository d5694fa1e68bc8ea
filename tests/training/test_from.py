"""`train --from RUN`: what is taken over, what is new, what is refused, and which weights learn."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from compared import Killed, Killer, same
from fill_runs import SMALL, filler, labelled, sentences

from seq2see import load
from seq2see.errors import RunError, SettingsError
from seq2see.models.weights import read_tensors
from seq2see.training import Depths, TrainingSettings
from seq2see.workflow import Request, train

QUICK = (
    "training.evaluate_every=6",
    "training.save_every=3",
    "training.batch_pairs=16",
    "training.device=cpu",
)
DECODER = ("model.decoder.layers=1", "model.decoder.heads=2", "model.decoder.feedforward=32")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files for every goal, and the runs to begin with."""
    folder = tmp_path_factory.mktemp("from")
    rows = {
        "classify": labelled(),
        "regress": [(text, str(len(text) + len(label) / 7)) for text, label in labelled()],
        "tag": [
            (text, " ".join("N" if len(word) > 3 else "X" for word in text.split())) for text, _ in labelled()
        ],
        "generate": [(text, text.replace("the", "le")) for text, _ in labelled()],
        "colours": [(text, "red" if "today" in text else "blue") for text, _ in labelled()],
    }
    for name, pairs in rows.items():
        (folder / f"{name}.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    filler(folder, settings=(*SMALL, "training.evaluate_every=20"))
    complete = ("model.width=16", "data.max_length=16", "training.evaluate_every=5", *DECODER, *QUICK)
    begun(folder, "complete", data="text.txt", goal="complete", settings=complete, max_steps=5)
    return folder


def begun(folder: Path, name: str, killed: int | None = None, data: str | None = None, **asked: Any) -> Path:
    """Train a run named after its goal, or anything else."""
    request = {"goal": name, "settings": QUICK, "max_steps": 6} | asked
    said: list[str] = request.pop("said", [])
    if "start" in request:
        request["start"] = str(folder / request["start"])
    path = folder / (data or f"{name}.tsv")
    train(
        Request(str(path), out=str(folder / request.pop("out", name)), **request), Killer(killed), said.append
    )
    return folder / asked.get("out", name)


def weights(run: Path) -> dict[str, torch.Tensor]:
    return read_tensors(run / "model.safetensors")[0]


def first_weights(folder: Path, **asked: Any) -> tuple[dict[str, torch.Tensor], Path, list[str]]:
    """What a run begins with: its state before the first step."""
    out, said = f"first-{len(list(folder.iterdir()))}", list[str]()
    with pytest.raises(Killed):
        begun(folder, killed=1, out=out, said=said, **asked)
    state = read_tensors(folder / out / "state" / "training.safetensors")[0]
    found = {name.removeprefix("model."): one for name, one in state.items() if name.startswith("model.")}
    return found, folder / out, said


@pytest.mark.parametrize("goal", ["classify", "regress", "tag", "generate"])
def test_a_filler_lends_its_encoder(folder: Path, goal: str) -> None:
    settings = (*QUICK, *DECODER) if goal == "generate" else QUICK
    found, run, said = first_weights(folder, name=goal, start="filler", settings=settings)
    old = weights(folder / "filler")
    shared = [name for name in old if name.startswith(("front.", "encoder."))]
    assert shared and all(torch.equal(found[name], old[name]) for name in shared)
    about = json.loads((run / "start.json").read_text())
    assert sorted(about["taken"]) == sorted(shared)
    assert set(about["new"]) == set(found) - set(shared)
    assert (run / "tokenizers" / "source.json").read_bytes() == (
        folder / "filler" / "tokenizers" / "source.json"
    ).read_bytes()
    told = "\n".join(said)
    assert f"from {folder / 'filler'}: encoder" in told
    assert f"new: {'decoder' if goal == 'generate' else 'head'}" in told and "the goal was fill" in told
    assert any(name.startswith(("head.", "decoder.")) for name in about["new"])


def test_what_was_trained_before_helps_and_answers(folder: Path) -> None:
    run = begun(folder, "classify", start="filler", out="classified", max_steps=40)
    model = load(run, "cpu")
    assert model.recipe.start is not None and model.recipe.start.run == str(folder / "filler")
    assert model.recipe.text.begins and model.recipe.model.width == 16
    assert model.source_tokens(model.examples(["the cat"])[0]) == ["<begin>", "▁the", "▁cat", "<end>"]
    assert model("the bird sat on the roof , now") in ("bird", "other")
    again, _, _ = first_weights(folder, name="classify", start="classified")
    assert all(torch.equal(again[name], one) for name, one in weights(run).items())
    other, other_run, _ = first_weights(folder, name="classify", data="colours.tsv", start="classified")
    head = "head.members.0.output.weight"
    assert not torch.equal(other[head], weights(run)[head])
    assert json.loads((other_run / "start.json").read_text())["new"][head] == "other answers"


def test_a_decoder_alone_lends_itself_to_one_that_reads(folder: Path) -> None:
    encoder = ("model.encoder.layers=1", "model.encoder.heads=2", "model.encoder.feedforward=32")
    found, run, said = first_weights(folder, name="generate", start="complete", settings=(*QUICK, *encoder))
    old = weights(folder / "complete")
    assert all(torch.equal(found[name], one) for name, one in old.items())
    new = json.loads((run / "start.json").read_text())["new"]
    assert {name.split(".")[0] for name in new} == {"front", "encoder", "decoder"}
    assert all("cross" in name or not name.startswith("decoder") for name in new)
    assert any("not there" in line for line in said)


def test_the_same_goal_goes_on_with_other_text(folder: Path) -> None:
    asked: dict[str, Any] = {"data": "text.txt", "settings": ("training.device=cpu", "data.documents=line")}
    for goal, start in (("fill", "filler"), ("complete", "complete")):
        found, _, _ = first_weights(folder, name=goal, start=start, **asked)
        old = weights(folder / start)
        assert found.keys() == old.keys() and all(torch.equal(found[name], old[name]) for name in old)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"name": "classify", "start": "complete"}, "a decoder and nothing to read with"),
        ({"name": "complete", "data": "text.txt", "start": "filler"}, "a decoder alone"),
        ({"name": "classify", "settings": ("model.width=32",)}, "model.width = 32 was asked for"),
        (
            {"name": "classify", "settings": ("model.encoder.kind=recurrent",)},
            "model.encoder.kind = recurrent",
        ),
        ({"name": "classify", "settings": ("text.source.kind=bpe",)}, "text.source.kind = bpe"),
        ({"name": "classify", "settings": ("training.freeze=[frnt]",)}, "did you mean 'front'"),
        ({"name": "classify", "settings": ("training.freeze=[front,encoder,head]",)}, "nothing to train"),
        ({"name": "classify", "features": "2"}, "--features"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    folder: Path, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        begun(folder, **{"start": "filler", "out": "refused", **asked})
    assert not (folder / "refused").exists()


def test_a_run_without_the_mask_symbol_cannot_learn_to_fill(folder: Path) -> None:
    begun(folder, "generate", out="plain", settings=(*QUICK, *DECODER, "model.width=16"), max_steps=1)
    with pytest.raises(SettingsError, match=r"no \[MASK\]"):
        begun(folder, "fill", data="text.txt", start="plain", out="refused", settings=())
    with pytest.raises(RunError, match="there is no run directory"):
        begun(folder, "classify", start="nowhere", out="refused")


def test_resume_needs_the_old_run_only_until_the_first_step(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "all", ignore=shutil.ignore_patterns("first-*"))
    here = tmp_path / "all"
    settings = (
        *QUICK,
        "training.freeze=[front.embed]",
        "training.unfreeze_every=2",
        "training.layer_decay=0.8",
    )
    asked: dict[str, Any] = {"start": "filler", "settings": settings, "max_steps": 10}
    whole = begun(here, "classify", out="whole", **asked)
    with pytest.raises(Killed):
        begun(here, "classify", killed=4, out="stopped", **asked)
    unborn = here / "unborn"
    shutil.copytree(here / "stopped", unborn)
    shutil.rmtree(unborn / "state")
    (unborn / "metrics.jsonl").unlink()
    (here / "filler").rename(here / "away")
    with pytest.raises(RunError, match="there is no run directory"):
        begun(here, "classify", out="unborn", **asked, resume=True)
    assert same(begun(here, "classify", out="stopped", **asked, resume=True), whole)
    (here / "away").rename(here / "filler")
    assert same(begun(here, "classify", out="unborn", **asked, resume=True), whole)
    with pytest.raises(SettingsError, match="--from is"):
        begun(here, "classify", out="whole", **(asked | {"start": "complete"}), resume=True)
    weights_file = here / "filler" / "model.safetensors"
    shutil.copy(here / "complete" / "model.safetensors", weights_file)
    shutil.rmtree(unborn / "state")
    for name in ("metrics.jsonl", "model.safetensors"):
        (unborn / name).unlink()
    with pytest.raises(RunError):
        begun(here, "classify", out="unborn", **asked, resume=True)


def test_frozen_parts_stay_and_others_move(folder: Path) -> None:
    settings = (*QUICK, "training.freeze=[front,encoder.blocks.0]", "training.average=0")
    run = begun(folder, "classify", start="filler", out="frozen", settings=settings)
    old, new = weights(folder / "filler"), weights(run)
    for name, tensor in old.items():
        if name.startswith(("front.", "encoder.")):
            frozen = name.startswith(("front.", "encoder.blocks.0."))
            assert torch.equal(tensor, new[name]) == frozen, name


def test_layers_are_counted_from_the_head_down(folder: Path) -> None:
    network = load(folder / "filler", "cpu").network
    settings = TrainingSettings(lower_rate=0.5, layer_decay=0.1, unfreeze_every=3, freeze=("head.norm",))
    depths = Depths(network, settings)
    place = {
        "head.bias": 0,
        "encoder.final_norm.weight": 1,
        "encoder.blocks.1.attention.query.weight": 1,
        "encoder.blocks.0.attention.query.weight": 2,
        "front.embed.weight": 3,
    }
    place = {name: depth for name, depth in place.items() if name in depths.of}
    assert len(place) >= 4 and {name: depths.of[name] for name in place} == place
    assert depths.scales["head.bias"] == 1
    assert depths.scales["encoder.blocks.0.attention.query.weight"] == pytest.approx(0.05)
    for step, deepest in ((0, 0), (2, 0), (3, 1), (8, 2), (9, 3), (100, 33)):
        learns = depths.learning(step)
        assert all(learns[name] == (depth <= deepest) for name, depth in place.items())
        assert not learns["head.norm.weight"]
    taken = Depths(network, settings, taken={"encoder.blocks.0.attention.query.weight"})
    assert [name for name, depth in taken.of.items() if depth] == ["encoder.blocks.0.attention.query.weight"]


def test_the_begin_symbol_is_no_word() -> None:
    from seq2see.data import Pair
    from seq2see.data.columns import COLUMNS, AlignedText, SourceText, WordEnds
    from seq2see.text import SourceCodec, Tokenizer, TokenizerSettings

    tokenizer = Tokenizer.learn_masked(sentences(), TokenizerSettings(kind="bpe", size=300))
    example = Pair(1, "the xylophone sat", "", "")
    for kind in (SourceText, AlignedText):
        column = kind(SourceCodec(tokenizer, None, True))
        again = COLUMNS[column.kind](column.stored())
        (ids,), spans = again.encode([example]), column.spans(example)
        assert ids[0] == 1 and ids[-1] == 2 and len(spans) == len(ids) and spans[0] is None
        assert [kind(SourceCodec(tokenizer)).encode([example])[0]] == [ids[1:]]
    ends = COLUMNS["word ends"](WordEnds(tokenizer, True).stored()).encode([example])[0]
    assert ends == [one + 1 for one in WordEnds(tokenizer).encode([example])[0]]
    words = AlignedText(SourceCodec(tokenizer, None, True)).spans(example)
    assert [words[end][1] for end in ends] == [3, 13, 17]  # type: ignore[index]
