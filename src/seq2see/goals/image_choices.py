"""What to do with images, where nobody said, and why."""

from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import median
from typing import Any

import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.image_sets import read_image
from seq2see.data.images import fitted, is_grey
from seq2see.data.shapes import is_shapes
from seq2see.data.survey import Survey
from seq2see.data.values import many, parse_number
from seq2see.goals.choices import Choice
from seq2see.recipe import preset

__all__ = ["IMAGE_LADDERS", "choose_captions", "choose_images", "images_asked"]

_OPTIMIZER = {"training": {"optimizer": "adamw"}}
"""Taken first, since a preset may name another."""
_LOOKED_AT = 64
_SMALL = 64
"""Pixels of a side up to which images stay as they are; larger ones are made as small."""
_BATCH = 128
_PATCHED = 64
"""Images of a batch that a Transformer reads in patches: it learns more from more steps."""
_MIRRORED = (
    {"model": {"front": {"augment": {"flip": True}}}},
    "training mirrors images (model.front.augment.flip=false where left and right matter)",
)
_KEPT = (
    {"model": {"front": {"augment": {"flip": False}}}},
    "training does not mirror images: mirrored, they look like images with other targets",
)
_COMPARED = 1024
"""Images by which it is decided whether to mirror; from fewer than `_FEW` nothing can be told."""
_FEW = 32
_TINY = (16, 16)
_NEAR = 0.75
"""Of all images, so many have a neighbour that counts as near."""
_WORSE = 0.2
"""How much more often a mirrored image may be near one with another target."""
_OFTEN = 20
"""Passes over the images from which on they are moved at random too: fewer do not learn them by heart."""
_SHIFT = 14
"""Images are moved by one pixel in so many of their smaller side."""
_SLIGHT_SHIFT = 28
"""The same for patches in fewer passes: nothing in them says that a thing may stand a pixel further."""
_IMAGES = 32
"""Images of a batch that have several captions each."""
_MOST_CAPTIONS = 512
_LOOKED_THROUGH = 5000
"""Examples by which the captions of an image are counted."""
_READ_TOGETHER = 256
"""Images that are answered together."""


IMAGE_LADDERS = {
    "classify": ("resnet-tiny", "vit-tiny"),
    "regress": ("resnet-tiny", "vit-tiny"),
    "generate": ("caption-plain", "caption-tiny", "caption-transformer"),
}
"""Presets that `seq2see ladder` compares where sources are images, by goal."""


def images_asked(asked: Mapping[str, Any]) -> bool:
    """Whether the sources are images."""
    return asked.get("data", {}).get("images") is not None


