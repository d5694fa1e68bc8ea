"""A run directory: its recipe, tokenizers and weights together, ready to use."""

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from seq2see.data.batches import Batch, pad
from seq2see.decoding import DecodingSettings, Hypothesis
from seq2see.decoding import score as score_batch
from seq2see.decoding.bulk import by_length, search_all
from seq2see.decoding.threads import one_thread
from seq2see.errors import DataError, RunError, SettingsError
from seq2see.evaluation import Unit
from seq2see.lens.edits import Edit
from seq2see.lens.looking import Lens, Recording, Wanted
from seq2see.lens.view import View
from seq2see.lens.watching import Editor, check_addresses, check_for_any
from seq2see.models import Seq2Seq
from seq2see.models.weights import load_weights, read_tensors
from seq2see.recipe import Recipe, read_recipe
from seq2see.settings import build
from seq2see.text import BEGIN, SPECIAL, Codec

__all__ = ["Engine", "Model", "Output", "Source", "device_of", "load", "network_of", "record"]

_WINDOW = 4096
_AHEAD = 1
"""Windows that an engine has in hand beyond that which is waited for, so that it is never idle."""
_ENGINE_WINDOW = 1024
"""What an engine has in hand it finishes, even after Ctrl-C: enough to sort, no more."""


class Engine(Protocol):
    """Searches in place of our own loop, where it can; several windows at a time."""

    def takes(self, settings: DecodingSettings, forced: Sequence[int]) -> bool:
        """Whether it can decode this way."""

    def start(
        self,
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        settings: DecodingSettings,
        scored: bool,
    ) -> Callable[[], list[list[Hypothesis] | None]]:
        """Begin; what comes back waits for the hypotheses, None where our own loop has to find them."""


@dataclass(frozen=True)
class Source:
    """What is to be decoded."""

    text: str
    features: str = ""


@dataclass(frozen=True)
class Output:
    """A decoded text with its log-probability and the score it was ranked by (NaN where not asked for)."""

    text: str
    ids: tuple[int, ...]
    log_probability: float
    score: float
    cut: bool
    """Whether it ran into the length limit."""


@contextmanager
def record(model: "Model") -> Iterator[Recording]:
    """Record all that a model decodes or scores: `with record(model) as seen: model("word")`.

    The calls themselves are left as they are: they cost no more, and give the same. The weights come from
    a pass over the same source and target when a view is asked for.
    """
    seen = Recording(model.lens, model.decoding())
    model.recordings.append(seen)
    try:
        yield seen
    finally:
        model.recordings.remove(seen)


