"""One typed description of a run, composed from the settings of each room."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import yaml
from pydantic import Field, model_validator

from seq2see.data.settings import DataSettings
from seq2see.decoding.settings import DecodingSettings
from seq2see.errors import SettingsError
from seq2see.models.settings import ModelSettings
from seq2see.settings import Settings, build, merge, near, read_yaml
from seq2see.text import TextSettings
from seq2see.training.settings import TrainingSettings

__all__ = [
    "VERSION",
    "Parts",
    "Recipe",
    "StartSettings",
    "compose",
    "compose_parts",
    "preset",
    "presets",
    "read_recipe",
]

VERSION = 1
P = TypeVar("P", bound="Parts")


class StartSettings(Settings):
    """The run whose weights a new one begins with."""

    run: str
    """Its folder."""
    weights: str | None = None
    """The checksum that its weights had then."""


class Parts(Settings):
    """The settings of each room, each checked by itself."""

    version: int = VERSION
    seed: int = Field(default=1, ge=0, le=2**63 - 1)
    goal: str = "generate"
    """What the model is for: a row of the table of goals."""
    start: StartSettings | None = None
    """Another run to begin from, as --from names it."""
    data: DataSettings
    text: TextSettings = TextSettings()
    model: ModelSettings = ModelSettings()
    training: TrainingSettings = TrainingSettings()
    decoding: DecodingSettings = DecodingSettings()


class Recipe(Parts):
    """Everything that decides what a run becomes."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        source, target = self.text.source.kind, self.text.target.kind
        if self.text.shared and source != target:
            raise ValueError(
                f"text.shared = true means one tokenizer, but text.source.kind is {source!r} and "
                f"text.target.kind is {target!r}; make them equal, or set text.shared=false"
            )
        sides: tuple[Literal["encoder", "decoder"], ...] = ("encoder", "decoder")
        for side in sides:
            places = self.model.length_limit(side)
            if places is not None and places < self.data.max_length:
                raise ValueError(
                    f"pairs of up to data.max_length = {self.data.max_length} tokens do not fit the "
                    f"model.max_length = {places} places of the {side}; "
                    f"set data.max_length={places}, or choose {self.model.unlimited(side)}"
                )
        if self.model.share_embeddings and not self.text.shared:
            raise ValueError(
                "model.share_embeddings = true needs one vocabulary; set text.shared=true, "
                "or model.share_embeddings=false"
            )
        return self


def presets() -> list[str]:
    """The names of the presets that come with the package."""
    return sorted(
        file.name.removesuffix(".yaml") for file in _presets().iterdir() if file.name.endswith(".yaml")
    )


def preset(name: str) -> dict[str, Any]:
    """The settings of a preset."""
    if name not in presets():
        raise SettingsError(f"there is no preset {name!r}; {near(name, presets())}")
    return dict(yaml.safe_load((_presets() / f"{name}.yaml").read_text(encoding="utf-8")))


def compose(layers: Sequence[Mapping[str, Any]], origin: str) -> Recipe:
    """Put settings over one another, later ones last, and check the result."""
    return _build(Recipe, layers, origin)


def compose_parts(layers: Sequence[Mapping[str, Any]], origin: str) -> Parts:
    """The same for settings that are not all known yet: each room is checked, how they fit is not."""
    return _build(Parts, layers, origin)


def _build(kind: type[P], layers: Sequence[Mapping[str, Any]], origin: str) -> P:
    values: dict[str, Any] = {}
    for layer in layers:
        values = merge(values, layer)
    version = values.get("version", VERSION)
    if str(version).isdigit() and int(version) > VERSION:
        raise SettingsError(
            f"{origin} is of version {version}, and this seq2see knows up to {VERSION}; "
            "upgrade with 'pip install --upgrade seq2see'"
        )
    return build(kind, values, origin)


def read_recipe(path: Path) -> Recipe:
    """Read and check a recipe file."""
    return compose([read_yaml(path)], str(path))


def _presets() -> Any:
    return resources.files("seq2see") / "presets"
