"""Changes to what a model attends to and says, as data: from Python, a command line or a page alike."""

from typing import Annotated, Literal

import yaml
from pydantic import ConfigDict, Field

from seq2see.errors import SettingsError
from seq2see.settings import Settings, build, parse_yaml
from seq2see.wording import quoted

__all__ = [
    "Block",
    "Borrow",
    "Edit",
    "Force",
    "Hard",
    "Hide",
    "Off",
    "OnWeights",
    "Pin",
    "Reword",
    "Skip",
    "Temperature",
    "Top",
    "edits_of",
    "parse_edit",
]

Place = Annotated[int, Field(ge=0, le=1_000_000)]
Some = Annotated[tuple[Place, ...], Field(min_length=1, max_length=4096)]


class OnWeights(Settings):
    """A change of attention weights, at an address such as `decoder.1.cross`, or several: `decoder.*.cross`.

    Heads are numbered from 0; without them, all heads are meant.
    """

    at: str = Field(min_length=1, max_length=100)
    heads: Some | None = None


class Off(OnWeights):
    """A head that no longer sees: it reads nothing (zero), every place alike (uniform), the first place
    (first), or always what it looks at on the average over all steps of the unedited run (mean)."""

    kind: Literal["off"] = "off"
    how: Literal["zero", "mean", "uniform", "first"] = "zero"


class Hard(OnWeights):
    """All the weight on the place that has most of it."""

    kind: Literal["hard"] = "hard"


class Top(OnWeights):
    """Only the places with the most weight."""

    kind: Literal["top"] = "top"
    count: int = Field(ge=1, le=1_000_000)


class Temperature(OnWeights):
    """Sharper below 1, flatter above: each weight to the power of 1 / value, made to sum to 1 again."""

    kind: Literal["temperature"] = "temperature"
    value: float = Field(gt=0, le=1000, allow_inf_nan=False)


class Pin(OnWeights):
    """At one step (counted from 0), look at these places, at each alike."""

    kind: Literal["pin"] = "pin"
    step: Place
    places: Some


class Block(OnWeights):
    """Places that cannot be looked at."""

    kind: Literal["block"] = "block"
    places: Some


class Borrow(OnWeights):
    """The weights that another source, another address or head, or another model has there."""

    kind: Literal["borrow"] = "borrow"
    model: Literal["a", "b"] | None = None
    """In the explorer: the one of two models that lends; from Python, the donor if there is one."""
    text: str | None = Field(default=None, max_length=4000)
    origin: str | None = Field(default=None, alias="from", max_length=100)
    head: Place | None = None

    model_config = ConfigDict(populate_by_name=True)


class Force(Settings):
    """Say this token (its text or id) at a step counted from 0, and go on from there."""

    kind: Literal["force"] = "force"
    step: Place
    token: Place | Annotated[str, Field(min_length=1, max_length=200)]


class Reword(Settings):
    """Another source text, or the name of another image."""

    kind: Literal["source"] = "source"
    text: str = Field(max_length=4000)


class Hide(Settings):
    """Places of an image that become grey: the mean colour of the training images."""

    kind: Literal["hide"] = "hide"
    places: Some


class Skip(Settings):
    """A residual block, such as `encoder.1.0`, of which only the skip is left: x instead of F(x) + x."""

    kind: Literal["skip"] = "skip"
    block: str = Field(min_length=1, max_length=100)


Edit = Annotated[
    Off | Hard | Top | Temperature | Pin | Block | Borrow | Force | Reword | Hide | Skip,
    Field(discriminator="kind"),
]


class _Edits(Settings):
    edits: tuple[Edit, ...] = Field(max_length=64)


def edits_of(values: list[dict[str, object]]) -> tuple[Edit, ...]:
    """Edits from plain values, as JSON gives them."""
    return build(_Edits, {"edits": values}, "edits").edits


def parse_edit(text: str) -> Edit:
    """An edit as words, such as `off at=decoder.*.cross heads=0,2 how=uniform`."""
    kind, *pairs = text.split() or [""]
    values: dict[str, object] = {"kind": kind}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise SettingsError(
                f"--edit {quoted(text)}: {quoted(pair)} is not of the form NAME=VALUE, "
                "as in 'off at=decoder.*.cross heads=0,2'"
            )
        listed = name in ("heads", "places")
        try:
            values[name] = parse_yaml(f"[{value}]" if listed else value) if name != "at" else value
        except yaml.YAMLError:
            values[name] = value
    return edits_of([values])[0]
