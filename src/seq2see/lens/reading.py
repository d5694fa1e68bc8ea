"""Views of a model that does not write: its attention, edits, and what each token did for the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Column
from seq2see.data.sides import Batch
from seq2see.errors import DataError, SettingsError
from seq2see.layers.attention import Watch
from seq2see.lens.blocks import skipping
from seq2see.lens.edits import Borrow, Edit, Force, Off, Reword
from seq2see.lens.view import AnswerKind, Asked, Effect, Step, Unknown, View, token_difference
from seq2see.lens.watchers import Editor, WeightCollector, addresses_of, check_addresses, lent_weights
from seq2see.models import Network
from seq2see.models.contracts import Sides, States
from seq2see.settings import near

__all__ = ["Reader", "ReaderLens", "Reading"]

_CANDIDATES = 10
"""The likeliest answers that a view names."""
_TOGETHER = 4096
"""Tokens of copies of a text that go through a network at once."""
Watching = Callable[[], Watch | None]
"""Makes a watcher for each pass, or none."""


class Reading(NamedTuple):
    """What a model says of a text: for each of its answers, the log-probability of every choice.

    A number is one answer without choices.
    """

    kind: AnswerKind
    rows: list[str]
    """What each answer is about: the text, or one of its words."""
    answers: list[str]
    choices: list[str]
    scores: Tensor
    """(answers, choices); of a number, the number itself, (1, 1)."""
    output: str
    note: str = ""
    """What is to be said beside the answer, such as the interval of a number."""

    @property
    def log_probability(self) -> float | None:
        """Of all answers together; where any number of labels can be given, of just those that are.

        Neither a number nor a text that asks for nothing has one.
        """
        if self.kind == "number" or not self.answers:
            return None
        if self.kind == "labels":
            return float(torch.maximum(self.scores, _log_complement(self.scores)).sum())
        return float(self.scores.amax(1).sum())


class Reader(Protocol):
    """A model that can be looked at while it reads."""

    @property
    def name(self) -> str: ...

    @property
    def network(self) -> Network: ...

    @property
    def inputs(self) -> Mapping[str, Column]:
        """The columns that it reads."""

    @property
    def attributions(self) -> Sequence[str]:
        """The kinds of attribution that can be measured, the usual one first."""

    def source_tokens(self, example: Pair) -> list[str]:
        """The tokens of a text as a person would read them."""

    def unknown_tokens(self, example: Pair) -> dict[int, str]:
        """What the vocabulary has nothing for, by its place among the tokens."""

    def refuse_too_long(self, rows: Sequence[Sequence[Any]]) -> None:
        """Refuse texts of more tokens than the network has positions for."""

    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """What the head gives for a batch, one row for each example."""

    def read(self, example: Pair, outputs: Tensor) -> Reading:
        """What the head's outputs for one example mean."""

    def forgotten(self, example: Pair) -> dict[str, list[Any]]:
        """The rows of every column for copies of a text; each copy lacks one token, the first the first."""


