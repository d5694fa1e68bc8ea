"""CTranslate2, a fast runtime for Transformers, as the one who searches for outputs.

It does the same arithmetic as our own loop with less around it. What it cannot say as our loop would
goes back to our loop: an output that reached its length limit, or holds a symbol that is never to be written.
"""

import importlib.util
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from seq2see.decoding import DecodingSettings, Hypothesis
from seq2see.decoding.engine import Work
from seq2see.decoding.filters import never_chosen
from seq2see.engines.export import SIDES, misfit, source_names, table_places, target_names, write_model
from seq2see.engines.stored import exported
from seq2see.errors import RunError
from seq2see.goals.text_model import TextModel
from seq2see.text import STANDARD

__all__ = ["CTranslate2", "installed", "misfit", "refusal"]

_ROWS = 128
"""Rows of a batch, those of its beams and one more for each source: more pays little, and evens out less."""
_NEVER = frozenset(never_chosen(STANDARD))
_UNSCORED = (math.nan,)


def installed() -> bool:
    """Whether CTranslate2 is at hand."""
    return importlib.util.find_spec("ctranslate2") is not None


def refusal(settings: DecodingSettings, prefix: bool = False) -> str | None:
    """What of a way of decoding CTranslate2 cannot do as our own loop does it, if there is something."""
    unable = {
        "sampling": settings.sample,
        "hard attention": settings.hard_attention,
        "a prefix": prefix,
    }
    return next((name for name, asked in unable.items() if asked), None)


class CTranslate2:
    """Searches with CTranslate2: one worker for each thread that PyTorch would use."""

    window = 1024
    """What it has in hand it finishes, even after Ctrl-C: enough to sort, no more."""
    ahead = 1

    def __init__(self, model: TextModel, folder: Path, int8: bool = False) -> None:
        self._compute = "int8" if int8 else "float32"
        self._workers = torch.get_num_threads()
        self._places = {side: table_places(model, side) for side in SIDES}
        self._source = source_names(model.codec)
        self._target_names = target_names(model.codec)
        self._target = {name: place for place, name in enumerate(self._target_names)}
        self._translator = self._load(model, folder / "engines" / "ctranslate2")

    def __str__(self) -> str:
        kept = "" if self._kept else "; its export is not kept, as the run directory cannot be written"
        return f"ctranslate2 ({self._compute}){kept}"

    def takes(self, work: Work) -> bool:
        """Whether this way of decoding gives what our own loop would."""
        return work.watching is None and not work.firsts and refusal(work.settings, bool(work.prefix)) is None

    def start(self, work: Work) -> Callable[[], list[list[Hypothesis] | None]]:
        """Begin to search; what comes back waits for the hypotheses, None where our loop has to say them."""
        sources, limits, settings, scored = work.sources, work.limits, work.settings, work.scored
        fitting = [
            row
            for row, (ids, limit) in enumerate(zip(sources, limits, strict=True))
            if len(ids) <= self._places["encoder"] and limit <= self._places["decoder"]
        ]
        fitting.sort(key=lambda row: -len(sources[row]))
        each = min(max(1, _ROWS // (settings.beam + 1)), -(-len(fitting) // self._workers)) or 1
        waiting: list[tuple[int, Any]] = []
        for start in range(0, len(fitting), each):
            rows = fitting[start : start + each]
            waiting += zip(rows, self._submit(rows, sources, limits, settings, scored), strict=True)

        def finish() -> list[list[Hypothesis] | None]:
            found: list[list[Hypothesis] | None] = [None] * len(sources)
            cut: dict[int, tuple[int, ...]] = {}
            for row, future in waiting:
                result = future.result()
                found[row] = self._hypotheses(result, limits[row], settings)
                if found[row] is None and settings.beam == 1:
                    cut[row] = tuple(map(self._target.__getitem__, result.hypotheses[0][: limits[row] - 1]))
            for row in [row for row, ids in cut.items() if not _NEVER.isdisjoint(ids)]:
                del cut[row]
            totals = self._score([sources[row] for row in cut], list(cut.values()), scored)
            for (row, ids), total in zip(cut.items(), totals, strict=True):
                score = total / limits[row] ** settings.length_penalty
                found[row] = [Hypothesis(ids, total, score, cut=True)]
            return found

        return finish

    def _submit(
        self,
        rows: Sequence[int],
        sources: Sequence[Sequence[int]],
        limits: Sequence[int],
        settings: DecodingSettings,
        scored: bool,
    ) -> list[Any]:
        name = self._source.__getitem__
        futures: list[Any] = self._translator.translate_batch(
            [[*map(name, sources[row])] for row in rows],
            asynchronous=True,
            beam_size=settings.beam,
            num_hypotheses=settings.nbest,
            length_penalty=_penalty(settings),
            patience=_patience(settings),
            return_scores=scored or settings.beam > 1,
            return_end_token=True,
            max_input_length=0,
            max_decoding_length=max(limits[row] for row in rows),
            min_decoding_length=0,
        )
        return futures

    def _hypotheses(self, result: Any, limit: int, settings: DecodingSettings) -> list[Hypothesis] | None:
        """What was found for one source, unless our own loop would have said something else."""
        found = []
        for tokens, score in zip(result.hypotheses, result.scores or _UNSCORED, strict=True):
            length = len(tokens)
            ids = tuple(map(self._target.__getitem__, tokens))
            if length > limit or ids[-1] != STANDARD.end or not _NEVER.isdisjoint(ids):
                return None
            total = score * length ** _penalty(settings)
            found.append(
                Hypothesis(ids[:-1], total, total / length**settings.length_penalty, length == limit)
            )
        return found

    def _score(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], scored: bool
    ) -> list[float]:
        """Log-probabilities of whole outputs, the end symbol counted."""
        if not scored or not targets:
            return [math.nan] * len(targets)
        results = self._translator.score_batch(
            [[*map(self._source.__getitem__, ids)] for ids in sources],
            [[*map(self._target_names.__getitem__, ids)] for ids in targets],
            max_batch_size=_ROWS,
            max_input_length=0,
        )
        return [sum(one.log_probs) for one in results]

    def _load(self, model: TextModel, place: Path) -> Any:
        import ctranslate2

        def load(folder: Path) -> Any:
            return ctranslate2.Translator(
                str(folder),
                compute_type=self._compute,
                inter_threads=self._workers,
                intra_threads=1,
                max_queued_batches=-1,
            )

        def write(folder: Path) -> None:
            write_model(model.network, model.codec, self._places, folder)

        with exported(model, place, write) as folder:
            self._kept = folder.parent == place
            try:
                return load(folder)
            except RuntimeError as error:
                raise RunError(
                    f"ctranslate2 cannot load {folder} ({error}); remove it, or give --engine torch"
                ) from None


def _penalty(settings: DecodingSettings) -> float:
    """The penalty of lengths that gives what our own loop would; a greedy search ranks nothing.

    Without any penalty the search ends with the best output, and the others of an n-best list would be
    what it had by then: one too small to change a rank lets it go on.
    """
    if settings.beam == 1:
        return 0.0
    return settings.length_penalty or (1e-6 if settings.nbest > 1 else 0.0)


def _patience(settings: DecodingSettings) -> float:
    """The search ends with so many times the beam of finished outputs; with few, better ones are missed.

    A penalty lets long outputs win, which are the last to finish.
    """
    return 4.0 if settings.length_penalty else 2.0
