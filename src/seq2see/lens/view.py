"""What was seen of one source: tokens, weights, candidates, and ways to show them."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from torch import Tensor

from seq2see.errors import SettingsError
from seq2see.lens import summaries
from seq2see.lens.blocks import BlockWorth, FeatureMaps
from seq2see.lens.edits import Edit
from seq2see.lens.pictures import Grid, Picture
from seq2see.settings import near

__all__ = [
    "AnswerKind",
    "Asked",
    "Branch",
    "Effect",
    "Side",
    "Step",
    "Unknown",
    "View",
    "sides_of",
    "token_difference",
]

_WORD = "▁"
"""What the label of a token begins with where it begins a word."""


Side = Literal["source", "target"]
AnswerKind = Literal["text", "class", "labels", "number", "tags", "gaps"]
"""What a model answers with: a text, one class, any number of labels, a number, or a tag for each word."""


def sides_of(address: str) -> tuple[Side, Side]:
    """What the rows and the columns of an attention stand for."""
    if address.startswith("encoder"):
        return "source", "source"
    if address.startswith("head"):
        return "target", "source"
    return "target", "target" if address.endswith("self") else "source"


class Step(NamedTuple):
    """One token of an output, and the likeliest tokens in its place: id, label, log-probability."""

    log_probability: float
    top: list[tuple[int, str, float]]


class Branch(NamedTuple):
    """A hypothesis of a search: its last token, and the number of the hypothesis before it."""

    parent: int | None
    token: int
    label: str
    log_probability: float
    step: int
    state: Literal["kept", "pruned", "finished", "best"]


class Effect(NamedTuple):
    """What edits changed: the unedited output beside the edited one."""

    output: str
    predicted: list[str]
    log_probability: float | None
    difference: list[tuple[str, str]]
    """Tokens that stay (=), go (-) and come (+)."""
    change: float | None
    """Of the log-probability of the unedited output, or of a number: edited less unedited."""
    divergence: list[float]
    """KL(unedited || edited) at each step of the unedited output, in nats; a number has none."""


class Asked(NamedTuple):
    """What a view was asked for: the name of its model, the text as it was given, and the edits."""

    model: str
    text: str
    features: str = ""
    target: str | None = None
    beam: int = 1
    edits: tuple[Edit, ...] = ()
    words: bool = False
    into: str = ""


class Unknown(NamedTuple):
    """What a vocabulary has nothing for, by its place in the source; and its lower case, if that helps."""

    tokens: dict[int, str]
    lower: str | None = None

    @classmethod
    def of(cls, text: str, find: Callable[[str], dict[int, str]]) -> "Unknown":
        """What `find` says of a text, and whether it says less of the text in lower case."""
        tokens, lower = find(text), text.lower()
        return cls(tokens, lower if tokens and len(find(lower)) < len(tokens) else None)


_NOTHING = Unknown({})


@dataclass(frozen=True, repr=False)
class View:
    """Who looked where: weights (H, T, S) by address.

    Row t of a decoder's weights belongs to the step that read `read[t]` and predicted `predicted[t]`.
    Columns are `source` for `encoder.*` and `*.cross`, and `read` for a decoder's self-attention.
    Of a model that does not write, `predicted` are its answers, and `read` what each of them is about.
    """

    source: list[str]
    read: list[str]
    predicted: list[str]
    weights: dict[str, Tensor]
    output: str
    log_probability: float | None
    """Of the whole output; a number has none."""
    text: str = ""
    steps: list[Step] = field(default_factory=list)
    cut: bool = False
    tree: list[Branch] | None = None
    effect: Effect | None = None
    kind: AnswerKind = "text"
    note: str = ""
    """What is to be said beside the output, such as the interval of a number."""
    unknown: Unknown = _NOTHING
    asked: Asked | None = None
    picture: Picture | None = None
    """Of a source that is an image: its pixels and places, which `source` names."""
    blocks: list[BlockWorth] = field(default_factory=list)
    """What each residual block is worth for the output, where there are any."""
    features: list[FeatureMaps] = field(default_factory=list)

    def __repr__(self) -> str:
        heads = sum(len(found) for found in self.weights.values())
        sure = (
            f"log-probability {self.log_probability:.2f}" if self.log_probability is not None else self.note
        )
        said = f"{self.output[:60]!r}" + (f", {sure}" if sure else "")
        return (
            f"<View of {self.text[:60]!r}: {said}\n"
            f"  {len(self.source)} {'places' if self.picture else 'source tokens'}, "
            f"{len(self.predicted)} answers; "
            f"{heads} heads at {', '.join(list(self.weights)[:4]) or 'no attention'}"
            f"{', ...' if len(self.weights) > 4 else ''}>"
        )

    def _repr_html_(self) -> str:
        """The explorer's page with this view in it, for a notebook."""
        from seq2see.lens.page import framed_page

        return framed_page(self)

    def at(self, address: str | None = None, head: int | None = None) -> Tensor:
        """Weights of one head, (T, S); of all heads averaged if none is named, which is a summary."""
        address = address or self._last_cross()
        if address not in self.weights:
            raise SettingsError(f"there is no attention {address!r}; {near(address, self.weights)}")
        found = self.weights[address]
        if head is None:
            return found.mean(0)
        if not 0 <= head < len(found):
            raise SettingsError(f"{address} has no head {head}: they are numbered from 0 to {len(found) - 1}")
        return found[head]

    def alignment(self) -> Tensor:
        """A summary: cross-attention averaged over all heads of the last decoder layer, (T, S)."""
        return self.at()

    def alignments(self, address: str | None = None, head: int | None = None) -> list[str]:
        """For each row the column that it looks at most, as `k <- K .83`."""
        address = address or self._last_cross()
        rows = self.source if sides_of(address)[0] == "source" else self.predicted
        return summaries.alignments(self.at(address, head), rows, self.columns(address))

    def row_names(self) -> list[str]:
        """A label for each row of `alignment`."""
        side = sides_of(self._last_cross())[0]
        return self.source if side == "source" else self.predicted

    def rows(self, address: str) -> list[str]:
        """A label for each row: of an output, the token read and the token predicted."""
        if sides_of(address)[0] == "source":
            return self.source
        if self.kind != "text":
            return self.predicted
        return [f"{read} → {said}" for read, said in zip(self.read, self.predicted, strict=True)]

    def columns(self, address: str) -> list[str]:
        """A label for each column."""
        return self.read if sides_of(address)[1] == "target" else self.source

    @property
    def grid(self) -> Grid:
        """The places of an image."""
        if self.picture is None:
            raise SettingsError("this is the view of a text, which has no grid of places")
        return self.picture.grid

    def answer_names(self) -> list[str]:
        """Each answer, or word of a caption, without the sign that begins a word."""
        return [one.removeprefix(_WORD) or one for one in self.predicted]

    def gazes(self, address: str | None = None, head: int | None = None) -> tuple[list[str], Tensor]:
        """Where on an image each word or answer looks: its name, and weights of the places (N, places).

        Where places look at each other, it is the class token that looks, or all places on the average.
        """
        address = address or self._last_cross()
        weights, first = self.at(address, head)[:, self.grid.first :], self.grid.first
        rows, columns = sides_of(address)
        if columns == "target":
            raise SettingsError(f"{address} looks at words, not at places of the image; name another address")
        if rows == "target":
            return self.answer_names(), weights
        return (["<class>"], weights[:1]) if first else (["all places"], weights.mean(0, keepdim=True))

    def summaries(self, address: str) -> list[dict[str, float]]:
        """Entropy, mass on the first and last place, diagonality, distance and coverage of each head.

        Of a text that looks at itself also the mass on each of its `patterns`, where it has any.
        """
        self.at(address)
        weights = self.weights[address].float()
        found = summaries.summarise(weights)
        for name, meant in self.patterns(address).items():
            for head, value in zip(found, summaries.mass(weights, meant).tolist(), strict=True):
                head[name] = value
        return found

    def patterns(self, address: str) -> dict[str, Tensor]:
        """The places of known patterns in a text that looks at itself, (T, T); see `lens.summaries.patterns`.

        Words of an output have none: the tokens that a word is read from are not those that it looks from.
        """
        rows, columns = sides_of(address)
        tokens = self.columns(address)
        written = self.asked is not None and self.asked.words and rows == "target"
        if rows != columns or written or self.picture or {len(tokens)} != set(self.at(address).shape):
            return {}
        special = [_is_symbol(token) for token in tokens]
        if columns == "source":
            tokens = [self.unknown.tokens.get(place, token) for place, token in enumerate(tokens)]
        found = summaries.patterns(tokens, special, ahead=address.startswith("encoder"))
        return {name: meant for name, meant in found.items() if meant.any()}

    @property
    def reads_itself(self) -> bool:
        """Whether source and output are one text, as they are for a decoder alone."""
        return self.kind == "text" and self.source == self.read

    def rollout(self, side: Literal["encoder", "decoder"] | None = None) -> Tensor:
        """How much of each last state comes from each position, through all layers; rows sum to 1.

        By default of the encoder, or of a decoder alone.
        """
        return summaries.rollout(self.weights, side or ("decoder" if self.reads_itself else "encoder"))

    def in_words(self) -> "View":
        """The same with sub-words (or characters) merged to words.

        Steps of an output and its tree are left out, since they belong to single tokens.
        """
        source, read, said = (_words(labels) for labels in (self.source, self.read, self.predicted))
        merged = {}
        for address, found in self.weights.items():
            rows, columns = sides_of(address)
            merged[address] = summaries.merged(
                found, source if rows == "source" else said, source if columns == "source" else read
            )
        written = [self.unknown.tokens.get(place, label) for place, label in enumerate(self.source)]
        unknown = {
            word: label
            for word, (group, label) in enumerate(zip(source, _joined(written, source), strict=True))
            if self.unknown.tokens.keys() & set(group)
        }
        return replace(
            self,
            unknown=self.unknown._replace(tokens=unknown),
            asked=self.asked._replace(words=True) if self.asked is not None else None,
            source=_joined(self.source, source),
            read=_joined(self.read, read),
            predicted=_joined(self.predicted, said),
            weights=merged,
            steps=[] if self.kind == "text" else self.steps,
            tree=None,
        )

    def save(self, path: str | Path, at: str | None = None, head: int | None = None, **options: Any) -> Path:
        """Draw into a file: .svg, .png or .pdf (one map, or with `grid=True` all heads), or .html (all)."""
        from seq2see.lens import drawing

        return drawing.save(self, Path(path), at, head, **options)

    def show(self, at: str | None = None, head: int | None = None) -> None:
        """The page in a notebook; shades in a terminal."""
        from seq2see.lens import drawing

        drawing.show(self, at, head)

    def _last_cross(self) -> str:
        crosses = [address for address in self.weights if address.endswith((".cross", ".pool"))]
        if not crosses:
            # A model that only reads, or only writes, may still look from each of its tokens at the others.
            own = "decoder" if self.reads_itself else "encoder"
            crosses = [address for address in self.weights if address.startswith(own)]
        if not crosses and self.kind != "text":
            raise SettingsError(
                "this model has no attention; model.attribution(text) says what each token did"
            )
        if not crosses:
            raise SettingsError(
                "this model has no attention on its source: all it knows of it is one summary"
            )
        return crosses[-1]


