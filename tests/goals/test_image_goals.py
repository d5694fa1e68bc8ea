"""Images to classes, numbers and captions: from folders and tables to answers on the command line."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from command_line import Command
from compared import Killed, die_at, same, steps_of

from seq2see.data.shapes import draw
from seq2see.errors import DataError, SettingsError
from seq2see.goals import load
from seq2see.models.weights import read_tensors
from seq2see.recipe import preset
from seq2see.training import Checkpoints, Trainer
from seq2see.workflow import Request, Trained, train

TINY = (
    *("model.front.width=4", "model.encoder.widths=[4,8]", "model.encoder.depths=[1,1]"),
    *("training.batch_pairs=8", "training.evaluate_every=6", "training.save_every=4", "training.average=2"),
    *("training.learning_rate=0.01", "data.image_size=[16,16]"),
)


def _scene(kind: str, number: int) -> str:
    colour = ("red", "green", "blue")[number % 3]
    return f"{colour} {kind} {16 + number % 7} {14 + number % 5} {7 + number % 3}"


def _shapes(folder: Path, count: int = 24, first: int = 0) -> Path:
    for kind in ("circle", "cross"):
        (folder / kind).mkdir(parents=True)
        for number in range(first, first + count):
            draw(_scene(kind, number)).save(folder / kind / f"{number:03}.png")
    return folder


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder for each class."""
    return _shapes(tmp_path_factory.mktemp("images") / "shapes")


def _run(data: object, out: Path, *settings: str, **options: object) -> Trained:
    asked = {"max_steps": 12, "seed": 3, "preset": "resnet-tiny"} | options
    return train(
        Request(str(data), out=str(out), settings=(*TINY, *settings), **asked),  # type: ignore[arg-type]
        tell=lambda _: None,
    )


