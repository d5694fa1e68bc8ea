"""The examples of a recipe, made ready: surveyed, split and encoded."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from seq2see.data import BadLines, Pair, PairFile, Problem
from seq2see.data.batches import Batches, Stream
from seq2see.data.columns import SourceText, TargetText
from seq2see.data.encoded import Encoded, cache_folder, encode, key_of
from seq2see.data.image_file import ImageFile
from seq2see.data.images import BadImageError
from seq2see.data.kinds import guess_goal, opener
from seq2see.data.settings import DataSettings
from seq2see.data.several import every
from seq2see.data.survey import SKIPPING, Split, Survey, Tail, split, survey, tail
from seq2see.data.windows import Windows
from seq2see.errors import DataError
from seq2see.goals import Columns, Goal, goal_named
from seq2see.recipe import Recipe
from seq2see.run import DataFacts

__all__ = ["Corpus", "Files", "checked_file", "goal_of", "open_files"]

_LEARN_FROM = 1_000_000
"""Vocabularies are learnt from an even sample of at most so many examples."""
_FLOOR_FROM = 20_000
"""Training examples that a floor is made of."""
_DEV_MOST = 1000
_DEV_PAIRS = 20_000


def goal_of(settings: DataSettings) -> tuple[str, str]:
    """What the training file looks as if it was meant for, and why."""
    opens = ImageFile if settings.images is not None else PairFile
    file = opens(settings.train, settings, training=True)
    _refuse_pipes(file)
    return guess_goal(file)


def checked_file(name: str, settings: DataSettings, goal: Goal, training: bool = False) -> PairFile:
    """A file whose examples are checked for what a goal needs of them."""
    numbers = list(map(str, settings.numbers))
    return opener(goal.examples, settings)(
        name, settings, training=training, check=lambda example: goal.examples.problem(example, numbers)
    )


@dataclass(frozen=True)
class Files:
    """The training file after one look at all of it, and where its dev examples come from."""

    train: PairFile
    found: Survey
    dev: PairFile | None
    dev_found: Survey | None
    held_out: Split | Tail | None
    bad_lines: BadLines

    def train_pairs(self) -> Iterator[Pair]:
        """The examples to train on, in the order of the file."""
        for place, pair in enumerate(self.found.examples):
            if self.held_out is None or not self.held_out.holds_out(pair, place):
                yield pair

    def some_train_pairs(self, most: int) -> Iterator[Pair]:
        """An even sample of the examples to train on."""
        return every(self.train_pairs(), -(-self.found.count // most))

    def dev_pairs(self) -> list[Pair]:
        """The examples to look at now and then; of a very large dev file an even sample, or its beginning."""
        if self.dev_found is not None and self.train.running:
            return list(islice(self.dev_found.examples, _DEV_MOST))
        if self.dev_found is not None:
            return list(every(self.dev_found.sample, -(-len(self.dev_found.sample) // _DEV_PAIRS)))
        assert self.held_out is not None
        kept = enumerate(self.found.examples)
        return [pair for place, pair in kept if self.held_out.holds_out(pair, place)]

    def fingerprint(self) -> str:
        """A digest of all that decides which examples there are."""
        parts = [self.train.fingerprint(), str(self.held_out), str(self.bad_lines)]
        return "|".join(parts + ([self.dev.fingerprint()] if self.dev else []))

    @contextmanager
    def refusing_images(self) -> Iterator[None]:
        """Images that turn out to be damaged when they are decoded are refused as other bad lines are."""
        try:
            yield
        except BadImageError:
            for file in (self.train, self.dev):
                if isinstance(file, ImageFile) and _has_bad(file):
                    raise file.refusal(SKIPPING) from None
            raise


def open_files(settings: DataSettings, seed: int, goal: Goal) -> Files:
    """Read the files through once; anything that cannot be used is refused here."""
    train = checked_file(settings.train, settings, goal, training=True)
    dev = checked_file(settings.dev, settings, goal) if settings.dev is not None else None
    for file in (train, *([dev] if dev else [])):
        _refuse_pipes(file)
        if isinstance(file, ImageFile) and settings.bad_lines == "refuse":
            file.looks_at = "header"  # pixels are decoded once, when they are encoded
    found = survey(train, settings.bad_lines)
    if dev is not None:
        return Files(train, found, dev, survey(dev, settings.bad_lines), None, settings.bad_lines)
    held_out: Split | Tail = (
        tail(found, settings.dev_share, _DEV_MOST)
        if train.running
        else split(found, settings.dev_share, _DEV_MOST, seed, train.named)
    )
    return Files(train, found, None, None, held_out, settings.bad_lines)


def _has_bad(file: ImageFile) -> bool:
    file.looks_at = "pixels"
    return any(isinstance(item, Problem) and item.fatal for item in file)


def _refuse_pipes(file: PairFile) -> None:
    for path in file.paths:
        if path.is_fifo():
            raise DataError(
                f"{path} is a pipe, and training reads its files more than once; pipe it in with -"
            )


@dataclass(frozen=True)
class Corpus:
    """Everything that training needs of the data."""

    columns: Columns
    running: bool
    train: Encoded
    dev: Encoded
    dev_pairs: list[Pair]
    facts: DataFacts
    some_train_pairs: list[Pair]
    """An even sample of the training examples."""

    @classmethod
    def prepare(
        cls,
        files: Files,
        recipe: Recipe,
        columns: Columns | None,
        progress: Callable[[int], None] | None = None,
        known: Columns | None = None,
    ) -> "Corpus":
        """Learn the columns, unless they are given, and encode both sets; `known` is kept of another run."""
        goal = goal_named(recipe.goal)
        if columns is None:
            examples = partial(files.some_train_pairs, _LEARN_FROM)
            columns = goal.learn(recipe, examples, known) if known else goal.learn(recipe, examples)
        fingerprint, limit, cache = files.fingerprint(), recipe.data.max_length, cache_folder()
        source = columns.get("source") if goal.examples.packs else None

        def fitted(pairs: Iterable[Pair]) -> Iterable[Pair]:
            return source.packed(pairs, limit) if isinstance(source, SourceText) else pairs

        train = encode(
            lambda: fitted(files.train_pairs()),
            columns,
            limit,
            cache / key_of(fingerprint, columns, limit, "train"),
            progress,
        )
        dev_pairs = list(fitted(files.dev_pairs()))
        dev = encode(lambda: dev_pairs, columns, limit, cache / key_of(fingerprint, columns, limit, "dev"))
        if not len(train) or not len(dev):
            which = "training" if not len(train) else "dev"
            raise DataError(
                f"all {which} examples are longer than data.max_length = {limit} tokens; "
                "raise it with --set data.max_length=N, or split the lines"
            )
        unseen = dev.unknown.get("target")
        if unseen and unseen == len(dev["target"].values):
            raise DataError(
                "no target of the dev set stands in the training examples, so nothing can be learnt of them; "
                "name a file like the training file with --dev"
            )
        short_enough = set(dev.lines.tolist())
        dev_pairs = [pair for pair in dev_pairs if pair.line in short_enough]
        facts = _facts(files, train, dev, dev_pairs, columns, fingerprint, limit)
        return cls(
            columns,
            files.train.running,
            train,
            dev,
            dev_pairs,
            facts,
            list(files.some_train_pairs(_FLOOR_FROM)),
        )

    def batches(self, recipe: Recipe) -> Stream:
        """The endless stream of training batches."""
        return self._batches(self.train, recipe)

    def dev_batches(self, recipe: Recipe) -> Stream:
        """The dev set in batches."""
        return self._batches(self.dev, recipe)

    def _batches(self, data: Encoded, recipe: Recipe) -> Stream:
        training, context = recipe.training, recipe.data.max_length
        if "source" not in self.columns:
            tokens, windows = training.batch_tokens, training.batch_pairs
            return Windows(data, self.columns, context, tokens, recipe.seed, windows)
        return Batches(
            data.with_shared_sources() if _has_several(self.columns) else data,
            self.columns,
            training.batch_tokens,
            recipe.seed,
            training.batch_pairs,
            training.batch_by_length,
            training.batch_together,
        )


def _facts(
    files: Files,
    train: Encoded,
    dev: Encoded,
    dev_pairs: list[Pair],
    columns: Columns,
    fingerprint: str,
    limit: int,
) -> DataFacts:
    # What is read of running text is what a window of it holds.
    sources = train["source"].lengths if "source" in columns else np.array([limit])
    targets = train["target"].lengths if "target" in columns else sources
    seen_in_dev = {(pair.source, pair.features) for pair in dev_pairs if pair.source}
    overlap = seen_in_dev & {(pair.source, pair.features) for pair in files.found.sample}
    return DataFacts(
        fingerprint=fingerprint,
        train_pairs=len(train),
        dev_pairs=len(dev),
        dev_sources_in_train=len(overlap) if files.held_out is None else 0,
        too_long=train.left_out,
        skipped_lines=dict(files.found.skipped),
        mean_source=round(float(sources.mean()), 2),
        mean_target=round(float(targets.mean()), 2),
        longest_source=int(sources.max()),
        longest_target=int(targets.max()),
        length_ratio=round(float(np.quantile(targets / np.maximum(sources, 1), 0.999)), 3),
        source_vocabulary=getattr(columns.get("source"), "size", 0),
        target_vocabulary=getattr(columns.get("target"), "size", 0),
        unknown_in_dev=_unknown(columns, dev_pairs),
        targets=_by_target(columns, train),
    )


def _has_several(columns: Columns) -> bool:
    """Whether a source may have several texts as targets."""
    target = columns.get("target")
    return isinstance(target, TargetText) and bool(target.tokenizer.targets)


def _by_target(columns: Columns, train: Encoded) -> dict[str, int]:
    """How many examples each of several targets has, by the symbol that its rows begin with."""
    if not _has_several(columns):
        return {}
    target, rows = columns["target"], train["target"]
    assert isinstance(target, TargetText)
    firsts = rows.values[rows.offsets[:-1]]
    return {name: int((firsts == symbol).sum()) for name, symbol in target.tokenizer.targets.items()}


def _unknown(columns: Columns, pairs: list[Pair]) -> dict[str, dict[str, int]]:
    """Pieces of the dev set that the vocabularies do not know, with their counts."""
    found: dict[str, dict[str, int]] = {}
    source, target = columns.get("source"), columns.get("target")
    if isinstance(source, SourceText):
        codec = source.codec
        found["source"] = dict(codec.source.unknown(pair.source for pair in pairs).most_common(20))
        if codec.features:
            found["features"] = dict(codec.features.unknown(pair.features for pair in pairs))
    if isinstance(target, TargetText):
        found["target"] = dict(target.tokenizer.unknown(pair.target for pair in pairs).most_common(20))
    return found
