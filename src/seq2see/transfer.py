"""Begin with what another run has learnt: its vocabularies, the settings of its parts, and their weights."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from seq2see.data.columns import Number
from seq2see.digests import replace_sealed
from seq2see.errors import RunError, SettingsError
from seq2see.goals import Columns, load
from seq2see.models import Network
from seq2see.models.weights import weights_of
from seq2see.recipe import Recipe, StartSettings
from seq2see.run import read_as

__all__ = ["Start", "refuse_other_start", "taken_before"]

_NAME = "start.json"
_WRITING = ("generate", "complete")
"""Goals with a decoder; all goals but the last have an encoder."""
_OF_ENCODER = frozenset({"decoder", "head", "pointer", "share_embeddings", "tie_output", "output_bias"})
"""Settings of a model that say nothing of what it reads with."""
_OF_DECODER = frozenset({"encoder", "head", "pointer", "share_embeddings"})
"""Settings of a model that say nothing of what it writes with."""
_FREE = frozenset(
    {
        "model.dropout",
        "model.attention_dropout",
        "model.memory_dropout",
        "model.front.token_dropout",
        "model.encoder.layers",
        "model.decoder.layers",
    }
)
"""Settings that may be others than in the run that a new one begins with."""


@dataclass(frozen=True)
class Start:
    """A run to begin with, as far as a goal has use for it."""

    folder: Path
    recipe: Recipe
    columns: Columns
    weights: Mapping[str, Tensor]
    digest: str
    goal: str
    """What the new run is for."""
    parts: tuple[str, ...]
    """What both have: front, encoder, decoder, head."""

    @classmethod
    def read(cls, start: StartSettings, goal: str) -> "Start":
        """Read a run, which must be what it was if its weights are known, and fit the goal."""
        folder = Path(start.run)
        run = load(folder, "cpu").run
        with (folder / "model.safetensors").open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if start.weights not in (None, digest):
            raise RunError(
                f"the weights of {folder} are not those that this run was to begin with any more; "
                "put them back, or start a new run with another --out"
            )
        parts = _common(run.recipe.goal, goal, folder)
        return cls(folder, run.recipe, run.columns, weights_of(run.network), digest, goal, parts)

    @property
    def same(self) -> bool:
        """Whether the new run has the goal of the old one."""
        return self.recipe.goal == self.goal

    @property
    def known(self) -> Columns:
        """The columns whose vocabularies are kept; labels, tags and numbers are learnt anew."""
        writes = "decoder" in self.parts
        wanted = {"target"} if writes else set()
        if "encoder" in self.parts:
            wanted |= {"source", "letters", "words", *(["counts"] if self.same else [])}
        return {name: column for name, column in self.columns.items() if name in wanted}

    def settings(self, longest: int) -> dict[str, Any]:
        """The settings of the parts that are taken over; examples of up to `longest` tokens are chosen."""
        old = self.recipe.model_dump()
        model, text = old["model"], old["text"]
        if not self.same:
            reads = "encoder" in self.parts
            dropped = _OF_ENCODER if reads else _OF_DECODER
            model = {name: value for name, value in model.items() if name not in dropped}
            model["share_embeddings"] = False
            sides = ("source", "begins") if reads else ("target",)
            text = {**{name: text[name] for name in sides}, "shared": False}
        kinds: tuple[Literal["encoder", "decoder"], ...] = ("encoder", "decoder")
        limits = [self.recipe.model.length_limit(side) for side in kinds if side in self.parts]
        limit = min((one for one in limits if one is not None), default=longest)
        data: dict[str, Any] = {"max_length": limit} if limit < longest else {}
        if "encoder" in self.parts and self.recipe.data.images is not None:
            data |= {name: old["data"][name] for name in ("image_size", "image_fit", "image_colours")}
        return {"model": model, "text": text, **({"data": data} if data else {})}

    def refuse_contradictions(self, asked: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Refuse settings that were asked for and cannot be had with the weights of the old run."""
        for group in ("model", "text"):
            _refuse(asked.get(group, {}), own[group], group, self.folder)

    def take(self, network: Network, columns: Columns) -> tuple[list[str], dict[str, str]]:
        """Copy the weights that fit; gives their names, and the others with the reason why they are new."""
        taken, new = [], {}
        for name, tensor in weights_of(network).items():
            old = self.weights.get(name)
            part = name.split(".")[0]
            if part not in self.parts:
                new[name] = f"the goal was {self.recipe.goal}"
            elif part == "head" and not self._same_answers(columns):
                new[name] = "other answers"
            elif old is None:
                new[name] = _LACKS
            elif old.shape != tensor.shape:
                new[name] = f"{_shape(old)} there, {_shape(tensor)} here"
            else:
                tensor.copy_(old)
                taken.append(name)
        if not taken:
            raise SettingsError(
                f"nothing of {self.folder} fits: {next(iter(new))} is {next(iter(new.values()))}; "
                "train without --from"
            )
        return taken, new

    def _same_answers(self, columns: Columns) -> bool:
        """Whether the outputs of a head, and what it joins to the summary, mean the same in both runs."""
        for name in ("target", "counts", "extras"):
            old, new = self.columns.get(name), columns.get(name)
            if isinstance(old, Number) and isinstance(new, Number):
                continue
            if (old.stored() if old is not None else None) != (new.stored() if new is not None else None):
                return False
        return True

    def begin(self, network: Network, columns: Columns, folder: Path) -> tuple[list[str], list[str]]:
        """Let a network begin with what fits, and keep in its run what that was; also gives it in words."""
        taken, new = self.take(network, columns)
        about = {"run": str(self.folder), "weights": self.digest, "taken": taken, "new": new}
        replace_sealed(folder, {_NAME: json.dumps(about, ensure_ascii=False, indent=1) + "\n"})
        sizes = {name: tensor.numel() for name, tensor in weights_of(network).items()}
        return taken, [
            f"from {self.folder}: {_counted(dict.fromkeys(taken, ''), sizes)}",
            *([f"new: {_counted(new, sizes)}"] if new else []),
        ]


