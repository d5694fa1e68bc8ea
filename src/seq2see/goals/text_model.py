"""A trained model that reads a text and writes another."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import SourceText, TargetText
from seq2see.data.sides import Batch
from seq2see.decoding import DecodingSettings, Hypothesis
from seq2see.decoding import score as score_batch
from seq2see.decoding.bulk import by_length
from seq2see.decoding.engine import Engine, OwnLoop, Work
from seq2see.decoding.threads import one_thread
from seq2see.errors import SettingsError
from seq2see.evaluation import Example, Outcome, Texts, Unit, worst
from seq2see.goals.limits import Limited
from seq2see.goals.text_values import NO_OUTPUT, By, Output, Source, counted_by
from seq2see.goals.windows import in_windows
from seq2see.lens.attribution import ATTRIBUTIONS
from seq2see.lens.blocks import skipping
from seq2see.lens.edits import Edit
from seq2see.lens.recording import Recording
from seq2see.lens.request import LensRequest
from seq2see.lens.text_lens import TextLens, TextRequest
from seq2see.lens.view import View
from seq2see.lens.watchers import Editor, check_addresses, check_for_any
from seq2see.models import EncoderDecoder
from seq2see.run import Run
from seq2see.settings import build
from seq2see.text import Codec, Tokenizer

__all__ = ["Output", "Source", "TextModel", "counted_by"]


class TextModel(Limited):
    """A trained model that takes and gives text."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.network.eval()
        self.own_loop = OwnLoop(self.network)
        self.engine: Engine = self.own_loop
        self.recordings: list[Recording] = []

    @property
    def network(self) -> EncoderDecoder:
        """The network, which reads and writes ids."""
        assert isinstance(self.run.network, EncoderDecoder)
        return self.run.network

    @property
    def codec(self) -> Codec:
        """The tokenizers of both sides."""
        source = self.run.columns["source"]
        assert isinstance(source, SourceText) and isinstance(source.codec, Codec)
        return source.codec

    @property
    def target(self) -> Tokenizer:
        """The tokenizer of what is written."""
        return self.codec.target

    def source_rows(self, texts: Sequence[str], features: Sequence[str]) -> Sequence[Any]:
        """What is read of each source, as the column of sources has it."""
        return self.codec.encode_sources(texts, features)

    @property
    def unit(self) -> Unit:
        """What error rates count on the target side."""
        kind = self.recipe.text.target.kind
        return "characters" if kind == "characters" else "symbols" if kind == "symbols" else "words"

    def __call__(
        self, texts: str | Sequence[str], features: Sequence[str] | None = None, **options: Any
    ) -> Any:
        """Decode texts: one gives one, a list gives a list. Options as under `decoding` in a recipe."""
        single = isinstance(texts, str)
        listed = [texts] if isinstance(texts, str) else list(texts)
        tags = list(features) if features is not None else [""] * len(listed)
        sources = [Source(text, tag) for text, tag in zip(listed, tags, strict=True)]
        found = [outputs[0].text for outputs in self.decode(sources, scored=False, **options)]
        return found[0] if single else found

    def decode(
        self,
        sources: Iterable[Source],
        prefix: str | None = None,
        ready: Callable[[], bool] = lambda: True,
        scored: bool = True,
        edits: Sequence[Edit] = (),
        into: str = "",
        **options: Any,
    ) -> Iterator[list[Output]]:
        """Outputs of a stream of sources, best first, in the order of the sources.

        A window of the stream also ends where `ready` says that the next source would have to be waited
        for. Unless they are `scored`, outputs of a greedy search have no log-probabilities, which would
        cost as much as half of the search. Edits are those that make sense for any source. Of several
        targets, `into` names the one that is meant; otherwise it is the first.
        """
        for (outputs,) in self.decode_each(sources, [into], prefix, ready, scored, edits, **options):
            yield outputs

    def decode_each(
        self,
        sources: Iterable[Source],
        into: Sequence[str],
        prefix: str | None = None,
        ready: Callable[[], bool] = lambda: True,
        scored: bool = True,
        edits: Sequence[Edit] = (),
        **options: Any,
    ) -> Iterator[list[list[Output]]]:
        """The same for each of some targets: every source is encoded once, and decoded into all of them."""
        check_addresses(edits, self.network)
        check_for_any(edits)
        firsts = [self.target.opening(name) for name in into]
        plan = Work(
            [],
            [],
            self.decoding(**options),
            prefix=self._prefix(prefix) if prefix else [],
            scored=scored,
            watching=partial(Editor, edits, searching=True) if edits else None,
            collate=self.run.columns["source"].collate,
            firsts=firsts if self.target.targets else [],
        )
        engine = self.engine if not edits and self.engine.takes(plan) else self.own_loop

        def start(taken: list[Source], first: int) -> Callable[[], list[list[list[Output]]]]:
            wait = self._start(engine, taken, plan, first)

            def finish() -> list[list[list[Output]]]:
                with skipping(self.network, edits):  # our own loop, which edits need, searches only now
                    found = wait()
                return self._noted(taken, found, into, edits)

            return finish

        return in_windows(sources, engine, ready, start)

    def _start(
        self, engine: Engine, sources: Sequence[Source], plan: Work, first: int
    ) -> Callable[[], list[list[list[Output]]]]:
        """Give a window to an engine; what comes back waits for the outputs of each source by target."""
        full = [row for row, source in enumerate(sources) if not source.blank]
        given = [sources[row] for row in full]
        rows = self.source_rows([one.text for one in given], [one.features for one in given])
        self.refuse_too_long("encoder", rows)
        limit = {
            length: self.output_limit(length, plan.settings, len(plan.prefix))
            for length in set(map(len, rows))
        }

        def work(places: Iterable[int]) -> Work:
            """What is to be done for some of those sources that are not blank."""
            ids = [rows[place] for place in places]
            keys = [first + full[place] for place in places]
            return replace(plan, sources=ids, limits=[limit[len(row)] for row in ids], keys=keys)

        wait = engine.start(work(range(len(full))))

        def finish() -> list[list[list[Output]]]:
            found, each = wait(), max(1, len(plan.firsts))
            # Only our own loop, which leaves nothing over, writes into several targets.
            if rest := [place for place, one in enumerate(found) if one is None]:
                with one_thread():
                    again = self.own_loop.start(work(rest))()
                for place, one in zip(rest, again, strict=True):
                    found[place] = one
            told = [self._outputs(one or ()) for one in found]
            outputs = {row: told[place * each : (place + 1) * each] for place, row in enumerate(full)}
            return [outputs.get(row, [[NO_OUTPUT]] * each) for row in range(len(sources))]

        return finish

    def _noted(
        self,
        sources: Sequence[Source],
        found: list[list[list[Output]]],
        into: Sequence[str],
        edits: Sequence[Edit] = (),
    ) -> list[list[list[Output]]]:
        """Outputs, after those who record have taken note of them."""
        for seen in self.recordings:
            for source, targets in zip(sources, found, strict=True):
                for name, outputs in zip(into, targets, strict=True):
                    for output in outputs if not source.blank else ():
                        seen.note(source.text, source.features, output.ids, edits, name)
        return found

    def _prefix(self, text: str) -> list[int]:
        if unknown := self.target.unknown([text]):
            raise SettingsError(
                f"the prefix holds {', '.join(map(repr, unknown))}, which training never showed"
            )
        return self.target.encode(text)

    def _outputs(self, hypotheses: Iterable[Hypothesis]) -> list[Output]:
        tell = self.target.decode
        return [Output(tell(one.ids), one.ids, one.log_probability, one.score, one.cut) for one in hypotheses]

    def decoding(self, **options: Any) -> DecodingSettings:
        """The recipe's way of decoding with some options changed."""
        chosen = {name: value for name, value in options.items() if value is not None}
        if "nbest" in chosen and "beam" not in chosen:
            chosen["beam"] = max(self.recipe.decoding.beam, chosen["nbest"])
        return build(DecodingSettings, {**self.recipe.decoding.model_dump(), **chosen}, "decoding")

    @property
    def quick(self) -> dict[str, Any]:
        """A greedy search, for looks while training."""
        return {"beam": 1, "nbest": 1}

    def counted_by(self, examples: Sequence[Pair]) -> By:
        """What of examples is scored once, where nobody said."""
        return counted_by(examples)

    def outcome(
        self, examples: Sequence[Pair], most: int | None = None, by: By | None = None, **options: Any
    ) -> Texts:
        """Outputs for the sources of examples, beside the targets that stand there for them.

        Scored are lines or distinct sources, whichever `by` says or the examples look like.
        """
        asked = self.asked(examples, most, by)
        sources = list(dict.fromkeys(source for source, _ in asked))
        said = dict(zip(sources, self.decode(sources, scored=False, **options), strict=True))
        return Texts([Example(one.text, said[one][0].text, right) for one, right in asked], self.unit)

    def asked(
        self, examples: Sequence[Pair], most: int | None = None, by: By | None = None
    ) -> list[tuple[Source, tuple[str, ...]]]:
        """The sources of examples that are scored, each with the targets that stand there for it."""
        by = by or self.recipe.data.by or self.counted_by(examples)
        references: dict[Source, list[str]] = {}
        for one in examples:
            references.setdefault(Source(one.source, one.features), []).append(self._reference(one.target))
        lines = list(references) if by == "source" else [Source(one.source, one.features) for one in examples]
        step = -(-len(lines) // most) if most is not None else 1
        if by == "source":
            return [(source, tuple(references[source])) for source in lines[::step]]
        known = [(self._reference(one.target),) for one in examples[::step]]
        return list(zip(lines[::step], known, strict=True))

    def outcomes(
        self, examples: Sequence[Pair], most: int | None = None, **options: Any
    ) -> dict[str, Outcome]:
        """The outcome of the only target."""
        return {"target": self.outcome(examples, most, **options)}

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """The outputs with the most errors for their length, worst first."""
        assert isinstance(outcome, Texts)
        return [
            {"source": one.source, "output": one.output, "references": list(one.references)}
            for one in worst(outcome.examples, outcome.unit, count)
        ]

    def target_scores(self, examples: Iterable[Pair]) -> Iterator[float]:
        """The log-probability of the target of each example."""
        return self.score((one.source, one.target, one.features, one.into) for one in examples)

    def unknown(self, example: Pair) -> Counter[str]:
        """Pieces of an example that training never showed."""
        found = self.codec.source.unknown([example.source])
        return found + self.codec.features.unknown([example.features]) if self.codec.features else found

    def _reference(self, target: str) -> str:
        """A target as it is compared: between symbols there is one space."""
        return " ".join(filter(None, target.split(" "))) if self.unit == "symbols" else target

    def outcome_lengths(self, examples: Sequence[Pair], outcome: Outcome) -> list[int]:
        """How many tokens the source of each answer of an outcome has."""
        assert isinstance(outcome, Texts)
        return list(map(len, self.codec.source.encode_many([one.source for one in outcome.examples])))

    def source_length(self, example: Pair) -> int:
        """How many tokens the source of an example has."""
        return len(self.codec.source.encode(example.source))

    def score(self, pairs: Iterable[tuple[str, ...]]) -> Iterator[float]:
        """Log-probabilities of (source, target[, features[, name of the target]]), in order."""
        stream = iter(pairs)
        column, named = TargetText(self.target), bool(self.target.targets)
        columns = {"source": self.run.columns["source"], "target": column}
        while taken := list(islice(stream, self.own_loop.window)):
            tags = [pair[2] if len(pair) > 2 else "" for pair in taken]
            sources = self.source_rows([pair[0] for pair in taken], tags)
            into = [pair[3] if len(pair) > 3 else "" for pair in taken]
            targets = column.encode(
                [Pair(0, "", pair[1], "", into=name) for pair, name in zip(taken, into, strict=True)]
            )
            self.refuse_too_long("encoder", sources)
            self.refuse_too_long("decoder", [row[named:] for row in targets])
            scores = [0.0] * len(taken)
            longer = [s if len(s) > len(t) else t for s, t in zip(sources, targets, strict=True)]
            for rows in by_length(longer, range(len(taken)), self.recipe.decoding.batch_tokens):
                sides = {
                    name: column.collate([side[row] for row in rows])
                    for (name, column), side in zip(columns.items(), (sources, targets), strict=True)
                }
                batch = Batch(sides, np.asarray(rows)).to(self.device)
                for row, value in zip(rows, score_batch(self.network, batch).tolist(), strict=True):
                    scores[row] = value
            for seen in self.recordings:
                for pair, tag, target, name in zip(taken, tags, targets, into, strict=True):
                    seen.note(pair[0], tag, target[named:-1], into=name)
            yield from scores

    def attention(
        self,
        text: str,
        target: str | None = None,
        features: str = "",
        *,
        edits: Sequence[Edit] = (),
        donor: "TextModel | None" = None,
        rank: int = 1,
        into: str = "",
        **options: Any,
    ) -> View:
        """What every head looks at while the model says its own output, or a given target.

        With edits, the view also has what they changed. A donor lends the weights that are borrowed.
        `rank` chooses among several outputs (`nbest`), `into` among several targets; further options as
        under `decoding` in a recipe.
        """
        wanted = TextRequest(text, self.decoding(**options), features, target, rank, into)
        return self.lens.look(wanted, edits, self._lender(donor))

    def attribution(
        self,
        text: str,
        target: str | None = None,
        features: str = "",
        *,
        kind: str = "gradient",
        edits: Sequence[Edit] = (),
        into: str = "",
        **options: Any,
    ) -> Tensor:
        """What each source token did for each output token, by `gradient` or `occlusion`, (T, S)."""
        return self.lens.attribution(
            TextRequest(text, self.decoding(**options), features, target, into=into), kind, edits
        )

    @property
    def lens(self) -> TextLens:
        """What looks at this model."""
        return TextLens(self)

    @property
    def attributions(self) -> Sequence[str]:
        """The kinds of attribution that can be measured."""
        return tuple(ATTRIBUTIONS)

    def look(self, asked: LensRequest, edits: Sequence[Edit] = (), donor: "TextModel | None" = None) -> View:
        """The view of a text, with the effect of edits."""
        return self.lens.look(self._wanted(asked), edits, self._lender(donor))

    def attribute(
        self, asked: LensRequest, kind: str, edits: Sequence[Edit] = (), donor: "TextModel | None" = None
    ) -> Tensor:
        """What each source token did for each output token, (T, S)."""
        return self.lens.attribution(self._wanted(asked), kind, edits, self._lender(donor))

    def _lender(self, donor: object) -> TextLens | None:
        """What lends weights for a donor, if there is one."""
        if donor is None or isinstance(donor, TextModel):
            return donor.lens if donor is not None else None
        raise SettingsError(
            "a model that only reads has other rows, so it cannot lend weights to one that writes"
        )

    def most_tokens(self, texts: Sequence[str], features: str, target: str | None) -> int:
        """How many tokens the longest of some texts, or a target, has."""
        sources = self.codec.encode_sources(texts, [features] * len(texts))
        targets = self.codec.encode_targets([target]) if target is not None else []
        return max(map(len, [*sources, *targets]))

    def _wanted(self, asked: LensRequest) -> TextRequest:
        settings = self.decoding(beam=asked.beam)
        if asked.longest is not None:
            source = len(self.codec.encode_sources([asked.text], [asked.features])[0])
            limit = min(asked.longest, self.output_limit(source, settings))
            settings = self.decoding(beam=asked.beam, max_length=limit)
        return TextRequest(asked.text, settings, asked.features, asked.target, into=asked.into)