class Model:
    """A trained model that takes and gives text."""

    def __init__(self, recipe: Recipe, codec: Codec, network: Seq2Seq, about: dict[str, Any]) -> None:
        self.recipe = recipe
        self.codec = codec
        self.network = network.eval()
        self.about = about
        self.engine: Engine | None = None
        self.recordings: list[Recording] = []

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.network.parameters()).device

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
        **options: Any,
    ) -> Iterator[list[Output]]:
        """Outputs of a stream of sources, best first, in the order of the sources.

        A stream is taken in windows that grow, sorted by length inside, so that the first outputs
        come soon and the rest come fast. A window also ends where `ready` says that the next source
        would have to be waited for. Unless they are `scored`, outputs of a greedy search have no
        log-probabilities, which would cost as much as half of the search. Edits are those that make
        sense for any source.
        """
        settings = self.decoding(**options)
        forced = self._prefix(prefix) if prefix else []
        fits = self.engine is not None and not edits and self.engine.takes(settings, forced)
        engine = self.engine if fits else None
        check_addresses(edits, self.network)
        check_for_any(edits)
        stream = iter(sources)
        size, done = _WINDOW if isinstance(sources, Sequence) else 16, 0
        started: deque[tuple[list[Source], Callable[[], list[list[Output]]]]] = deque()
        while taken := _take(stream, size, ready):
            if engine is None:
                found = self._window(taken, settings, forced, done, scored, edits)
                yield from self._noted(taken, found, edits)
            else:
                started.append((taken, self._start(engine, taken, settings, done, scored)))
            done += len(taken)
            size = min(_WINDOW, size * 4) if engine is None else min(_ENGINE_WINDOW, size * 16)
            while len(started) > _AHEAD or (started and not ready()):
                given, wait = started.popleft()
                yield from self._noted(given, wait())
        for given, wait in started:
            yield from self._noted(given, wait())

    def _noted(
        self, sources: Sequence[Source], found: list[list[Output]], edits: Sequence[Edit] = ()
    ) -> list[list[Output]]:
        """Outputs, which those who record have taken note of."""
        for seen in self.recordings:
            for source, outputs in zip(sources, found, strict=True):
                for output in outputs if source.text.strip() or source.features else ():
                    seen.note(source.text, source.features, output.ids, edits)
        return found

    def _prefix(self, text: str) -> list[int]:
        if unknown := self.codec.target.unknown([text]):
            raise SettingsError(
                f"the prefix holds {', '.join(map(repr, unknown))}, which training never showed"
            )
        return self.codec.target.encode(text)

    def decoding(self, **options: Any) -> DecodingSettings:
        """The recipe's way of decoding with some options changed."""
        chosen = {name: value for name, value in options.items() if value is not None}
        if "nbest" in chosen and "beam" not in chosen:
            chosen["beam"] = max(self.recipe.decoding.beam, chosen["nbest"])
        return build(DecodingSettings, {**self.recipe.decoding.model_dump(), **chosen}, "decoding")

    def score(self, pairs: Iterable[tuple[str, ...]]) -> Iterator[float]:
        """Log-probabilities of (source, target) or (source, target, features), in order."""
        stream = iter(pairs)
        while taken := list(islice(stream, _WINDOW)):
            tags = [pair[2] if len(pair) > 2 else "" for pair in taken]
            sources = self.codec.encode_sources([pair[0] for pair in taken], tags)
            targets = self.codec.encode_targets([pair[1] for pair in taken])
            self._refuse_too_long("encoder", sources)
            self._refuse_too_long("decoder", targets)
            scores = [0.0] * len(taken)
            longer = [s if len(s) > len(t) else t for s, t in zip(sources, targets, strict=True)]
            for rows in by_length(longer, range(len(taken)), self.recipe.decoding.batch_tokens):
                batch = Batch(
                    pad([sources[row] for row in rows]),
                    pad([targets[row] for row in rows], before=BEGIN),
                    np.asarray(rows),
                ).to(self.device)
                for row, value in zip(rows, score_batch(self.network, batch).tolist(), strict=True):
                    scores[row] = value
            for seen in self.recordings:
                for pair, tag, target in zip(taken, tags, targets, strict=True):
                    seen.note(pair[0], tag, target[:-1])
            yield from scores

    def attention(
        self,
        text: str,
        target: str | None = None,
        features: str = "",
        *,
        edits: Sequence[Edit] = (),
        donor: "Model | None" = None,
        rank: int = 1,
        **options: Any,
    ) -> View:
        """What every head looks at while the model says its own output, or a given target.

        With edits, the view also has what they changed. A donor lends the weights that are borrowed.
        `rank` chooses among several outputs (`nbest`); further options as under `decoding` in a recipe.
        """
        wanted = Wanted(text, self.decoding(**options), features, target, rank)
        return self.lens.look(wanted, edits, donor.lens if donor is not None else None)

    def attribution(
        self,
        text: str,
        target: str | None = None,
        features: str = "",
        *,
        kind: str = "gradient",
        edits: Sequence[Edit] = (),
        **options: Any,
    ) -> Tensor:
        """What each source token did for each output token, by `gradient` or `occlusion`, (T, S)."""
        return self.lens.attribution(Wanted(text, self.decoding(**options), features, target), kind, edits)

    @property
    def lens(self) -> Lens:
        """What looks at this model."""
        return Lens(self.network, self.codec, self._refuse_too_long, self.output_limit)

    def _window(
        self,
        sources: Sequence[Source],
        settings: DecodingSettings,
        forced: list[int],
        first: int,
        scored: bool,
        edits: Sequence[Edit] = (),
    ) -> list[list[Output]]:
        ids = self.codec.encode_sources([s.text for s in sources], [s.features for s in sources])
        self._refuse_too_long("encoder", ids)
        full = [row for row, source in enumerate(sources) if source.text.strip() or source.features]
        found = search_all(
            self.network,
            [ids[row] for row in full],
            [self.output_limit(len(ids[row]), settings, len(forced)) for row in full],
            settings,
            forced,
            [first + row for row in full],
            scored,
            partial(Editor, edits, searching=True) if edits else None,
        )
        # An empty line has an empty output, so that lines stay aligned.
        outputs = [[Output("", (), 0.0, 0.0, False)] for _ in sources]
        for row, hypotheses in zip(full, found, strict=True):
            outputs[row] = self._outputs(hypotheses)
        return outputs

    def _start(
        self,
        engine: Engine,
        sources: Sequence[Source],
        settings: DecodingSettings,
        first: int,
        scored: bool,
    ) -> Callable[[], list[list[Output]]]:
        """Give a window to an engine; what comes back waits for its outputs."""
        ids = self.codec.encode_sources([s.text for s in sources], [s.features for s in sources])
        self._refuse_too_long("encoder", ids)
        full = [row for row, source in enumerate(sources) if source.text.strip() or source.features]
        limit = {length: self.output_limit(length, settings, 0) for length in {len(ids[row]) for row in full}}
        limits = [limit[len(ids[row])] for row in full]
        wait = engine.start([ids[row] for row in full], limits, settings, scored)

        def finish() -> list[list[Output]]:
            found = dict(zip(full, wait(), strict=True))
            # What the engine leaves open, and the empty lines, are for our own loop.
            rest = [row for row in range(len(sources)) if found.get(row) is None]
            with one_thread():
                own = self._window([sources[row] for row in rest], settings, [], first, scored)
            outputs = {row: self._outputs(one) for row, one in found.items() if one is not None}
            outputs |= zip(rest, own, strict=True)
            return [outputs[row] for row in range(len(sources))]

        return finish

    def _outputs(self, hypotheses: Iterable[Hypothesis]) -> list[Output]:
        tell = self.codec.target.decode
        return [Output(tell(one.ids), one.ids, one.log_probability, one.score, one.cut) for one in hypotheses]

    def output_limit(self, length: int, settings: DecodingSettings, forced: int = 0) -> int:
        """The most tokens of an output: generous by the training pairs, never far past the longest."""
        likely = math.ceil(1.5 * self.about["length_ratio"] * length) + 10 + forced
        limit = settings.max_length or min(likely, 2 * self.about["longest_target"] + 10 + forced)
        limit = int(min(limit, self.recipe.model.places("decoder") or math.inf))
        if forced >= limit:
            raise SettingsError(
                f"a prefix of {forced} tokens leaves no room in an output of at most {limit}; "
                "shorten the prefix, or raise --max-length"
            )
        return limit

    def _refuse_too_long(self, side: Literal["encoder", "decoder"], rows: Iterable[Sequence[int]]) -> None:
        places = self.recipe.model.places(side)
        longest = max(map(len, rows), default=0)
        if places is not None and longest > places:
            raise DataError(
                f"a line has {longest:,} tokens, and the places of this model end at {places:,}; "
                f"split the line, or train with {self.recipe.model.without_end(side)}"
            )