_LACKS = "not there"


def taken_before(folder: Path) -> list[str] | None:
    """The names of the weights that a run took over when it began, or None if it took none."""
    path = folder / _NAME
    if not path.exists():
        return None
    about = read_as(dict[str, Any], path)
    return [str(name) for name in about.get("taken", [])]


def refuse_other_start(asked: str | None, recipe: Recipe) -> None:
    """Refuse to go on with a run that began with another one than is named now."""
    if asked is None:
        return
    began = recipe.start.run if recipe.start is not None else None
    if began != str(Path(asked).absolute()):
        what = f"began with {began}" if began is not None else "began with nothing"
        raise SettingsError(f"--resume goes on with a run that {what}, and --from is {asked}; leave it out")


def _common(old: str, new: str, folder: Path) -> tuple[str, ...]:
    """What two goals have in common."""
    if old == new:
        return ("front", "encoder", "decoder", "head")
    if "complete" not in (old, new):
        return ("front", "encoder")
    if (old, new) == ("complete", "generate"):
        return ("decoder", "head")
    if old == "complete":
        raise SettingsError(
            f"{folder} is for --goal complete: it has a decoder and nothing to read with, and --goal {new} "
            "reads; begin with a run of --goal fill, or choose --goal generate"
        )
    raise SettingsError(
        f"{folder} is for --goal {old}, and a model of --goal complete has a decoder alone that looks at no "
        "source; begin with a run of --goal complete"
    )


def _refuse(asked: Mapping[str, Any], own: Mapping[str, Any], path: str, folder: Path) -> None:
    for name, value in asked.items():
        here = f"{path}.{name}"
        if name not in own or here in _FREE:
            continue
        if isinstance(value, Mapping) and isinstance(own[name], Mapping):
            _refuse(value, own[name], here, folder)
        elif not _equal(value, own[name]) and not here.startswith("model.head."):
            raise SettingsError(
                f"{here} = {value} was asked for, and the model of {folder} has {own[name]}; leave it out, "
                "or train without --from"
            )


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) or (isinstance(other, tuple) and isinstance(one, list) and tuple(one) == other)


def _shape(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape))


def _counted(reasons: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    """Weights by their part, with how many numbers there are and why they are new."""

    def key(name: str) -> tuple[str, str]:
        return name.split(".")[0], reasons[name]

    told = []
    for (part, reason), names in groupby(sorted(reasons, key=key), key):
        listed = list(names)
        some = _prefix(listed) or part
        why = f"; {reason}" if reason else ""
        told.append(f"{some} ({sum(sizes[name] for name in listed):,} weights{why})")
    return ", ".join(told)


def _prefix(names: list[str]) -> str:
    """What the names of weights have in common, by whole parts."""
    common = [
        parts[0] for parts in zip(*(name.split(".") for name in names), strict=False) if len(set(parts)) == 1
    ]
    return ".".join(common)
