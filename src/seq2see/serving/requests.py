"""What the explorer's page may ask for: every field bounded."""

from typing import Annotated, Any, Literal

from pydantic import Field

from seq2see.lens.edits import Edit
from seq2see.lens.view import AnswerKind
from seq2see.settings import Settings

__all__ = ["CHARACTERS", "EDITS", "WIDEST", "Problem", "ViewAnswer", "ViewRequest"]

CHARACTERS, EDITS, WIDEST = 4000, 64, 16


Text = Annotated[str, Field(max_length=CHARACTERS)]


class ViewRequest(Settings):
    """A source to look at, and how."""

    model: Literal["a", "b"] = "a"
    text: Text
    features: Text = ""
    target: Text | None = None
    beam: int = Field(default=1, ge=1, le=WIDEST)
    words: bool = False
    edits: tuple[Edit, ...] = Field(default=(), max_length=EDITS)


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
    steps: list[dict[str, Any]]
    maps: list[dict[str, Any]]
    effect: dict[str, Any] | None
    tree: dict[str, Any] | None
    code: str


class Problem(Settings):
    """Why a request was refused, and what to do."""

    detail: str
