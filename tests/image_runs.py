"""Small models of images, trained for a few steps: one for each way that the lens looks at pictures."""

from pathlib import Path

from seq2see.data.shapes import draw
from seq2see.workflow import Request, train

__all__ = ["SCENE", "train_image_runs"]

SCENE = "task:shapes//red circle 8 24 6, blue square 40 24 6"
_TRAINING = (
    "training.batch_pairs=8",
    "training.learning_rate=0.01",
    "training.average=1",
    "decoding.max_length=8",
    "decoding.beam=1",
)
_RESNET = ("model.front.width=4", "model.encoder.widths=[4,8]", "model.encoder.depths=[1,2]")
_VIT = (
    *("model.width=16", "model.front.patch=5", "model.encoder.layers=2", "model.encoder.heads=2"),
    "model.encoder.feedforward=16",
)
_RUNS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "vit": ("kinds", "vit-tiny", _VIT),
    "resnet": ("kinds", "resnet-tiny", (*_RESNET, "model.head.pooling=attention")),
    "number": ("sizes.tsv", "resnet-tiny", _RESNET),
    "caption": (
        "task:shapes:pairs=60",
        "caption-tiny",
        ("model.width=16", "model.encoder.widths=[4,4,8]", "model.front.width=4"),
    ),
    "pyramid": (
        "task:shapes:pairs=60",
        "caption-tiny",
        ("model.width=16", "model.encoder.widths=[4,4,8]", "model.encoder.maps=2", "model.front.width=4"),
    ),
    "transformer": (
        "task:shapes:pairs=60",
        "vit-tiny",
        (*_VIT, "model.front.class_token=false", "model.decoder={kind: transformer, layers: 1, heads: 2}"),
    ),
}


def _data(folder: Path) -> Path:
    """Circles and crosses in folders of their own, and a table of their sizes."""
    lines = []
    for kind in ("circle", "cross"):
        (folder / "kinds" / kind).mkdir(parents=True)
        for number in range(16):
            radius = 5 + number % 4
            file = folder / "kinds" / kind / f"{number:02}.png"
            draw(f"{('red', 'green', 'blue')[number % 3]} {kind} {16 + number} {14 + number} {radius}").save(
                file
            )
            lines.append(f"{kind}/{file.name}\t{radius}\n")
    (folder / "sizes.tsv").write_text("".join(lines))
    return folder


def train_image_runs(folder: Path) -> dict[str, Path]:
    """Each kind of run by its name."""
    data = _data(folder)
    found = {}
    for name, (source, preset, settings) in _RUNS.items():
        size = () if source.startswith("task:") else ("data.image_size=[17,22]",)
        place = source if source.startswith("task:") else str(data / source)
        train(
            Request(
                place,
                dev=place if source.startswith("task:") else None,
                images=str(data / "kinds") if name == "number" else None,
                goal="regress" if name == "number" else None,
                out=str(folder / name),
                preset=preset,
                max_steps=20,
                seed=2,
                settings=(*_TRAINING, *settings, *size),
            ),
            tell=lambda _: None,
        )
        found[name] = folder / name
    return found
