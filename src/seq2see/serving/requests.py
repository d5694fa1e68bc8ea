"""What the explorer's page may ask for: every field bounded."""

from typing import Annotated, Literal

from pydantic import Field

from seq2see.lens.edits import Edit
from seq2see.lens.view import AnswerKind, Side
from seq2see.settings import Settings

__all__ = ["CHARACTERS", "EDITS", "WIDEST", "Problem", "Uploaded", "ViewAnswer", "ViewRequest"]

CHARACTERS, EDITS, WIDEST = 4000, 64, 16


Text = Annotated[str, Field(max_length=CHARACTERS)]


class ViewRequest(Settings):
    """A source to look at, and how."""

    model: Literal["a", "b"] = "a"
    text: Text
    features: Text = ""
    into: Text = ""
    """Which of several targets is written; by default the first."""
    target: Text | None = None
    beam: int = Field(default=1, ge=1, le=WIDEST)
    words: bool = False
    edits: tuple[Edit, ...] = Field(default=(), max_length=EDITS)


class StepAnswer(Settings):
    """One answer or output token, with the likeliest choices in its place: id, label, log-probability."""

    log_probability: float | None
    top: list[tuple[int, str, float | None]]


class MapAnswer(Settings):
    """An attention: what its rows and columns stand for, and a few numbers about each head."""

    address: str
    heads: int
    rows: Side
    columns: Side
    shape: tuple[int, int]
    summaries: list[dict[str, float]]


class EffectAnswer(Settings):
    """What edits changed, as `lens.view.Effect` has it."""

    output: str
    predicted: list[str]
    log_probability: float | None
    difference: list[tuple[Literal["=", "-", "+"], str]]
    change: float | None
    kl: list[float]


class BranchAnswer(Settings):
    """A hypothesis of a beam search, as `lens.view.Branch` has it."""

    id: int
    parent: int | None
    token: int
    label: str
    log_probability: float
    step: int
    state: Literal["kept", "pruned", "finished", "best"]


class TreeAnswer(Settings):
    """All hypotheses of a beam search."""

    nodes: list[BranchAnswer]


class PictureAnswer(Settings):
    """An image as the model saw it, and the grid of places over it, as `lens.pictures.Grid` has it."""

    image: str
    height: int
    width: int
    rows: int
    columns: int
    down: float
    across: float
    first: int


class BlockAnswer(Settings):
    """What a residual block is worth, as `lens.blocks.BlockWorth` has it."""

    block: str
    skipped: bool
    answer: str
    value: float | None
    change: float | None


class FeaturesAnswer(Settings):
    """Maps of the strongest channels of a stage, a byte for each value, as base64."""

    stage: str
    channels: list[int]
    shape: tuple[int, int]
    maps: str


class ViewAnswer(Settings):
    """A view without its weights; its fields are those of `lens.view.View`."""

    id: str
    source: list[str]
    read: list[str]
    predicted: list[str]
    kind: AnswerKind
    output: str
    note: str
    log_probability: float | None
    cut: bool
    steps: list[StepAnswer]
    maps: list[MapAnswer]
    effect: EffectAnswer | None
    tree: TreeAnswer | None
    picture: PictureAnswer | None
    blocks: list[BlockAnswer]
    features: list[FeaturesAnswer]
    unknown: list[int]
    """Places of the source that are unknown to the model; `source` has what is written there."""
    lower: str | None
    """The text in lower case, where less of that is unknown."""
    code: str


class Uploaded(Settings):
    """The name that an image goes by from now on."""

    name: str


class Problem(Settings):
    """Why a request was refused, and what to do."""

    detail: str
