"""Views of a model that writes: its output for a text, its attention, and what edits change of both."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

import torch
from torch import Tensor

from seq2see.decoding import DecodingSettings
from seq2see.decoding.filters import never_chosen
from seq2see.decoding.search import search
from seq2see.errors import DataError, SettingsError
from seq2see.layers.attention import Watch
from seq2see.lens.attribution import ATTRIBUTIONS, Watching
from seq2see.lens.blocks import skipping
from seq2see.lens.edits import Borrow, Edit, Force, Off, Reword
from seq2see.lens.teacher_forcing import Source, TeacherForced, as_batch, teacher_force
from seq2see.lens.tree import TreeGrower
from seq2see.lens.view import Asked, Branch, Effect, Step, Unknown, View, token_difference
from seq2see.lens.watchers import Editor, Patterns, addresses_of, check_addresses, lent_weights
from seq2see.models import DecoderOnly, EncoderDecoder
from seq2see.models.contracts import Memory
from seq2see.settings import near
from seq2see.text import Codec, Tokenizer

__all__ = ["TextLens", "TextPass", "TextRequest", "Writer"]

_CANDIDATES = 10
"""The likeliest tokens of a step that a view names."""


class Writer(Protocol):
    """A model that can be looked at while it writes."""

    @property
    def name(self) -> str: ...

    @property
    def network(self) -> EncoderDecoder | DecoderOnly: ...

    @property
    def codec(self) -> Codec: ...

    def refuse_too_long(self, side: Literal["encoder", "decoder"], rows: Iterable[Sequence[int]]) -> None:
        """Refuse texts of more tokens than a side can take."""

    def output_limit(self, length: int, settings: DecodingSettings, forced: int = 0) -> int:
        """The most tokens of an output, by the length of its source and the number of forced tokens."""


@dataclass(frozen=True)
class TextRequest:
    """A source to look at, with the output that a search with these settings finds, or a given target."""

    text: str
    settings: DecodingSettings
    features: str = ""
    target: str | tuple[int, ...] | None = None
    """A text, or ids without the end symbol."""
    rank: int = 1
    into: str = ""
    """Which of several targets is written; by default the first."""


@dataclass(frozen=True)
class TextPass:
    """One text through the network: the ids of source and output, and what the network gave at each step."""

    text: str
    features: str
    source: Source
    first: int
    """What the decoder read first."""
    said: list[int]
    forced: TeacherForced
    cut: bool
    tree: list[Branch] | None


class TextLens:
    """Makes views of a model that reads a source and writes."""

    kind_of_source = "text"
    open_ended = False
    """Whether an output that came to the length limit is left without an end symbol."""

    def __init__(self, model: Writer) -> None:
        self._model = model
        self.network, self.target = model.network, self._tokenizer()
        self._special = self.target.special

    @property
    def codec(self) -> Codec:
        """The tokenizers of both sides."""
        return self._model.codec

    def _tokenizer(self) -> Tokenizer:
        """That of the output."""
        return self.codec.target

    def look(self, wanted: TextRequest, edits: Sequence[Edit] = (), donor: "TextLens | None" = None) -> View:
        """The view of a source, with the effect of the edits if there are any."""
        plain, changed, patterns = self._see_both(wanted, edits, donor)
        target = wanted.target if isinstance(wanted.target, str) else None
        beam = wanted.settings.beam
        asked = Asked(
            self._model.name, wanted.text, wanted.features, target, beam, tuple(edits), into=wanted.into
        )
        view = replace(self._finished(self._view(changed), wanted, changed, edits, patterns), asked=asked)
        if not edits:
            return view
        # What the edited network thinks of what the plain one said, step by step.
        with skipping(self.network, edits):
            again = teacher_force(
                self.network, changed.source, plain.said, Editor(edits, patterns), plain.first
            )
        return replace(view, effect=self._effect(plain, changed, again))

    def _finished(
        self, view: View, wanted: TextRequest, seen: TextPass, edits: Sequence[Edit], patterns: Patterns
    ) -> View:
        """A view with all that there is to see besides weights."""
        return view

    def attribution(
        self, wanted: TextRequest, kind: str, edits: Sequence[Edit] = (), donor: "TextLens | None" = None
    ) -> Tensor:
        """What each source token did for each output token, by `gradient` or `occlusion`, (T, S)."""
        if kind not in ATTRIBUTIONS:
            raise SettingsError(f"there is no attribution {kind!r}; {near(kind, ATTRIBUTIONS)}")
        _, seen, patterns = self._see_both(wanted, edits, donor)
        watching = partial(Editor, edits, patterns) if edits else lambda: None
        with skipping(self.network, edits):
            return self._attributed(kind, seen, watching).cpu()

    def _attributed(self, kind: str, seen: TextPass, watching: Watching) -> Tensor:
        assert not isinstance(seen.source, Tensor)
        return ATTRIBUTIONS[kind](self.network, seen.source, seen.said, watching, seen.first)

    def _see_both(
        self, wanted: TextRequest, edits: Sequence[Edit], donor: "TextLens | None"
    ) -> tuple[TextPass, TextPass, Patterns]:
        """The pass without edits, the pass with them, and the weights that the edits put in."""
        check_addresses(edits, self.network)
        plain = self._see(wanted)
        if not edits:
            return plain, plain, {}
        patterns = self._patterns(edits, plain, wanted, donor or self)
        texts = [edit.text for edit in edits if isinstance(edit, Reword)]
        changed = replace(wanted, text=texts[-1]) if texts else wanted
        return plain, self._see(changed, edits, patterns), patterns

    def _see(
        self, wanted: TextRequest, edits: Sequence[Edit] = (), patterns: Patterns | None = None
    ) -> TextPass:
        if not wanted.text.strip() and not wanted.features:
            raise DataError(f"there is no {self.kind_of_source} to look at")
        source, first, opening = self._read(wanted, edits)
        forces = [edit for edit in edits if isinstance(edit, Force)]
        cut, tree = False, None
        if wanted.target is None:
            with skipping(self.network, edits):
                said, cut, tree = self._found(source, first, opening, wanted, edits, patterns, forces)
        elif forces:
            raise SettingsError("with a given target no token can be forced; leave one of them out")
        else:
            given = wanted.target
            said = [
                *opening,
                *(self.target.encode(given) if isinstance(given, str) else given),
                self._special.end,
            ]
        self._model.refuse_too_long("decoder", [said])
        editor = Editor(edits, patterns) if edits else None
        with skipping(self.network, edits):
            forced = teacher_force(self.network, source, said, editor, first)
        source = self._shown(source, first, said)
        return TextPass(wanted.text, wanted.features, source, first, said, forced, cut, tree)

    def _read(self, wanted: TextRequest, edits: Sequence[Edit]) -> tuple[Source, int, list[int]]:
        """The ids of a source, what the decoder reads first, and what every output begins with."""
        source = self.codec.encode_sources([wanted.text], [wanted.features])[0]
        self._model.refuse_too_long("encoder", [source])
        return source, self.target.opening(wanted.into), []

    def _shown(self, source: Source, first: int, said: list[int]) -> Source:
        """What is shown as the source of an output."""
        return source

    def _length(self, source: Source) -> int:
        """How many tokens a source has."""
        return len(source)

    def _memory(self, source: Source, watch: Watch | None) -> Memory | None:
        """The source as the decoder sees it."""
        assert isinstance(self.network, EncoderDecoder)
        return self.network.encode_ids(as_batch(source, self.network.device), watch)

    def _found(
        self,
        source: Source,
        first: int,
        opening: list[int],
        wanted: TextRequest,
        edits: Sequence[Edit],
        patterns: Patterns | None,
        forces: list[Force],
    ) -> tuple[list[int], bool, list[Branch] | None]:
        """What the network says after an opening, which is part of it; forced tokens come at their steps."""
        said: list[int] = []
        cut, tree = False, None

        def go_on(prefix: list[int]) -> None:
            nonlocal said, cut, tree
            said, cut, tree = self._search(source, first, wanted, prefix, edits, patterns)

        prefix = opening
        for force in sorted(forces, key=lambda force: force.step):
            if force.step > len(prefix):
                go_on(prefix)
                if force.step >= len(said):
                    raise SettingsError(
                        f"step {force.step} is past the end of the output, which has {len(said)} steps"
                    )
                prefix = said[: force.step]
            prefix = [*prefix[: force.step], self._token(force.token)]
            if prefix[-1] == self._special.end:
                return prefix, False, None
        go_on(prefix)
        return said, cut, tree

    @torch.inference_mode()
    def _search(
        self,
        source: Source,
        first: int,
        wanted: TextRequest,
        prefix: list[int],
        edits: Sequence[Edit],
        patterns: Patterns | None,
    ) -> tuple[list[int], bool, list[Branch] | None]:
        settings = wanted.settings
        editor = Editor(edits, patterns, searching=True) if edits else None
        grower = TreeGrower(self._special) if settings.beam > 1 and not settings.sample else None
        memory = self._memory(source, editor)
        limit = self._model.output_limit(self._length(source), settings, len(prefix))
        (found,) = search(
            self.network,
            memory,
            [limit],
            settings,
            [prefix],
            watch=editor,
            follow=grower,
            prompt=(first,) if first != self._special.begin else (),
            open_ended=self.open_ended,
        )
        if wanted.rank > len(found):
            raise SettingsError(
                f"there are {len(found)} outputs, so none of rank {wanted.rank}; raise nbest and beam"
            )
        chosen = found[wanted.rank - 1]
        said = [*chosen.ids, *[self._special.end] * (not (self.open_ended and chosen.cut))]
        return said, chosen.cut, grower.grown(said) if grower is not None else None

    def _token(self, token: int | str) -> int:
        """A token of the target by id, or as it is shown."""
        size = self.target.size
        if isinstance(token, str):
            named = {label: place for place, label in enumerate(self.target.tokens(range(size)))}
            if token not in named:
                raise SettingsError(f"no output token is {token!r}; {near(token, named)}")
            token = named[token]
        if token >= size or token in never_chosen(self.network.special):
            raise SettingsError(f"token {token} cannot be forced; output tokens have ids below {size}")
        return token

    def _patterns(
        self, edits: Sequence[Edit], plain: TextPass, wanted: TextRequest, donor: "TextLens"
    ) -> Patterns:
        """The weights that edits put in: the network's own, or a donor's."""
        own = plain.forced.weights
        found: dict[int, dict[str, Tensor]] = {}
        lenders: dict[str, dict[str, Tensor]] = {}
        for number, edit in enumerate(edits):
            if isinstance(edit, Off) and edit.how == "mean":
                found[number] = own
            elif isinstance(edit, Borrow):
                text = edit.text if edit.text is not None else wanted.text
                if text not in lenders:
                    into = wanted.into if wanted.into in donor.target.targets else ""
                    lenders[text] = donor._see(replace(wanted, text=text, into=into)).forced.weights
                found[number] = lent_weights(edit, lenders[text], addresses_of(self.network))
        return found

    def _effect(self, plain: TextPass, changed: TextPass, again: TeacherForced) -> Effect:
        before, after = plain.forced.log_probabilities, again.log_probabilities
        divergence = (before.exp() * (before - after)).sum(-1).clamp(min=0)
        return Effect(
            output=self.target.decode([plain.first, *plain.said]),
            predicted=self.target.tokens(plain.said),
            log_probability=sum(plain.forced.of(plain.said)),
            difference=token_difference(self.target.tokens(plain.said), self.target.tokens(changed.said)),
            change=sum(again.of(plain.said)) - sum(plain.forced.of(plain.said)),
            divergence=divergence.tolist(),
        )

    def _view(self, seen: TextPass) -> View:
        show = self.target.tokens
        never = torch.tensor(never_chosen(self.network.special), device=self.network.device)
        possible = seen.forced.log_probabilities.index_fill(1, never, -float("inf"))
        likely = possible.topk(min(_CANDIDATES, self.target.size - len(never)), -1)
        steps = [
            Step(
                value, [(place, show([place])[0], chance) for place, chance in zip(ids, chances, strict=True)]
            )
            for value, ids, chances in zip(
                seen.forced.of(seen.said), likely.indices.tolist(), likely.values.tolist(), strict=True
            )
        ]
        branches = [one._replace(label=show([one.token])[0]) for one in seen.tree or ()]
        return View(
            source=self._source_tokens(seen.source),
            read=show([seen.first, *seen.said[:-1]]),
            predicted=show(seen.said),
            weights={address: found.cpu() for address, found in seen.forced.weights.items()},
            output=self.target.decode([seen.first, *seen.said]),
            log_probability=sum(step.log_probability for step in steps),
            text=seen.text,
            steps=steps,
            cut=seen.cut,
            tree=branches or None,
            unknown=self._unknown(seen),
        )

    def _source_tokens(self, source: Source) -> list[str]:
        assert not isinstance(source, Tensor)
        return self.codec.source_tokens(source)

    def _unknown(self, seen: TextPass) -> Unknown:
        return Unknown.of(seen.text, lambda text: self.codec.unknown_tokens(text, seen.features))