@pytest.fixture(scope="module")
def classifier(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that tells circles from crosses."""
    out = tmp_path_factory.mktemp("runs") / "kinds"
    _run(images, out, max_steps=60)
    return out


def test_a_folder_is_learnt(classifier: Path, tmp_path: Path, seq2see: Command) -> None:
    test = _shapes(tmp_path / "test", 10, 100)
    said = seq2see("evaluate", classifier, test, "--json")
    found = json.loads(said.out)
    assert said.code == 0 and found["accuracy"] >= 90
    assert found["floor"]["name"] == "nearest class mean"
    assert found["floor"]["accuracy"] < 100  # names of files tell the class, and are not read


def test_each_file_gets_a_class(classifier: Path, images: Path, tmp_path: Path, seq2see: Command) -> None:
    files = [images / "circle" / "003.png", images / "cross" / "004.png"]
    said = seq2see("predict", classifier, *files)
    assert [line.split("\t")[0] for line in said.out.splitlines()] == ["003.png", "004.png"]
    assert {line.split("\t")[1] for line in said.out.splitlines()} <= {"circle", "cross"}
    whole = seq2see("predict", classifier, images, "--json").out.splitlines()
    assert len(whole) == 48 and json.loads(whole[0])["image"] == "circle/000.png"
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"nothing")
    said = seq2see("predict", classifier, bad)
    assert said.code == 1 and "bad.png is no image" in said.err


def test_python_takes_names_of_files(classifier: Path, images: Path) -> None:
    model = load(classifier)
    file = images / "cross" / "001.png"
    assert model(str(file)) == model([str(file)])[0]  # type: ignore[operator]


def test_what_images_do_not_have_yet_is_refused(
    classifier: Path, images: Path, tmp_path: Path, seq2see: Command
) -> None:
    for words in (
        ("predict", classifier, "-"),
        ("export", classifier, tmp_path / "out"),
    ):
        said = seq2see(*words)
        assert said.code != 0 and "images" in said.err
    for goal in ("tag", "complete", "fill"):
        with pytest.raises(SettingsError, match="images are for --goal"):
            _run(images, tmp_path / goal, goal=goal)
    with pytest.raises(SettingsError, match=r"model\.front\.kind = tokens reads texts"):
        train(Request(str(images), out=str(tmp_path / "tokens"), preset="reader-rnn"), tell=lambda _: None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="is a directory without images"):
        _run(tmp_path / "empty", tmp_path / "none")


def test_check_lists_what_cannot_be_read(images: Path, tmp_path: Path, seq2see: Command) -> None:
    folder = _shapes(tmp_path / "some", 10)
    (folder / "circle" / "torn.png").write_bytes((folder / "circle" / "000.png").read_bytes()[:60])
    said = seq2see("check", folder, images)
    assert said.code == 1 and "torn.png" in said.out and "seen in" in said.out
    assert "20 of 48 x 48" in said.out


@pytest.mark.parametrize(
    "settings",
    [
        ("model.front.augment={flip: true, shift: 2, crop: 0.2, cut_out: 4}",),
        ("model.encoder.norm=group", "model.front.augment={crop: 0.3}"),
    ],
)
def test_killed_anywhere_and_resumed_is_bit_identical(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: tuple[str, ...]
) -> None:
    _run(images, tmp_path / "unbroken", *settings)
    for owner, name, call in ((Trainer, "_step", 3), (Checkpoints, "save", 2), (Trainer, "_finish", 1)):
        with monkeypatch.context() as patch:
            die_at(patch, owner, name, call)
            with pytest.raises(Killed):
                _run(images, tmp_path / "broken", *settings, resume=True)
    _run(images, tmp_path / "broken", *settings, resume=True)
    assert same(tmp_path / "unbroken", tmp_path / "broken")
    traces = [[step["loss"] for step in steps_of(tmp_path / name)] for name in ("unbroken", "broken")]
    assert traces[0] == traces[1]


@pytest.mark.parametrize(("steps", "shift"), [(2, 0), (2000, 1)])
def test_settings_of_image_parts_need_no_preset(images: Path, tmp_path: Path, steps: int, shift: int) -> None:
    """Only images that are seen often are moved, by the steps asked for."""
    how = {"preset": None, "max_steps": steps, "max_minutes": 0.001}
    trained = _run(images, tmp_path / "run", "model.front.augment.flip=false", **how)
    front = trained.model.recipe.model.front.model_dump()
    assert front["kind"] == "stem" and front["augment"]["flip"] is False
    assert front["augment"]["shift"] == shift


@pytest.mark.parametrize("name", ["resnet-tiny", "caption"])
def test_a_chosen_preset_learns_as_it_says(images: Path, tmp_path: Path, name: str) -> None:
    """The optimiser among it: the schedule that is chosen with a preset once overruled it."""
    table = tmp_path / "captions.tsv"
    table.write_text("".join(f"circle/{number:03}.png\ta circle\n" for number in range(24)))
    data = {"resnet-tiny": images, "caption": table}[name]
    smaller = tuple(setting for setting in TINY if "learning_rate" not in setting)
    where = None if data == images else str(images)
    request = Request(str(data), out=str(tmp_path / "run"), images=where, settings=smaller, max_steps=1)
    learnt = train(request, tell=lambda _: None).model.recipe.training.model_dump()
    asked = preset(name)["training"]
    assert asked["optimizer"] == "muon"
    assert {setting: learnt[setting] for setting in asked} == asked


def test_patches_are_moved_from_the_first_pass_on(images: Path, tmp_path: Path) -> None:
    for asked, shift in (((), 1), (("model.front.augment.shift=0",), 0)):
        settings = ("data.image_size=[16, 16]", "model.encoder.layers=1", *asked)
        out = str(tmp_path / f"run-{shift}")
        request = Request(str(images), out=out, preset="vit-tiny", settings=settings, max_steps=2)
        front = train(request, tell=lambda _: None).model.recipe.model.front.model_dump()
        assert front["augment"]["shift"] == shift


def test_a_run_goes_on_where_its_images_have_moved(tmp_path: Path) -> None:
    folder = _shapes(tmp_path / "here", 10)
    _run(folder, tmp_path / "run", max_steps=6)
    moved = folder.rename(tmp_path / "there")
    assert _run(moved, tmp_path / "run", resume=True, max_steps=8).progress.step == 8


def test_a_run_begins_with_another_and_its_size_of_images(
    classifier: Path, images: Path, tmp_path: Path
) -> None:
    table = tmp_path / "numbers.tsv"
    table.write_text("".join(f"circle/{n:03}.png\t{n}\n" for n in range(24)))
    request = Request(
        str(table),
        out=str(tmp_path / "run"),
        images=str(images),
        goal="regress",
        start=str(classifier),
        max_steps=2,
    )
    found = train(request, tell=lambda _: None).model
    assert found.recipe.data.image_size == (16, 16)
    assert load(tmp_path / "run").recipe.model.encoder == load(classifier).recipe.model.encoder


def test_averages_take_the_mean_of_statistics_and_keep_counters(classifier: Path) -> None:
    checkpoints = Checkpoints(classifier)
    steps = [int(path.stem.removeprefix("look-")) for path in checkpoints.looks()]
    average = checkpoints.average(steps)
    looks = [read_tensors(path)[0] for path in checkpoints.looks()]
    name = "encoder.stages.1.0.layers.0.norm"
    expected = torch.stack([one[f"{name}.running_mean"] for one in looks]).mean(0)
    torch.testing.assert_close(average[f"{name}.running_mean"], expected)
    counter = average[f"{name}.num_batches_tracked"]
    assert counter.dtype == torch.long and counter == looks[-1][f"{name}.num_batches_tracked"]


def test_tables_give_numbers(images: Path, tmp_path: Path, seq2see: Command) -> None:
    rows = [f"{kind}/{n:03}.png\t{n / 7:.3f}" for kind in ("circle", "cross") for n in range(24)]
    table = tmp_path / "sizes.tsv"
    table.write_text("\n".join(rows) + "\n")
    _run(table, tmp_path / "run", images=str(images), goal="regress", max_steps=10)
    said = seq2see("predict", tmp_path / "run", table, "--images", images)
    assert said.code == 0 and len(said.out.splitlines()) == 48 and float(said.out.splitlines()[0]) < 100
    words = ("evaluate", tmp_path / "run", table, "--images", images, "--control", "--json")
    said = seq2see(*words, "--worst-figure", tmp_path / "worst.png")
    assert (
        said.code == 0 and "rmse" in json.loads(said.out)["shuffled"] and (tmp_path / "worst.png").is_file()
    )


@pytest.mark.parametrize(
    "settings",
    [
        ("model.decoder.attention=none",),
        ("model.decoder.attention=general", "model.decoder.heads=2"),
        (
            *("model.encoder.project=true", "model.width=8"),
            "model.decoder={kind: transformer, layers: 1, heads: 2, feedforward: 16}",
        ),
        (
            *("model.front={kind: patches, patch: 8}", "model.decoder.attention=additive"),
            "model.encoder={kind: transformer, layers: 1, heads: 2, feedforward: 16, positions: none}",
        ),
    ],
)
def test_captions_come_from_any_encoder_and_decoder(
    settings: tuple[str, ...], tmp_path: Path, seq2see: Command
) -> None:
    own = TINY if not settings[0].startswith("model.front=") else TINY[3:]
    request = Request(
        "task:shapes:pairs=60",
        out=str(tmp_path / "run"),
        settings=(*own, *settings, "model.width=8"),
        max_steps=8,
        preset="caption-tiny",
    )
    trained = train(request, tell=lambda _: None)
    table = tmp_path / "scenes.tsv"
    draw("red circle 8 24 6").save(tmp_path / "one.png")
    table.write_text("one.png\tthere is a red circle\none.png\ta red circle\n")
    said = seq2see("evaluate", trained.folder, table, "--images", tmp_path, "--json")
    assert said.code == 0 and json.loads(said.out)["sources"] == 1
    said = seq2see("predict", trained.folder, tmp_path / "one.png", "--nbest", "2")
    assert said.code == 0 and len(said.out.splitlines()) == 2
    assert seq2see("score", trained.folder, table, "--images", tmp_path).code == 0


def test_the_control_is_near_chance(
    classifier: Path, images: Path, tmp_path: Path, seq2see: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = json.loads(seq2see("evaluate", classifier, images, "--control", "--json").out)
    assert found["accuracy"] >= 90 and found["shuffled"]["accuracy"] < 75
    said = seq2see("evaluate", classifier, images, "--control")
    assert said.code == 0 and "shuffled" in said.out


def test_captions_are_evaluated_by_image(
    tmp_path: Path, seq2see: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(
        "task:shapes:pairs=60",
        out=str(tmp_path / "run"),
        settings=(*TINY, "model.width=8", "training.metric=cider"),
        max_steps=8,
        preset="caption-tiny",
    )
    run = train(request, tell=lambda _: None).folder
    rows = []
    for number, kind in enumerate(("circle", "cross", "square")):
        draw(_scene(kind, number)).save(tmp_path / f"{number}.png")
        rows += [
            {"file": f"{number}.png", "text": text} for text in (f"a {kind}", f"there is a {kind}", "it")
        ]
    table = tmp_path / "captions.jsonl"
    table.write_text("".join(json.dumps(one) + "\n" for one in rows))
    words = (
        "evaluate",
        run,
        table,
        "--images",
        tmp_path,
        "--source",
        "file",
        "--target",
        "text",
        "--control",
    )
    found = json.loads(seq2see(*words, "--json").out)
    assert found["sources"] == 3 and found["by"] == "source"
    assert {"cider", "bleu"} <= found.keys() & found["shuffled"].keys()
    monkeypatch.setattr("seq2see.evaluation.captions.find_spec", lambda name: None)
    said = seq2see(*words, "--json")
    assert "cider" not in json.loads(said.out) and "seq2see[captions]" in said.err


def test_answers_and_worst_images_are_drawn(
    classifier: Path, images: Path, tmp_path: Path, seq2see: Command
) -> None:
    said = seq2see("predict", classifier, images, "--sheet", tmp_path / "sheet.png")
    assert said.code == 0 and len(said.out.splitlines()) == 48
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    wrong = tmp_path / "wrong"  # classes the other way round
    shutil.copytree(images / "cross", wrong / "circle")
    shutil.copytree(images / "circle", wrong / "cross")
    said = seq2see("evaluate", classifier, wrong, "--worst-figure", tmp_path / "worst.svg")
    drawn = (tmp_path / "worst.svg").read_text()
    assert said.code == 0 and drawn.count("<image") == 24
    assert seq2see("predict", classifier, images, "--sheet", tmp_path / "sheet.txt").code != 0