def choose_images(found: Survey, asked: Mapping[str, Any], model: bool, metric: str) -> Choice:
    """Size, encoder and schedule for images with a class or a number."""
    choice = Choice(fixed={"model": {"decoder": None}})
    choice.take(_OPTIMIZER, "")
    _take_images(choice, found.sample)
    if model:
        choice.take(preset("resnet-tiny"), "model: resnet-tiny (a residual network for small images)")
    front = asked.get("model", {}).get("front", {})
    kind = front.get("kind", "stem" if model else None)
    # A few hundred images are gone through often, many seldom.
    times = max(8, min(60, round(12 * (60_000 / found.count) ** 0.3)))
    batch = _PATCHED if kind == "patches" else _BATCH
    passes = _schedule(choice, found.count, times, asked, metric, batch)
    if kind in ("stem", "patches"):
        if front.get("augment", {}).get("flip") is None:
            choice.take(*(_MIRRORED if _may_be_mirrored(found.sample, metric == "rmse") else _KEPT))
        if passes > _OFTEN or kind == "patches":
            size = asked.get("data", {}).get("image_size") or choice.values["data"]["image_size"]
            shift = max(1, min(size) // (_SHIFT if passes > _OFTEN else _SLIGHT_SHIFT))
            choice.take(
                {"model": {"front": {"augment": {"shift": shift}}}},
                f"training moves images by up to {many(shift, 'pixel')}",
            )
    return choice


def choose_captions(found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
    """Size, encoder, decoder and schedule for images with a caption."""
    choice = Choice()
    choice.take(_OPTIMIZER, "")
    _take_images(choice, found.sample)
    if model:
        # Of shapes that are drawn anew nothing can be learnt by heart, so nothing holds back.
        name = "caption-tiny" if is_shapes(asked["data"]["images"]) else "caption"
        choice.take(preset(name), f"model: {name} (a residual network, and attention on its map)")
        if name == "caption":
            choice.take(*_MIRRORED)
    kind = asked.get("text", {}).get("target", {}).get("kind", "words")
    choice.take({"text": {"target": {"kind": kind, "least": 3, "size": 10_000}}}, f"captions: {kind}")
    # A beam that divides by the length writes long captions that say less.
    choice.take({"decoding": {"length_penalty": 0.0}}, "")
    times = max(4, min(60, round(13 * (30_000 / found.count) ** 0.5)))
    # As many captions as this number of images has, whether or not they share their batch.
    sources = [one.source for one in islice(found.examples, _LOOKED_THROUGH)]
    each = round(len(sources) / len(set(sources)))
    batch = min(_IMAGES * each, _MOST_CAPTIONS) if each > 1 else _BATCH
    _schedule(choice, found.count, times, asked, "bleu", batch)
    return choice


def _take_images(choice: Choice, sample: Sequence[Pair]) -> None:
    """The size and the colours that most images have."""
    looked = [read_image(one.source) for one in sample[:: -(-len(sample) // _LOOKED_AT)]]
    height, width = (round(median(one.size[side] for one in looked)) for side in (1, 0))
    scale = min(1.0, _SMALL / max(height, width))
    size = [max(1, round(side * scale)) for side in (height, width)]
    how = (
        "as they are"
        if scale == 1 and len({one.size for one in looked}) == 1
        else f"most have {height} x {width}"
    )
    choice.take({"data": {"image_size": size}}, f"images at {size[0]} x {size[1]} pixels ({how})")
    grey = all(map(is_grey, looked))
    choice.take(
        {"data": {"image_colours": "grey" if grey else "rgb"}}, "grey images" if grey else "images in colour"
    )
    choice.take({"decoding": {"batch_tokens": _READ_TOGETHER}}, "")


def _may_be_mirrored(sample: Sequence[Pair], numbers: bool) -> bool:
    """Whether images may be mirrored without looking like those of another class or number.

    Every image, as it is and mirrored, is compared with the one that is nearest to it in pixels. A mirrored b
    is a d, so that letters are not mirrored. A shoe that points the other way is near no other image at all:
    it harms nobody, and does not count (docs/lab-notes.md has what mirroring is worth to such a set).
    """
    if len(sample) < _FEW:
        return True
    looked = sample[:: -(-len(sample) // _COMPARED)]
    images = (fitted(read_image(one.source, _TINY), 1, _TINY, "letterbox") for one in looked)
    pixels = torch.stack([torch.tensor(image, dtype=torch.float32) for image in images])
    if numbers:
        targets = torch.tensor([parse_number(one.target) or 0.0 for one in looked])
        targets = targets / targets.std().clamp_min(1e-9)
        costs = (targets - targets[:, None]).abs()
    else:
        named = {target: place for place, target in enumerate(dict.fromkeys(one.target for one in looked))}
        targets = torch.tensor([named[one.target] for one in looked])
        costs = (targets != targets[:, None]).float()
    (straight, far), (turned, further) = (
        _nearest(shown.flatten(1), pixels.flatten(1), costs) for shown in (pixels, pixels.flip(-1))
    )
    near = far.quantile(_NEAR)
    straight, turned = straight[far <= near], turned[further <= near]
    return not len(turned) or bool(turned.mean() <= straight.mean() + _WORSE)


def _nearest(images: Tensor, others: Tensor, costs: Tensor) -> tuple[Tensor, Tensor]:
    """How wrong the nearest other image is about each image's target, and how far it is."""
    distances, places = torch.cdist(images, others).fill_diagonal_(torch.inf).min(1)
    return costs.gather(1, places[:, None]).squeeze(1), distances


def _schedule(
    choice: Choice, count: int, times: int, asked: Mapping[str, Any], metric: str, batch: int = _BATCH
) -> float:
    """Take steps, batches and looks for so many passes or the steps asked for; the passes that come of it."""
    asked_training = asked.get("training", {})
    batch = asked_training.get("batch_pairs") or min(batch, max(8, count // 20))
    steps = asked_training.get("steps") or max(100, round(times * count / batch))
    if "steps" not in asked_training:
        choice.take(
            {"training": {"steps": steps}}, f"{steps:,} steps ({many(times, 'time')} through the data)"
        )
    every = max(10, steps // 15)
    choice.take(
        {
            "training": {
                "batch_pairs": batch,
                "batch_tokens": 1_000_000,
                "batch_by_length": False,
                "schedule": "cosine",
                "warmup": min(300, steps // 10),
                "evaluate_every": every,
                "save_every": every,
                "dev_examples": 5000,
            }
        },
        f"batches of {batch}, a look at the dev set every {every:,} steps",
    )
    choice.take({"training": {"metric": metric}}, f"the weights with the best {metric} are kept")
    return float(steps * batch / count)
