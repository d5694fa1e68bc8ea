"""A trained model that goes on with a text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Passages
from seq2see.decoding import DecodingSettings, Hypothesis
from seq2see.decoding.bulk import by_length
from seq2see.errors import DataError, SettingsError
from seq2see.evaluation import Foretold, Outcome
from seq2see.goals.continuation import Ended, Pieces, Prompt, Said, Stops, write_on
from seq2see.goals.shown import Shown
from seq2see.goals.text_values import Output
from seq2see.goals.windows import take
from seq2see.layers.attention import Watch
from seq2see.lens.attribution import ATTRIBUTIONS
from seq2see.lens.edits import Edit
from seq2see.lens.request import LensRequest
from seq2see.lens.running_lens import RunningLens
from seq2see.lens.text_lens import TextRequest
from seq2see.lens.view import View
from seq2see.lens.watchers import Editor, check_addresses, check_for_any
from seq2see.models import DecoderOnly
from seq2see.models.settings import RecurrentDecoderSettings
from seq2see.run import Run
from seq2see.settings import build
from seq2see.text import Codec, Tokenizer

__all__ = ["Completer"]

_WINDOW = 256
"""Prompts that are gone on with together at the most."""
_TOGETHER = 4096
"""Tokens whose scores are worked out together."""
_SCORES = 1 << 26
"""Scores that are held at once: 256 MB."""
_LINES = 4096

_Numbers = npt.NDArray[np.float64]


class Completer(Shown):
    """A trained model that takes the beginning of a text, and gives what may follow."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.network.eval()

    @property
    def network(self) -> DecoderOnly:
        """The network, which reads and writes ids."""
        assert isinstance(self.run.network, DecoderOnly)
        return self.run.network

    @property
    def column(self) -> Passages:
        """What turns text into ids."""
        column = self.run.columns["target"]
        assert isinstance(column, Passages)
        return column

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary."""
        return self.column.tokenizer

    @property
    def context(self) -> int:
        """How many tokens training showed together."""
        return self.recipe.data.max_length

    def __call__(self, prompts: str | Sequence[str], **options: Any) -> Any:
        """Go on with prompts: one gives one text, a list gives a list. Options as under `decoding`."""
        listed = [prompts] if isinstance(prompts, str) else list(prompts)
        found = [outputs[0].text for outputs in self.decode(listed, **options)]
        return found[0] if isinstance(prompts, str) else found

    def decode(
        self,
        prompts: Iterable[str],
        ready: Callable[[], bool] = lambda: True,
        stop: Sequence[str] = (),
        edits: Sequence[Edit] = (),
        **options: Any,
    ) -> Iterator[list[Output]]:
        """Each prompt with what follows it, as many times as `nbest` says, in the order of the prompts.

        `max_length` counts new tokens; by default as many as training showed together. An output ends
        before the first of the texts to `stop` at. With edits, attention is changed as they say.
        """
        settings, stops, stream, done = self.decoding(**options), self._stops(stop), iter(prompts), 0
        while taken := take(stream, _WINDOW, ready):
            rows = self.tokenizer.encode_many(taken)
            found: dict[int, list[Output]] = {}
            for places in by_length(rows, range(len(rows)), settings.batch_tokens // _width(settings)):
                texts = [self._prompt(rows[place], done + place, settings) for place in places]
                events = write_on(
                    self.network,
                    texts,
                    settings,
                    self._window,
                    stops,
                    watch=self._editor(edits),
                    begins=self.recipe.text.begins,
                )
                for event in events:
                    assert isinstance(event, Ended)
                    place = places[event.place]
                    found[place] = [
                        self._output(taken[place], rows[place], one, stops) for one in event.outputs
                    ]
            yield from (found[place] for place in range(len(rows)))
            done += len(taken)

    def stream(
        self,
        prompt: str,
        stop: Sequence[str] = (),
        edits: Sequence[Edit] = (),
        key: int = 0,
        **options: Any,
    ) -> Iterator[str]:
        """What follows a prompt, in pieces that come as soon as they are written."""
        settings, stops = self.decoding(**options), self._stops(stop)
        if _width(settings) > 1:
            raise SettingsError(
                "text is told as it is written only where nothing is taken back; leave beam and nbest at 1"
            )
        ids = self.tokenizer.encode(prompt)
        pieces, told = Pieces(self.tokenizer, stops), ""
        text, watch = self._prompt(ids, key, settings), self._editor(edits)
        begins = self.recipe.text.begins
        for event in write_on(self.network, [text], settings, self._window, stops, True, watch, begins):
            if isinstance(event, Said):
                piece = pieces.add(event.token)
            else:
                whole = self._output(prompt, ids, event.outputs[0], stops).text
                piece = whole[len(prompt) + len(told) :]
            told += piece
            if piece:
                yield piece

    def _editor(self, edits: Sequence[Edit]) -> Editor | None:
        """What changes attention as edits say, which must make sense for any text."""
        check_addresses(edits, self.network)
        check_for_any(edits)
        return Editor(edits, searching=True) if edits else None

    def _prompt(self, ids: Sequence[int], key: int, settings: DecodingSettings) -> Prompt:
        return Prompt(tuple(ids), settings.max_length or self.context, key)

    @property
    def _window(self) -> int | None:
        """How many tokens the model sees together; a recurrent one carries a state on and on."""
        recurrent = isinstance(self.recipe.model.decoder, RecurrentDecoderSettings)
        return None if recurrent else self.context

    def _stops(self, texts: Sequence[str]) -> Stops | None:
        if "" in texts:
            raise SettingsError("an empty text to stop at would end every output at once; leave it out")
        return Stops(texts, self.tokenizer) if texts else None

    def _output(self, prompt: str, ids: Sequence[int], found: Hypothesis, stops: Stops | None) -> Output:
        """A prompt as it was given, with what follows."""
        new = self.tokenizer.decode(found.ids)
        text = prompt + (stops.cut(new) if stops is not None else new)
        return Output(text, (*ids, *found.ids), found.log_probability, found.score, found.cut)

    def decoding(self, **options: Any) -> DecodingSettings:
        """The recipe's way of decoding with some options changed; who asks for a beam wants no samples."""
        chosen = {name: value for name, value in options.items() if value is not None}
        if "beam" in chosen and not chosen.get("sample"):
            chosen = {"sample": False, "temperature": 1.0, "top_k": None, "top_p": None, **chosen}
        return build(DecodingSettings, {**self.recipe.decoding.model_dump(), **chosen}, "decoding")

    @property
    def quick(self) -> dict[str, Any]:
        """Every token once, in windows side by side."""
        return {"stride": self.context}

    def outcome(
        self,
        examples: Sequence[Pair],
        most: int | None = None,
        stride: int | None = None,
        edits: Sequence[Edit] = (),
        **options: Any,
    ) -> Foretold:
        """How well each passage of a text is foretold; of many passages the first `most` are taken.

        Every token is counted once. It is told from at least `context` - `stride` tokens before it, where
        the text has as many; by default the stride is half of the context.
        """
        if given := [name for name, value in options.items() if value is not None]:
            raise SettingsError(f"--{given[0].split('_')[0]} is for outputs that are searched; leave it out")
        chosen = examples[:most]
        nats, tokens = self._passages(chosen, stride or -(-self.context // 2), self._editor(edits))
        return Foretold(nats, tokens, np.array([len(one.target) for one in chosen]))

    def outcomes(
        self, examples: Sequence[Pair], most: int | None = None, **options: Any
    ) -> dict[str, Outcome]:
        """The outcome of the text."""
        return {"target": self.outcome(examples, most, **options)}

    def _passages(
        self, examples: Sequence[Pair], stride: int, watch: Watch | None = None
    ) -> tuple[_Numbers, npt.NDArray[np.int64]]:
        """Nats and the number of tokens of each passage of a text."""
        rows = self.column.encode(examples)
        ids = np.fromiter((one for row in rows for one in row), np.int64)
        offsets = np.cumsum([0, *map(len, rows)])
        told = ids != self.tokenizer.special.begin
        scores = self._scores(ids, stride, watch)
        sums = [np.concatenate([[0], np.cumsum(part)]) for part in (-scores * told, told)]
        nats, tokens = (part[offsets[1:]] - part[offsets[:-1]] for part in sums)
        return nats, tokens.astype(np.int64)

    @torch.inference_mode()
    def _scores(self, ids: npt.NDArray[np.int64], stride: int, watch: Watch | None) -> _Numbers:
        """The log-probability of each token of a text, from windows of which each tells `stride` more."""
        context = self.context
        found = np.zeros(len(ids))
        ends = [context, *range(context + stride, len(ids) + stride, stride)]
        size = max(1, min(_TOGETHER, _SCORES // self.tokenizer.size) // context)
        for first in range(0, len(ends), size):
            here = [(end - context, min(end, len(ids))) for end in ends[first : first + size]]
            values = self.column.collate([ids[start:end] for start, end in here]).values.to(self.device)
            logits = self.network.logits(values[:, :-1], watch).float().log_softmax(-1)
            scores = logits.gather(2, values[:, 1:, None])[..., 0].double().cpu().numpy()
            for (start, end), row in zip(here, scores, strict=True):
                fresh = 0 if start == 0 else context - stride
                found[start + fresh : end] = row[fresh : end - start]
        return found

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """The passages that were foretold worst."""
        assert isinstance(outcome, Foretold)
        bits = outcome.nats / np.log(2) / np.maximum(outcome.characters, 1)
        return [
            {
                "line": examples[place].line,
                "bits_per_character": float(bits[place]),
                "text": examples[place].target,
            }
            for place in np.argsort(-bits, kind="stable")[:count]
        ]

    def target_scores(self, examples: Iterable[Pair]) -> Iterator[float]:
        """The log-probability of each passage, given the text before it."""
        stream = iter(examples)
        while taken := list(islice(stream, _LINES)):
            yield from (-self._passages(taken, -(-self.context // 2))[0]).tolist()

    def unknown(self, example: Pair) -> Counter[str]:
        """Pieces of a prompt that training never showed."""
        return self.tokenizer.unknown([example.source])

    def outcome_lengths(self, examples: Sequence[Pair], outcome: Outcome) -> list[int]:
        """How many tokens each passage has."""
        return list(map(len, self.column.encode(examples)))

    def source_length(self, example: Pair) -> int:
        """How many tokens a prompt has."""
        return len(self.tokenizer.encode(example.source))

    def most_tokens(self, texts: Sequence[str], features: str, target: str | None) -> int:
        """How many tokens the longest of some texts has."""
        return max(map(len, self.tokenizer.encode_many([*texts, *([target] if target is not None else [])])))

    @property
    def codec(self) -> Codec:
        """What the lens reads texts with."""
        return Codec(self.tokenizer, self.tokenizer, begins=self.recipe.text.begins)

    @property
    def lens(self) -> RunningLens:
        """What looks at this model."""
        return RunningLens(self)

    @property
    def attributions(self) -> Sequence[str]:
        """The kinds of attribution that can be measured."""
        return tuple(ATTRIBUTIONS)

    def attention(
        self,
        text: str,
        target: str | None = None,
        *,
        edits: Sequence[Edit] = (),
        donor: "Completer | None" = None,
        **options: Any,
    ) -> View:
        """What every head looks at while the model reads a text and goes on with it, or with a given target.

        With edits, the view also has what they changed. A donor lends the weights that are borrowed. The
        likeliest tokens follow, unless options as under `decoding` in a recipe say otherwise.
        """
        wanted = TextRequest(text, self.decoding(**{"beam": 1, **options}), target=target)
        return self.lens.look(wanted, edits, self._lender(donor))

    def attribution(
        self,
        text: str,
        target: str | None = None,
        *,
        kind: str = "gradient",
        edits: Sequence[Edit] = (),
        **options: Any,
    ) -> Tensor:
        """What each token that was read did for each that was foretold, by `gradient` or `occlusion`."""
        wanted = TextRequest(text, self.decoding(**{"beam": 1, **options}), target=target)
        return self.lens.attribution(wanted, kind, edits)

    def look(self, asked: LensRequest, edits: Sequence[Edit] = (), donor: Any = None) -> View:
        """The view of a text and what follows it, with the effect of edits."""
        return self.lens.look(self._wanted(asked), edits, self._lender(donor))

    def attribute(
        self, asked: LensRequest, kind: str, edits: Sequence[Edit] = (), donor: Any = None
    ) -> Tensor:
        """What each token that was read did for each that was foretold, (T, T)."""
        return self.lens.attribution(self._wanted(asked), kind, edits, self._lender(donor))

    def _wanted(self, asked: LensRequest) -> TextRequest:
        settings = self.decoding(beam=asked.beam or 1)
        if asked.longest is not None:
            room = max(1, asked.longest - len(self.tokenizer.encode(asked.text)))
            settings = self.decoding(beam=asked.beam or 1, max_length=min(room, self.context))
        return TextRequest(asked.text, settings, target=asked.target)

    def _lender(self, donor: object) -> RunningLens | None:
        """What lends weights for a donor, if there is one."""
        if donor is None or isinstance(donor, Completer):
            return donor.lens if donor is not None else None
        raise SettingsError("weights can be lent only by another model that goes on with a text")

    def output_limit(self, length: int, settings: DecodingSettings, forced: int = 0) -> int:
        """The most tokens of a text that is looked at, its prompt counted: what the model sees together."""
        wanted = forced + (settings.max_length or self.context)
        return wanted if self._window is None else max(forced + 1, min(wanted, self._window))

    def refuse_too_long(self, side: Literal["encoder", "decoder"], rows: Iterable[Sequence[int]]) -> None:
        """Refuse texts of more tokens than the model has positions for."""
        limit = self.recipe.model.length_limit("decoder")
        longest = max(map(len, rows), default=0)
        if limit is not None and longest > limit:
            raise DataError(
                f"a text has {longest:,} tokens, and the positions of this model end at {limit:,}; "
                "look at a part of it"
            )


def _width(settings: DecodingSettings) -> int:
    """Rows that each prompt has."""
    return settings.nbest if settings.sample else settings.beam
