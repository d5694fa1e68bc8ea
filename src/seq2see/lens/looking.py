"""One source through one network: what it says, what it attends to on the way, and what edits change."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from seq2see.decoding import DecodingSettings
from seq2see.decoding.filters import never_chosen
from seq2see.decoding.search import search
from seq2see.errors import DataError, SettingsError
from seq2see.lens.attribution import ATTRIBUTIONS
from seq2see.lens.edits import Borrow, Edit, Force, Off, Reword
from seq2see.lens.recording import Recorded, say
from seq2see.lens.tree import Node, TreeGrower
from seq2see.lens.view import Branch, Effect, Step, View
from seq2see.lens.watching import Editor, Patterns, addresses_of, check_addresses
from seq2see.models import EncoderDecoder
from seq2see.settings import near
from seq2see.text import Codec

__all__ = ["Lens", "Recording", "Wanted"]

_CANDIDATES = 10
"""The likeliest tokens of a step that a view names."""


class Writer(Protocol):
    """A model that can be looked at while it writes."""

    @property
    def network(self) -> EncoderDecoder: ...

    @property
    def codec(self) -> Codec: ...

    def refuse_too_long(self, side: Literal["encoder", "decoder"], rows: Iterable[Sequence[int]]) -> None:
        """Refuse texts of more tokens than a side can take."""

    def output_limit(self, length: int, settings: DecodingSettings, forced: int = 0) -> int:
        """The most tokens of an output, by the length of its source and the number of forced tokens."""


@dataclass(frozen=True)
class Wanted:
    """What to look at: a source, and its own output (found as `settings` say) or a given target."""

    text: str
    settings: DecodingSettings
    features: str = ""
    target: str | tuple[int, ...] | None = None
    """A text, or ids without the end symbol."""
    rank: int = 1


@dataclass(frozen=True)
class _Seen:
    """One pass, in ids."""

    text: str
    source: list[int]
    said: list[int]
    recorded: Recorded
    cut: bool
    tree: list[Node] | None


class Lens:
    """Looks at a model that writes."""

    def __init__(self, model: Writer) -> None:
        self._model = model
        self.network, self.codec = model.network, model.codec
        self._special = model.codec.target.special

    def look(self, wanted: Wanted, edits: Sequence[Edit] = (), donor: "Lens | None" = None) -> View:
        """The view of a source, with the effect of the edits if there are any."""
        plain, changed, patterns = self._see_both(wanted, edits, donor)
        if not edits:
            return self._view(plain)
        # What the edited network thinks of what the plain one said, step by step.
        again = say(self.network, changed.source, plain.said, Editor(edits, patterns))
        return replace(self._view(changed), effect=self._effect(plain, changed, again))

    def attribution(
        self, wanted: Wanted, kind: str, edits: Sequence[Edit] = (), donor: "Lens | None" = None
    ) -> Tensor:
        """What each source token did for each output token, by `gradient` or `occlusion`, (T, S)."""
        if kind not in ATTRIBUTIONS:
            raise SettingsError(f"there is no attribution {kind!r}; {near(kind, ATTRIBUTIONS)}")
        _, seen, patterns = self._see_both(wanted, edits, donor)
        watching = partial(Editor, edits, patterns) if edits else lambda: None
        return ATTRIBUTIONS[kind](self.network, seen.source, seen.said, watching).cpu()

    def _see_both(
        self, wanted: Wanted, edits: Sequence[Edit], donor: "Lens | None"
    ) -> tuple[_Seen, _Seen, Patterns]:
        """Without edits and with them, and the weights that those put in."""
        check_addresses(edits, self.network)
        plain = self._see(wanted)
        if not edits:
            return plain, plain, {}
        patterns = self._patterns(edits, plain, wanted, donor or self)
        texts = [edit.text for edit in edits if isinstance(edit, Reword)]
        changed = replace(wanted, text=texts[-1]) if texts else wanted
        return plain, self._see(changed, edits, patterns), patterns

    def _see(self, wanted: Wanted, edits: Sequence[Edit] = (), patterns: Patterns | None = None) -> _Seen:
        if not wanted.text.strip() and not wanted.features:
            raise DataError("there is no text to look at")
        source = self.codec.encode_sources([wanted.text], [wanted.features])[0]
        self._model.refuse_too_long("encoder", [source])
        forces = [edit for edit in edits if isinstance(edit, Force)]
        cut, tree = False, None
        if wanted.target is None:
            said, cut, tree = self._found(source, wanted, edits, patterns, forces)
        elif forces:
            raise SettingsError("with a given target no token can be forced; leave one of them out")
        else:
            given = wanted.target
            said = [
                *(self.codec.target.encode(given) if isinstance(given, str) else given),
                self._special.end,
            ]
        self._model.refuse_too_long("decoder", [said])
        editor = Editor(edits, patterns) if edits else None
        return _Seen(wanted.text, source, said, say(self.network, source, said, editor), cut, tree)

    def _found(
        self,
        source: list[int],
        wanted: Wanted,
        edits: Sequence[Edit],
        patterns: Patterns | None,
        forces: list[Force],
    ) -> tuple[list[int], bool, list[Node] | None]:
        """What the network says, the end symbol last; forced tokens come at their steps."""
        said: list[int] = []
        cut, tree = False, None

        def go_on(prefix: list[int]) -> None:
            nonlocal said, cut, tree
            said, cut, tree = self._search(source, wanted, prefix, edits, patterns)

        prefix: list[int] = []
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
        source: list[int],
        wanted: Wanted,
        prefix: list[int],
        edits: Sequence[Edit],
        patterns: Patterns | None,
    ) -> tuple[list[int], bool, list[Node] | None]:
        settings = wanted.settings
        editor = Editor(edits, patterns, searching=True) if edits else None
        grower = TreeGrower(self._special) if settings.beam > 1 and not settings.sample else None
        device = next(self.network.parameters()).device
        memory = self.network.encode_ids(torch.tensor([source], device=device), editor)
        limit = self._model.output_limit(len(source), settings, len(prefix))
        found = search(self.network, memory, [limit], settings, [prefix], watch=editor, follow=grower)[0]
        if wanted.rank > len(found):
            raise SettingsError(
                f"there are {len(found)} outputs, so none of rank {wanted.rank}; raise nbest and beam"
            )
        chosen = found[wanted.rank - 1]
        said = [*chosen.ids, self._special.end]
        return said, chosen.cut, grower.grown(said) if grower is not None else None

    def _token(self, token: int | str) -> int:
        """A token of the target by id, or as it is shown."""
        size = self.codec.target.size
        if isinstance(token, str):
            named = {label: place for place, label in enumerate(self.codec.target.tokens(range(size)))}
            if token not in named:
                raise SettingsError(f"no output token is {token!r}; {near(token, named)}")
            token = named[token]
        if token >= size or token in never_chosen(self.network.special):
            raise SettingsError(f"token {token} cannot be forced; output tokens have ids below {size}")
        return token

    def _patterns(self, edits: Sequence[Edit], plain: _Seen, wanted: Wanted, donor: "Lens") -> Patterns:
        """The weights that edits put in: the network's own, or a donor's."""
        own = plain.recorded.weights
        found: dict[int, dict[str, Tensor]] = {}
        for number, edit in enumerate(edits):
            if isinstance(edit, Off) and edit.how == "mean":
                found[number] = own
            elif isinstance(edit, Borrow):
                lender = donor if edit.model is not None or donor is not self else self
                known = addresses_of(lender.network)
                if edit.origin is not None and edit.origin not in known:
                    raise SettingsError(
                        f"nothing can be borrowed from {edit.origin!r}; {near(edit.origin, known)}"
                    )
                text = edit.text if edit.text is not None else wanted.text
                lent = lender._see(replace(wanted, text=text)).recorded.weights
                found[number] = {
                    address: _lent(lent, edit, address, heads)
                    for address, heads in addresses_of(self.network).items()
                    if (edit.origin or address) in lent
                }
        return found

    def _effect(self, plain: _Seen, changed: _Seen, again: Recorded) -> Effect:
        before, after = plain.recorded.log_probabilities, again.log_probabilities
        divergence = (before.exp() * (before - after)).sum(-1).clamp(min=0)
        return Effect(
            output=self.codec.target.decode(plain.said),
            predicted=self.codec.target.tokens(plain.said),
            log_probability=sum(plain.recorded.of(plain.said)),
            difference=_difference(
                self.codec.target.tokens(plain.said), self.codec.target.tokens(changed.said)
            ),
            change=sum(again.of(plain.said)) - sum(plain.recorded.of(plain.said)),
            divergence=divergence.tolist(),
        )

    def _view(self, seen: _Seen) -> View:
        show = self.codec.target.tokens
        never = torch.tensor(never_chosen(self.network.special), device=self.network.device)
        possible = seen.recorded.log_probabilities.index_fill(1, never, -float("inf"))
        likely = possible.topk(min(_CANDIDATES, self.codec.target.size - len(never)), -1)
        steps = [
            Step(
                value, [(place, show([place])[0], chance) for place, chance in zip(ids, chances, strict=True)]
            )
            for value, ids, chances in zip(
                seen.recorded.of(seen.said), likely.indices.tolist(), likely.values.tolist(), strict=True
            )
        ]
        branches = [
            Branch(one.parent, one.token, show([one.token])[0], one.log_probability, one.step, one.state)
            for one in seen.tree or ()
        ]
        return View(
            source=self.codec.source_tokens(seen.source),
            read=show([self._special.begin, *seen.said[:-1]]),
            predicted=show(seen.said),
            weights={address: found.cpu() for address, found in seen.recorded.weights.items()},
            output=self.codec.target.decode(seen.said),
            log_probability=sum(step.log_probability for step in steps),
            text=seen.text,
            steps=steps,
            cut=seen.cut,
            tree=branches or None,
        )


class Recording(Sequence[View]):
    """Views of all that was decoded or scored while it was recorded, each made when it is asked for."""

    def __init__(self, lens: Lens, settings: DecodingSettings) -> None:
        self._lens, self._settings = lens, settings
        self._calls: list[tuple[Wanted, tuple[Edit, ...]]] = []

    def note(self, text: str, features: str, said: Sequence[int], edits: Sequence[Edit] = ()) -> None:
        """Remember a source and its target."""
        self._calls.append((Wanted(text, self._settings, features, tuple(said)), tuple(edits)))

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        return self._lens.look(*self._calls[place])


def _lent(lent: dict[str, Tensor], edit: Borrow, address: str, heads: int) -> Tensor:
    """Weights (H, T, S) of a lender for an address of so many heads."""
    found = lent[edit.origin or address]
    if edit.head is not None:
        if edit.head >= len(found):
            raise SettingsError(f"the lender has no head {edit.head}: they are numbered to {len(found) - 1}")
        return found[edit.head].expand(heads, -1, -1)
    if len(found) != heads:
        raise SettingsError(
            f"{address} has {heads} heads and the lender {len(found)}; name the head to take with head="
        )
    return found


def _difference(before: list[str], after: list[str]) -> list[tuple[str, str]]:
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