class ReaderLens:
    """Makes views of a model that reads."""

    def __init__(self, model: Reader) -> None:
        self._model = model
        self.network = model.network

    def look(self, example: Pair, edits: Sequence[Edit] = (), donor: "ReaderLens | None" = None) -> View:
        """The view of a text, with the effect of the edits if there are any; a donor lends weights."""
        plain, weights = self._pass(example)
        asked = Asked(self._model.name, example.source, example.features, edits=tuple(edits))
        if not edits:
            view = self._view(example, plain, weights)
            return replace(self._finished(view, example, lambda: None, edits), asked=asked)
        changed_example, watching = self._edited(example, edits, donor)
        with skipping(self.network, edits):
            changed, changed_weights = self._pass(changed_example, watching(), edits)
        view = self._view(changed_example, changed, changed_weights)
        view = self._finished(view, changed_example, watching, edits)
        return replace(view, asked=asked, effect=_effect(plain, changed))

    def _finished(self, view: View, example: Pair, watching: Watching, edits: Sequence[Edit]) -> View:
        """A view with all that there is to see besides weights."""
        return view

    def attribution(
        self,
        example: Pair,
        kind: str | None = None,
        edits: Sequence[Edit] = (),
        donor: "ReaderLens | None" = None,
    ) -> Tensor:
        """What each token did for each answer, by `gradient` or `occlusion`, (answers, S)."""
        ways = {"gradient": self._gradient, "occlusion": self._occlusion}
        kind = kind or self._model.attributions[0]
        if kind not in ways:
            raise SettingsError(f"there is no attribution {kind!r}; {near(kind, ways)}")
        if kind not in self._model.attributions:
            raise SettingsError(
                "this model also counts pieces of the text, which are no tokens, so a gradient would tell "
                f"only a part; choose {' or '.join(f'kind={one}' for one in self._model.attributions)}"
            )
        with skipping(self.network, edits):
            return ways[kind](*self._edited(example, edits, donor), edits).cpu()

    @torch.inference_mode()
    def _pass(
        self, example: Pair, watch: Watch | None = None, edits: Sequence[Edit] = ()
    ) -> tuple[Reading, dict[str, Tensor]]:
        """What the model says of a text, and its weights (H, T, S) by address."""
        collector = WeightCollector(watch)
        outputs = self._model.head_outputs(self._collated(self._rows(example, edits)), collector)
        weights = {address: found[0] for address, found in collector.weights().items()}
        return self._model.read(example, outputs[0]), weights

    def _rows(self, example: Pair, edits: Sequence[Edit] = ()) -> dict[str, list[Any]]:
        """The row of every column for a text."""
        if not example.source.strip():
            raise DataError("there is no text to look at")
        rows = {name: column.encode([example]) for name, column in self._model.inputs.items()}
        self._model.refuse_too_long(rows["source"])
        return rows

    def _collated(self, rows: Mapping[str, Sequence[Any]]) -> Sides:
        sides = {name: column.collate(rows[name]) for name, column in self._model.inputs.items()}
        device = next(self.network.parameters()).device
        return Batch(sides, np.zeros(len(rows["source"]), np.int64)).to(device).sides

    def _edited(
        self, example: Pair, edits: Sequence[Edit], donor: "ReaderLens | None"
    ) -> tuple[Pair, Watching]:
        """The text that is read under edits, and what makes a watcher that applies them."""
        check_addresses(edits, self.network)
        if not edits:
            return example, lambda: None
        patterns: dict[int, dict[str, Tensor]] = {}
        lenders: dict[str, dict[str, Tensor]] = {}
        for number, edit in enumerate(edits):
            if isinstance(edit, Force):
                raise SettingsError("a model that reads says no tokens, so none can be forced")
            if isinstance(edit, Borrow):
                text = edit.text if edit.text is not None else example.source
                if text not in lenders:
                    lenders[text] = (donor or self)._pass(example._replace(source=text))[1]
                patterns[number] = lent_weights(edit, lenders[text], addresses_of(self.network))
            elif isinstance(edit, Off) and edit.how == "mean":
                patterns[number] = self._pass(example)[1]
        texts = [edit.text for edit in edits if isinstance(edit, Reword)]
        return example._replace(source=texts[-1]) if texts else example, partial(Editor, edits, patterns)

    def _view(self, example: Pair, reading: Reading, weights: dict[str, Tensor]) -> View:
        steps = []
        if reading.choices:
            likely = reading.scores.topk(min(_CANDIDATES, len(reading.choices)), -1)
            for ids, chances in zip(likely.indices.tolist(), likely.values.tolist(), strict=True):
                named = [(id_, reading.choices[id_], value) for id_, value in zip(ids, chances, strict=True)]
                steps.append(Step(chances[0], named))
        return View(
            source=self._model.source_tokens(example),
            read=reading.rows,
            predicted=reading.answers,
            weights={address: found.cpu() for address, found in weights.items()},
            output=reading.output,
            log_probability=reading.log_probability,
            text=example.source,
            steps=steps,
            kind=reading.kind,
            note=reading.note,
            unknown=Unknown.of(
                example.source, lambda text: self._model.unknown_tokens(example._replace(source=text))
            ),
        )

    def _gradient(self, example: Pair, watching: Watching, edits: Sequence[Edit]) -> Tensor:
        """d score / d x . x with x the state that the front makes of each token, for each answer."""
        states: list[Tensor] = []

        def keep(module: object, given: object, made: States) -> States:
            states.append(made.states.detach().requires_grad_())
            return States(states[0], made.mask)

        front = self.network.front
        assert isinstance(front, torch.nn.Module)
        sides = self._collated(self._rows(example))
        hook = front.register_forward_hook(keep)
        try:
            # CUDA's own recurrence has no gradient outside training.
            with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
                outputs = self._model.head_outputs(sides, watching())
                scores = self._answer_scores(example, outputs[0])
        finally:
            hook.remove()
        slopes = [torch.autograd.grad(row.max(), states, retain_graph=True)[0] for row in scores]
        return torch.stack([(slope * states[0]).sum(-1)[0].detach() for slope in slopes])

    @torch.inference_mode()
    def _occlusion(self, example: Pair, watching: Watching, edits: Sequence[Edit]) -> Tensor:
        """The score of each answer less what is left of it when a token is unknown."""

        def scores(rows: Mapping[str, Sequence[Any]]) -> Tensor:
            outputs = self._model.head_outputs(self._collated(rows), watching())
            return torch.stack([self._answer_scores(example, one) for one in outputs])

        whole = scores(self._rows(example))[0]
        best = whole.argmax(1, keepdim=True)
        forgotten = self._model.forgotten(example)
        tokens = len(forgotten["source"])
        count = max(1, _TOGETHER // tokens)
        parts = [
            scores({name: rows[start : start + count] for name, rows in forgotten.items()})
            for start in range(0, tokens, count)
        ]
        left = torch.cat(parts).gather(2, best.expand(tokens, -1, -1))  # (S, answers, 1)
        return (whole.gather(1, best) - left)[..., 0].T

    def _answer_scores(self, example: Pair, outputs: Tensor) -> Tensor:
        """The scores of the answers; there must be one that tokens can have done something for."""
        reading = self._model.read(example, outputs)
        if not reading.answers:
            raise DataError(reading.note)
        return reading.scores


def _log_complement(scores: Tensor) -> Tensor:
    """log(1 - p) of log p."""
    return torch.log1p(-scores.exp().clamp(max=1 - 1e-7))


def _effect(plain: Reading, changed: Reading) -> Effect:
    """What edits changed of the answers; with another number of answers, only which they are."""
    alike = plain.scores.shape == changed.scores.shape
    if alike:
        pairs = zip(plain.answers, changed.answers, strict=True)
        difference = [
            one for old, new in pairs for one in ([("=", old)] if old == new else [("-", old), ("+", new)])
        ]
    else:
        difference = token_difference(plain.answers, changed.answers)
    best = plain.scores.argmax(1, keepdim=True)
    change = float((changed.scores.gather(1, best) - plain.scores.gather(1, best)).sum()) if alike else None
    return Effect(
        output=plain.output,
        predicted=plain.answers,
        log_probability=plain.log_probability,
        difference=difference,
        change=change,
        divergence=_divergence(plain, changed).tolist() if alike and plain.choices else [],
    )


def _divergence(plain: Reading, changed: Reading) -> Tensor:
    """KL(plain || changed) of each answer; labels that exclude nothing are a choice each, of yes or no."""

    def expected(before: Tensor, after: Tensor) -> Tensor:
        return (before.exp() * (before - after)).sum(-1)

    found = expected(plain.scores, changed.scores)
    if plain.kind == "labels":
        found = found + expected(_log_complement(plain.scores), _log_complement(changed.scores))
    return found.clamp(min=0)
