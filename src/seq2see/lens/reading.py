"""Looks at models that read but do not write: attention, edits, and what each token did for the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Column
from seq2see.data.sides import Batch
from seq2see.errors import DataError, SettingsError
from seq2see.layers.attention import Watch
from seq2see.lens.edits import Borrow, Edit, Force, Off, Reword
from seq2see.lens.view import Effect, Step, View
from seq2see.lens.watching import Editor, Patterns, Recorder, check_addresses
from seq2see.models import Network
from seq2see.models.contracts import Sides, States
from seq2see.settings import near

__all__ = ["ReaderLens", "Reading"]

_CANDIDATES = 10
"""The likeliest answers that a view names."""


class Reading(NamedTuple):
    """What a model says of a text: for each of its answers, the log-probability of every choice.

    A number is one answer without choices.
    """

    rows: list[str]
    """What each answer is about: the text, or one of its words."""
    answers: list[str]
    choices: list[str]
    scores: Tensor
    """(answers, choices), or (1, 1) for a number."""
    output: str


class Reader(Protocol):
    """A model that can be looked at while it reads."""

    @property
    def network(self) -> Network: ...

    @property
    def inputs(self) -> Mapping[str, Column]:
        """The columns that it reads."""

    def source_tokens(self, example: Pair) -> list[str]:
        """The tokens of a text as a person would read them."""

    def read(self, example: Pair, sides: Sides, watch: Watch | None) -> Reading:
        """What it says of one text."""

    def forget(self, sides: Sides, place: int) -> Sides:
        """The same text with one token unknown."""


class ReaderLens:
    """Looks at a model that reads."""

    def __init__(self, model: Reader) -> None:
        self._model = model
        self.network = model.network

    def look(self, example: Pair, edits: Sequence[Edit] = (), donor: "ReaderLens | None" = None) -> View:
        """The view of a text, with the effect of the edits if there are any; a donor lends weights."""
        check_addresses(edits, self.network)
        plain, weights = self._see(example, None)
        if not edits:
            return self._view(example, plain, weights)
        editor, changed_example = self._editor(edits, weights, example, donor or self)
        changed, changed_weights = self._see(changed_example, editor)
        view = self._view(changed_example, changed, changed_weights)
        return replace(view, effect=_effect(plain, changed))

    def attribution(self, example: Pair, kind: str, edits: Sequence[Edit] = ()) -> Tensor:
        """What each token did for each answer, by `gradient` or `occlusion`, (answers, S)."""
        ways: dict[str, Callable[[Pair, Sequence[Edit]], Tensor]] = {
            "gradient": self._gradient,
            "occlusion": self._occlusion,
        }
        if kind not in ways:
            raise SettingsError(f"there is no attribution {kind!r}; {near(kind, ways)}")
        check_addresses(edits, self.network)
        return ways[kind](example, edits).cpu()

    @torch.inference_mode()
    def _see(self, example: Pair, editor: Watch | None) -> tuple[Reading, dict[str, Tensor]]:
        recorder = Recorder(editor)
        reading = self._model.read(example, self._sides(example), recorder)
        return reading, {address: found[0] for address, found in recorder.weights().items()}

    def _sides(self, example: Pair) -> Sides:
        if not example.source.strip():
            raise DataError("there is no text to look at")
        sides = {
            name: column.collate(column.encode([example])) for name, column in self._model.inputs.items()
        }
        device = next(self.network.parameters()).device
        return Batch(sides, np.zeros(1, np.int64)).to(device).sides

    def _editor(
        self, edits: Sequence[Edit], weights: dict[str, Tensor], example: Pair, donor: "ReaderLens"
    ) -> tuple[Editor, Pair]:
        patterns: dict[int, dict[str, Tensor]] = {}
        for number, edit in enumerate(edits):
            if isinstance(edit, Force):
                raise SettingsError("a model that reads says no tokens, so none can be forced")
            if isinstance(edit, Borrow):
                text = edit.text if edit.text is not None else example.source
                patterns[number] = _borrowed(
                    edit, donor._see(example._replace(source=text), None)[1], weights
                )
            elif isinstance(edit, Off) and edit.how == "mean":
                patterns[number] = weights
        texts = [edit.text for edit in edits if isinstance(edit, Reword)]
        found: Patterns = patterns
        return Editor(edits, found), example._replace(source=texts[-1]) if texts else example

    def _view(self, example: Pair, reading: Reading, weights: dict[str, Tensor]) -> View:
        steps = []
        if reading.choices:
            likely = reading.scores.topk(min(_CANDIDATES, len(reading.choices)), -1)
            for ids, chances in zip(likely.indices.tolist(), likely.values.tolist(), strict=True):
                named = [
                    (place, reading.choices[place], chance)
                    for place, chance in zip(ids, chances, strict=True)
                ]
                steps.append(Step(chances[0], named))
        return View(
            source=self._model.source_tokens(example),
            read=reading.rows,
            predicted=reading.answers,
            weights={address: found.cpu() for address, found in weights.items()},
            output=reading.output,
            log_probability=sum(step.log_probability for step in steps),
            text=example.source,
            steps=steps,
        )

    def _gradient(self, example: Pair, edits: Sequence[Edit]) -> Tensor:
        """d score / d x . x with x the state that the front makes of each token, for each answer."""
        sides = self._sides(example)
        rows = []
        count = len(self._see(example, None)[0].answers)
        for answer in range(count):
            kept: list[Tensor] = []

            def keep(module: object, given: object, made: States, kept: list[Tensor] = kept) -> States:
                kept.append(made.states.detach().requires_grad_())
                return States(kept[0], made.mask)

            front = self.network.front
            assert isinstance(front, torch.nn.Module)
            hook = front.register_forward_hook(keep)
            try:
                # CUDA's own recurrence has no gradient outside training.
                with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
                    reading = self._model.read(example, sides, Editor(edits) if edits else None)
            finally:
                hook.remove()
            chosen = reading.scores[answer].max()
            (slope,) = torch.autograd.grad(chosen, kept)
            rows.append((slope * kept[0]).sum(-1)[0].detach())
        return torch.stack(rows)

    @torch.inference_mode()
    def _occlusion(self, example: Pair, edits: Sequence[Edit]) -> Tensor:
        """The score of each answer less what is left of it when a token is unknown."""
        sides = self._sides(example)

        def scores(sides: Sides, best: Tensor | None) -> Tensor:
            found = self._model.read(example, sides, Editor(edits) if edits else None).scores
            return found.gather(1, found.argmax(1, keepdim=True) if best is None else best)[:, 0]

        best = self._model.read(example, sides, Editor(edits) if edits else None).scores.argmax(
            1, keepdim=True
        )
        whole = scores(sides, best)
        tokens = sides["source"].values.shape[1]
        return torch.stack(
            [whole - scores(self._model.forget(sides, place), best) for place in range(tokens)], 1
        )


def _borrowed(edit: Borrow, lent: dict[str, Tensor], own: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights that an edit puts in at each address, (H, T, S)."""
    if edit.origin is not None and edit.origin not in lent:
        raise SettingsError(f"nothing can be borrowed from {edit.origin!r}; {near(edit.origin, lent)}")
    found = {}
    for address, weights in own.items():
        given = lent.get(edit.origin or address)
        if given is not None:
            if edit.head is not None and edit.head >= len(given):
                raise SettingsError(
                    f"the lender has no head {edit.head}: they are numbered to {len(given) - 1}"
                )
            found[address] = given[edit.head].expand(len(weights), -1, -1) if edit.head is not None else given
    return found


def _effect(plain: Reading, changed: Reading) -> Effect:
    """What edits changed of the answers."""
    pairs = list(zip(plain.answers, changed.answers, strict=False))
    difference: list[tuple[str, str]] = []
    for before, after in pairs:
        difference += [("=", before)] if before == after else [("-", before), ("+", after)]
    same = plain.scores.shape == changed.scores.shape and bool(plain.choices)
    divergence = (plain.scores.exp() * (plain.scores - changed.scores)).sum(-1).clamp(min=0) if same else None
    best = plain.scores.argmax(1, keepdim=True)
    change = float((changed.scores.gather(1, best) - plain.scores.gather(1, best)).sum()) if same else 0.0
    if not plain.choices:
        change = float(changed.scores[0, 0] - plain.scores[0, 0])
    return Effect(
        output=plain.output,
        predicted=plain.answers,
        log_probability=float(plain.scores.gather(1, best).sum()) if plain.choices else 0.0,
        difference=difference,
        change=change,
        divergence=divergence.tolist() if divergence is not None else [],
    )
