"""The pairs of a recipe, made ready: surveyed, split, tokenised and encoded."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from seq2see.data import BadLines, Pair, PairFile
from seq2see.data.batches import Batches
from seq2see.data.encoded import Encoded, cache_folder, encode, key_of
from seq2see.data.settings import DataSettings
from seq2see.data.survey import Split, Survey, split, survey
from seq2see.errors import DataError
from seq2see.recipe import Recipe
from seq2see.text import Codec

__all__ = ["Corpus", "Files", "open_files"]

_LEARN_FROM = 1_000_000
"""Vocabularies are learnt from an even sample of at most so many pairs."""
_DEV_MOST = 1000
_DEV_PAIRS = 20_000


@dataclass(frozen=True)
class Files:
    """The training file after one look at all of it, and where its dev pairs come from."""

    train: PairFile
    found: Survey
    dev: PairFile | None
    dev_found: Survey | None
    held_out: Split | None
    bad_lines: BadLines

    def train_pairs(self) -> Iterator[Pair]:
        """The pairs to train on, in the order of the file."""
        for pair in self.train.pairs(self.bad_lines):
            if self.held_out is None or not self.held_out.holds_out(pair):
                yield pair

    def dev_pairs(self) -> list[Pair]:
        """The pairs to look at now and then; of a very large dev file an even sample."""
        if self.dev_found is not None:
            return _thin(self.dev_found.sample, _DEV_PAIRS)
        assert self.held_out is not None
        return [pair for pair in self.train.pairs(self.bad_lines) if self.held_out.holds_out(pair)]

    def fingerprint(self) -> str:
        """A digest of all that decides which pairs there are."""
        parts = [self.train.fingerprint(), str(self.held_out), str(self.bad_lines)]
        return "|".join(parts + ([self.dev.fingerprint()] if self.dev else []))


def open_files(settings: DataSettings, seed: int) -> Files:
    """Read the files through once; anything that cannot be used is refused here."""
    train = PairFile(settings.train, settings, training=True)
    dev = PairFile(settings.dev, settings) if settings.dev is not None else None
    for path in (*train.paths, *(dev.paths if dev else ())):
        if path.is_fifo():
            raise DataError(
                f"{path} is a pipe, and training reads its files more than once; pipe it in with -"
            )
    found = survey(train, settings.bad_lines)
    if dev is not None:
        return Files(train, found, dev, survey(dev, settings.bad_lines), None, settings.bad_lines)
    held_out = split(found, settings.dev_share, _DEV_MOST, seed)
    return Files(train, found, None, None, held_out, settings.bad_lines)


@dataclass(frozen=True)
class Corpus:
    """Everything that training needs of the data."""

    codec: Codec
    train: Encoded
    dev: Encoded
    dev_pairs: list[Pair]
    about: dict[str, Any]

    @classmethod
    def prepare(
        cls, files: Files, recipe: Recipe, codec: Codec | None, progress: Callable[[int], None] | None = None
    ) -> "Corpus":
        """Learn the vocabularies, unless they are given, and encode both sets."""
        if codec is None:
            codec = _learn(files, recipe)
        fingerprint, limit, cache = files.fingerprint(), recipe.data.max_length, cache_folder()
        train = encode(
            files.train_pairs, codec, limit, cache / key_of(fingerprint, codec, limit, "train"), progress
        )
        dev_pairs = files.dev_pairs()
        dev = encode(lambda: dev_pairs, codec, limit, cache / key_of(fingerprint, codec, limit, "dev"))
        if not len(train) or not len(dev):
            which = "training" if not len(train) else "dev"
            raise DataError(
                f"all {which} pairs are longer than data.max_length = {limit} tokens; "
                "raise it with --set data.max_length=N, or split the lines"
            )
        short_enough = set(dev.lines.tolist())
        dev_pairs = [pair for pair in dev_pairs if pair.line in short_enough]
        return cls(codec, train, dev, dev_pairs, _about(files, train, dev, dev_pairs, codec, fingerprint))

    def batches(self, recipe: Recipe) -> Batches:
        """The endless stream of training batches."""
        return Batches(self.train, recipe.training.batch_tokens, recipe.seed, recipe.training.batch_pairs)

    def dev_batches(self, recipe: Recipe) -> Batches:
        """The dev set in batches."""
        return Batches(self.dev, recipe.training.batch_tokens, recipe.seed, recipe.training.batch_pairs)


def _learn(files: Files, recipe: Recipe) -> Codec:
    stride = -(-files.found.count // _LEARN_FROM)

    def side(pick: Callable[[Pair], str]) -> Iterator[str]:
        for number, pair in enumerate(files.train_pairs()):
            if number % stride == 0:
                yield pick(pair)

    tags = side(lambda pair: pair.features) if recipe.data.features is not None else None
    return Codec.learn(side(lambda pair: pair.source), side(lambda pair: pair.target), tags, recipe.text)


def _about(
    files: Files, train: Encoded, dev: Encoded, dev_pairs: list[Pair], codec: Codec, fingerprint: str
) -> dict[str, Any]:
    sources, targets = train.source_lengths, train.target_lengths
    seen_in_dev = {(pair.source, pair.features) for pair in dev_pairs}
    overlap = seen_in_dev & {(pair.source, pair.features) for pair in files.found.sample}
    return {
        "fingerprint": fingerprint,
        "train_pairs": len(train),
        "dev_pairs": len(dev),
        "dev_sources_in_train": len(overlap) if files.held_out is None else 0,
        "too_long": train.left_out,
        "skipped_lines": dict(files.found.skipped),
        "mean_source": round(float(sources.mean()), 2),
        "mean_target": round(float(targets.mean()), 2),
        "longest_source": int(sources.max()),
        "longest_target": int(targets.max()),
        "length_ratio": round(float(np.quantile(targets / sources, 0.999)), 3),
        "source_vocabulary": codec.source_size,
        "target_vocabulary": codec.target_size,
        "unknown_in_dev": _unknown(codec, dev_pairs),
    }


def _unknown(codec: Codec, pairs: Iterable[Pair]) -> dict[str, dict[str, int]]:
    """Pieces of the dev set that the vocabularies do not know, with their counts."""
    pairs = list(pairs)
    return {
        "source": dict(codec.source.unknown(pair.source for pair in pairs).most_common(20)),
        "target": dict(codec.target.unknown(pair.target for pair in pairs).most_common(20)),
        **(
            {"features": dict(codec.features.unknown(pair.features for pair in pairs))}
            if codec.features
            else {}
        ),
    }


def _thin(pairs: list[Pair], most: int) -> list[Pair]:
    return pairs[:: -(-len(pairs) // most)]
