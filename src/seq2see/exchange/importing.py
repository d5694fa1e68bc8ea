"""A folder of another tool as a run directory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seq2see.digests import replace_sealed
from seq2see.errors import DataError, RunError
from seq2see.exchange.config import Config
from seq2see.exchange.fairseq import is_fairseq, read_fairseq
from seq2see.exchange.families import FAMILIES
from seq2see.exchange.family import Family, Outline
from seq2see.exchange.g2p_en import CHECKPOINT, read_g2p_en
from seq2see.exchange.names import Names, repeated, residual_order, taken
from seq2see.exchange.reading import Tensors
from seq2see.exchange.texts import TEXTS, Texts
from seq2see.exchange.vision import images_and_labels
from seq2see.exchange.vision_names import Renamed, from_timm
from seq2see.files import publish, replace_text
from seq2see.goals import goal_named, load
from seq2see.layers.positions import sinusoidal
from seq2see.models.weights import refuse_not_finite, write_tensors
from seq2see.recipe import Recipe, compose
from seq2see.run import DataFacts
from seq2see.settings import near, write_yaml
from seq2see.wording import quoted

__all__ = ["import_model", "write_run"]

_COLUMNS = {**TEXTS, "classify": images_and_labels}
"""What reads the columns of a model from elsewhere, by its goal."""
_CONTEXT = 2048
"""Tokens that a model that writes on sees together at the most, and that texts of other goals have."""
_LONGEST = 512
_WRITTEN = 256
"""Tokens that are written on by default."""


def import_model(
    folder: Path, out: Path, allow_pickle: bool = False, tell: Callable[[str], None] = print
) -> None:
    """Make a run directory of a model from elsewhere, and say what became of it."""
    _refuse_used(out)
    if folder.suffix == ".npz" or (folder / CHECKPOINT).is_file():
        write_run(out, *read_g2p_en(folder), "g2p-en's checkpoint", 20)
        return
    if is_fairseq(folder):
        recipe, texts, weights, places = read_fairseq(folder, allow_pickle, tell)
        write_run(out, recipe, texts, weights, "a Transformer of fairseq", places)
        return
    config = Config.read(folder)
    kind = config.get("model_type")
    tensors: Tensors | Renamed | None = None
    if kind in ("resnet", "vit") or (kind is None and config.get("architecture") is not None):
        tensors = Renamed(Tensors.open(folder, allow_pickle))
        config = config if kind is not None else from_timm(config, tensors.shapes)
        kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise DataError(
            f"{config.path}: models of the type {quoted(kind)} cannot be brought in; "
            f"{near(str(kind), FAMILIES)}"
        )
    family = FAMILIES[kind]
    tensors = tensors or Tensors.open(folder, allow_pickle)
    outline = family.outline(config, tensors.shapes)
    texts = _COLUMNS[family.goal](folder, config)
    found = _Found(family, tensors)
    recipe = _recipe(family, outline, texts, found, folder)
    names = family.names(recipe.model)
    weights = _weights(recipe, outline, texts, names, found)
    for note in (*outline.notes, *found.rest(names, texts)):
        tell(note)
    write_run(out, recipe, texts, weights, f"{kind} in Hugging Face's layout", outline.places)


def _refuse_used(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} is not empty; name another place with --out")


class _Found:
    """The tensors of a folder under the names that a family has for them."""

    def __init__(self, family: Family, tensors: Tensors | Renamed) -> None:
        self._family, self._tensors = family, tensors
        self._used: set[str] = set()

    def name(self, wanted: str) -> str | None:
        """What a weight is called here: with a prefix or without, in its old or its new name."""
        for one in (wanted, *self._family.aliases.get(wanted, ())):
            bare = [one.removeprefix(prefix) for prefix in self._family.prefixes if one.startswith(prefix)]
            for option in (one, *bare):
                old = option.replace("LayerNorm.weight", "LayerNorm.gamma")
                old = old.replace("LayerNorm.bias", "LayerNorm.beta")
                for name in (option, old):
                    if name in self._tensors.shapes:
                        return name
        return None

    def read(self, wanted: str) -> Tensor | None:
        """A weight, or None where there is none."""
        name = self.name(wanted)
        if name is None:
            return None
        self._used.add(name)
        return self._tensors.read(name)

    def rest(self, names: list[Names], texts: Texts) -> list[str]:
        """Refuse weights that nothing took; say which rows of embeddings were dropped."""
        for name in sorted(self._tensors.shapes.keys() - self._used):
            if not self._family.ignored.fullmatch(name):
                raise DataError(
                    f"{self._tensors.folder} has the weight {quoted(name)}, of a part that our model of this "
                    "family does not have"
                )
        notes = []
        for one in names:
            found = self.name(one.theirs[0]) if one.rows is not None else None
            if found is None or one.rows is None or not one.ours[0].endswith("embed.weight"):
                continue
            rows, tokens = self._tensors.shapes[found][0], set(texts.orders[one.rows]) - {None}
            if rows > len(tokens):
                notes.append(
                    f"{rows - len(tokens):,} of {rows:,} rows of {found} belong to no token, and are left out"
                )
        return notes


def _recipe(family: Family, outline: Outline, texts: Texts, found: _Found, folder: Path) -> Recipe:
    model = dict(outline.model)
    if "share_embeddings" in model:
        model["share_embeddings"] = model["share_embeddings"] and texts.shared
    if "target" in texts.orders and model["tie_output"]:
        order = texts.orders["target"]
        bias = found.read("final_logits_bias")
        model["output_bias"] = (
            None in order or bool(repeated(order).any()) or (bias is not None and bool(bias.any()))
        )
    sampled = {"sample": True, "temperature": 0.8, "max_length": min(_WRITTEN, outline.places)}
    goals: dict[str, dict[str, Any]] = {
        "complete": {"decoding": sampled, "training": {"metric": "loss"}},
        "fill": {"training": {"metric": "loss", "masking": {}}},
        "generate": {"decoding": outline.decoding},
        "classify": {},
    }
    longest = min(_CONTEXT if family.goal == "complete" else _LONGEST, outline.places)
    values = {
        "goal": family.goal,
        "data": {"train": str(folder.absolute()), "max_length": longest, **texts.data},
        "text": texts.settings,
        "model": model,
        "training": {"label_smoothing": 0.0},
    }
    return compose([values, goals[family.goal]], str(folder / "config.json"))


def _weights(
    recipe: Recipe, outline: Outline, texts: Texts, names: list[Names], found: _Found
) -> dict[str, Tensor]:
    """The weights of our network, whose shapes are known before any of them is made."""
    with torch.device("meta"):
        network = goal_named(recipe.goal).network(recipe, texts.columns)
    kept = network.state_dict().keys()  # the statistics of batch norms are kept, other buffers are not
    buffers = {name: tensor for name, tensor in network.named_buffers() if name in kept}
    shapes = {
        name: tuple(tensor.shape) for name, tensor in {**dict(network.named_parameters()), **buffers}.items()
    }
    counted = [name for name in shapes if name.endswith("num_batches_tracked")]
    weights = taken(names, shapes, texts.orders, found.read)
    weights |= {name: torch.zeros((), dtype=torch.long) for name in counted}
    assert weights.keys() == shapes.keys(), weights.keys() ^ shapes.keys()
    if outline.halves:
        width = recipe.model.width
        halves = torch.arange(width).view(2, -1).T.flatten()  # (sines, cosines) -> in turn
        for side in ("encoder", "decoder"):
            table = found.read(f"model.{side}.embed_positions.weight")
            if table is not None:
                own = sinusoidal(torch.arange(len(table)), width)
                if table.shape != own.shape or not torch.allclose(table[:, halves], own, atol=1e-3):
                    raise DataError(
                        f"the positions of the {side} are not sinusoidal, as those of its family are"
                    )
        weights = residual_order(weights, halves)
    return weights


def write_run(
    out: Path, recipe: Recipe, texts: Texts, weights: dict[str, Tensor], origin: str, places: int
) -> None:
    """Write a run directory that appears when it is whole."""
    refuse_not_finite(weights, origin)
    goal = goal_named(recipe.goal)
    sizes = {side: len(order) for side, order in texts.orders.items()}
    facts = DataFacts(
        "",
        0,
        0,
        longest_source=places,
        longest_target=places,
        length_ratio=2.0,
        source_vocabulary=sizes.get("source", 0),
        target_vocabulary=sizes.get("target", 0),
    )

    def write(draft: Path) -> None:
        draft.chmod(0o755)
        (draft / "tokenizers").mkdir()
        own = {"data.json": facts.to_json(), "recipe.yaml": write_yaml(recipe)}
        replace_sealed(draft, goal.files(texts.columns) | own)
        write_tensors(draft / "model.safetensors", weights)
        replace_text(draft / "card.md", _card(recipe, weights, origin))
        load(draft, "cpu")

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        publish(out, write)
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror or error}; name another place") from None


def _card(recipe: Recipe, weights: dict[str, Tensor], origin: str) -> str:
    count = sum(tensor.numel() for tensor in weights.values())
    return f"""# A seq2see model from elsewhere

- **From**: {Path(recipe.data.train).name}: {origin}.
- **Goal**: {recipe.goal}.
- **Model**: width {recipe.model.width}, {count:,} parameters.

Whatever its makers say of its data, its uses and its licence holds for this copy.

Use it: `seq2see predict {{this folder}} FILE`, or in Python `seq2see.load("{{this folder}}")(["text"])`.
"""