def load(folder: str | Path, device: str = "auto") -> Model:
    """Load a run directory."""
    folder = Path(folder)
    if not folder.is_dir():
        raise RunError(f"there is no run directory {folder}; 'seq2see train' makes one")
    if not (folder / "recipe.yaml").exists():
        raise RunError(f"{folder} is not a run directory: it has no recipe.yaml")
    recipe = read_recipe(folder / "recipe.yaml")
    codec = Codec.load(folder / "tokenizers")
    network = network_of(recipe, codec)
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise RunError(
            f"{folder} has no weights yet: training has not reached its first look at the dev set; "
            "go on with 'seq2see train --resume'"
        )
    load_weights(network, read_tensors(weights)[0], str(weights))
    return Model(recipe, codec, network.to(device_of(device)), read_about(folder))


def network_of(recipe: Recipe, codec: Codec) -> Seq2Seq:
    """The untrained network of a recipe."""
    copies = codec.copies() if recipe.model.pointer else None
    if copies is not None and not any(place >= len(SPECIAL) for place in copies):
        raise SettingsError(
            "model.pointer copies tokens that both sides have, and these pairs have none in common; "
            "leave it out, or cut both sides alike (text.source.kind, text.target.kind)"
        )
    return Seq2Seq(recipe.model, codec.source_size, codec.target_size, copies)


def read_about(folder: Path) -> dict[str, Any]:
    """What is known of the pairs a run was trained on."""
    try:
        return dict(json.loads((folder / "data.json").read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise RunError(f"{folder / 'data.json'} cannot be read: {error}") from None


def device_of(name: str) -> torch.device:
    """A device by name; "auto" takes a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        raise SettingsError(
            f"device {name!r} is not to be had on this machine; try 'auto' or 'cpu'"
        ) from None
    return device


def _take(stream: Iterator[Source], size: int, ready: Callable[[], bool]) -> list[Source]:
    taken: list[Source] = []
    for source in stream:
        taken.append(source)
        if len(taken) == size or not ready():
            break
    return taken