def token_difference(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Tokens that stay (=), go (-) and come (+)."""
    found = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for what, start, end, start_after, end_after in matcher.get_opcodes():
        if what == "equal":
            found += [("=", token) for token in before[start:end]]
            continue
        found += [("-", token) for token in before[start:end]]
        found += [("+", token) for token in after[start_after:end_after]]
    return found


def _words(labels: Sequence[str]) -> list[range]:
    """Where words begin and end; every token is one where nothing shows it."""
    if not any(label.startswith(_WORD) for label in labels):
        return [range(place, place + 1) for place in range(len(labels))]
    starts = [
        place
        for place, label in enumerate(labels)
        if place == 0 or label.startswith(_WORD) or _alone(label) or _alone(labels[place - 1])
    ]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(labels)], strict=True)]


def _alone(label: str) -> bool:
    """Whether a label is that of a special symbol or a feature."""
    return (label[:1], label[-1:]) in (("<", ">"), ("[", "]")) and len(label) > 2


def _is_symbol(label: str) -> bool:
    """Whether a label is that of a symbol which is no part of a text, such as <begin>."""
    return _alone(label) and label.startswith("<") and label != "<unknown>"


def _joined(labels: Sequence[str], groups: Sequence[range]) -> list[str]:
    words = ("".join(labels[place] for place in group) for group in groups)
    return [word.lstrip(_WORD) or word for word in words]
