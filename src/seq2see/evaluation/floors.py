"""What a line of code reaches: scores that a network has to beat before it is worth its time."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import DataError
from seq2see.evaluation.metrics import METRICS, metrics_for, score
from seq2see.evaluation.outcomes import (
    Captions,
    Classes,
    Example,
    Foretold,
    LabelSets,
    Numbers,
    Outcome,
    Tags,
    Texts,
    Unit,
)

__all__ = ["FLOORS", "Known", "best_floor", "floors"]

_MOST_ROWS = 20_000
_MOST_CHARACTERS = 3_000_000
_MOST_FEATURES = 100_000
"""Bounds that keep every floor within seconds."""
_MOST_IMAGES = 4000
_CHUNK = 256
"""Training images that are looked at, and images that are held at a time."""


Pixels = Callable[[Sequence[int]], NDArray[np.uint8]]
"""The pixels of the images in some rows, (rows, values); images are too many to be held all at once."""


@dataclass(frozen=True)
class Known:
    """Inputs, and what is right for them."""

    inputs: Sequence[Any]
    """Texts; for tags, the words of sentences."""
    truth: Sequence[Any]
    """References, class names, sets of labels, numbers, or tags of sentences; of passages that a model has
    foretold, how many tokens and characters each has."""
    numbers: NDArray[np.floating[Any]] | None = None
    """(examples, extra columns of numbers); nan where a number is missing."""
    pixels: Pixels | None = None
    """Of images: gives those of some rows."""
    unit: Unit = field(default="characters", kw_only=True)
    """What error rates of texts count."""

    def __len__(self) -> int:
        return len(self.inputs)


Floor = Callable[[Known, Known, int], Outcome]
"""Training examples, test examples and a seed to an outcome."""


def floors(kind: type[Outcome], train: Known, test: Known, seed: int = 1) -> dict[str, Outcome]:
    """What each simple rule reaches on the test examples, in seconds however large the training set is."""
    sample = _sample(train)
    table = IMAGE_FLOORS if sample.pixels is not None and kind in IMAGE_FLOORS else FLOORS
    return {name: floor(sample, test, seed) for name, floor in table[kind].items()}


def best_floor(
    kind: type[Outcome], train: Known, test: Known, metric: str | None = None, seed: int = 1
) -> tuple[str, Outcome]:
    """The best of the floors by a metric, by default the headline of that kind of outcome."""
    found = floors(kind, train, test, seed)
    row = METRICS[metric or metrics_for(next(iter(found.values())))[0]]

    def rank(name: str) -> float:
        value = score(found[name], [row.name]).get(row.name, math.nan) * row.direction
        return -math.inf if math.isnan(value) else value

    name = max(found, key=rank)
    return name, found[name]


def _sample(known: Known) -> Known:
    """As many examples as are worked through in seconds, evenly chosen."""
    if known.pixels is not None and len(known) > _MOST_IMAGES:
        return _rows(known, _MOST_IMAGES)
    size = sum(map(len, known.inputs)) / max(1, len(known))  # characters, or words
    most = max(1, min(_MOST_ROWS, int(_MOST_CHARACTERS / max(1, size))))
    return known if len(known) <= most else _rows(known, most)


def _rows(known: Known, most: int) -> Known:
    """So many of the examples, evenly chosen."""
    rows = np.linspace(0, len(known) - 1, most).astype(int)
    numbers = None if known.numbers is None else known.numbers[rows]
    inputs, truth = ([side[row] for row in rows] for side in (known.inputs, known.truth))
    read = known.pixels
    pixels = None if read is None else lambda places: read([rows[place] for place in places])
    return replace(known, inputs=inputs, truth=truth, numbers=numbers, pixels=pixels)


def _majority_class(train: Known, test: Known, seed: int) -> Classes:
    """The most frequent class, for everything; its share of training is its probability."""
    counts = Counter(train.truth)
    labels = tuple(counts)
    shares = np.array([counts[label] / len(train) for label in labels])
    most = counts.most_common(1)[0][0]
    return Classes.named(test.truth, [most] * len(test), labels, np.tile(shares, (len(test), 1)))


def _logistic_regression(train: Known, test: Known, seed: int) -> Classes:
    """Logistic regression on n-grams of words and characters."""
    if len(set(train.truth)) < 2:
        return _majority_class(train, test, seed)
    seen, new = _sparse_features(train, test, (1, 2), (3, 5))
    model = _linear_classifier(seed).fit(seen, list(train.truth))
    found, labels = model.predict_proba(new), [str(label) for label in model.classes_]
    return Classes.named(test.truth, [labels[place] for place in found.argmax(1)], labels, found)


def _nearest_class_mean(train: Known, test: Known, seed: int) -> Classes:
    """The class whose training images are, pixel by pixel on the average, nearest to an image."""
    labels = list(dict.fromkeys(train.truth))
    place = {label: number for number, label in enumerate(labels)}
    sums = np.zeros((len(labels), 1), np.float32)
    try:
        for rows, pixels in _images(train):
            own = np.eye(len(labels), dtype=np.float32)[[place[train.truth[row]] for row in rows]]
            sums = sums + own.T @ pixels
    except DataError:  # the training images are not all there any more
        return _majority_class(train, test, seed)
    counts = Counter(train.truth)
    means = sums / np.array([[counts[label]] for label in labels], np.float32)
    found: list[str] = []
    for _, pixels in _images(test):
        # |x - m|^2 less |x|^2, which all classes share
        distances = (means**2).sum(1) - 2 * pixels @ means.T
        found += [labels[nearest] for nearest in distances.argmin(1)]
    return Classes.named(test.truth, found, labels)


def _images(known: Known) -> Iterator[tuple[range, NDArray[np.floating[Any]]]]:
    """Rows with their pixels from 0 to 1, some at a time."""
    assert known.pixels is not None
    for start in range(0, len(known), _CHUNK):
        rows = range(start, min(len(known), start + _CHUNK))
        yield rows, known.pixels(rows).astype(np.float32) / 255


def _majority_set(train: Known, test: Known, seed: int) -> LabelSets:
    """The most frequent set of labels, for everything."""
    labels = _labels(train, test)
    most = Counter(map(frozenset, train.truth)).most_common(1)[0][0]
    return LabelSets(_indicators(test.truth, labels), _indicators([most] * len(test), labels), labels)


def _logistic_regressions(train: Known, test: Known, seed: int) -> LabelSets:
    """A logistic regression on n-grams for each label."""
    labels = _labels(train, test)
    seen, new = _sparse_features(train, test, (1, 2), (3, 5))
    given = _indicators(train.truth, labels)
    found = np.zeros((len(test), len(labels)), dtype=bool)
    for place, has in enumerate(given.T):
        found[:, place] = (
            _linear_classifier(seed).fit(seen, has).predict(new) if 0 < has.sum() < len(has) else has[0]
        )
    return LabelSets(_indicators(test.truth, labels), found, labels)


def _mean(train: Known, test: Known, seed: int) -> Numbers:
    """The mean of training, for everything."""
    return Numbers(_floats(test.truth), np.full(len(test), _floats(train.truth).mean()))


def _ridge(train: Known, test: Known, seed: int) -> Numbers:
    """Ridge regression on n-grams of characters, and on the extra numbers."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.linear_model import Ridge

    seen, new = _sparse_features(train, test, None, (1, 3))
    extra = _standard_numbers(train, test)
    seen, new = (
        hstack([grams, csr_matrix(more)]).tocsr() for grams, more in zip((seen, new), extra, strict=True)
    )
    model = Ridge(alpha=3.0, random_state=seed).fit(seen, _floats(train.truth))
    return Numbers(_floats(test.truth), model.predict(new))


def _boosted_trees(train: Known, test: Known, seed: int) -> Numbers:
    """Gradient-boosted trees on shares of frequent characters and pairs of them, and on the extra numbers."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    seen, new = (
        np.hstack([shares, extra])
        for shares, extra in zip(_shares(train, test), _standard_numbers(train, test), strict=True)
    )
    model = HistGradientBoostingRegressor(max_iter=150, learning_rate=0.08, max_bins=63, random_state=seed)
    return Numbers(_floats(test.truth), model.fit(seen, _floats(train.truth)).predict(new))


def _most_frequent_tag(train: Known, test: Known, seed: int) -> Tags:
    """The tag that a word has most often in training; of unseen words, the most frequent tag of all."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in zip(train.inputs, train.truth, strict=True):
        for word, tag in zip(words, tags, strict=True):
            counts[word][tag] += 1
    of_word = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    overall = sum(counts.values(), Counter[str]()).most_common(1)[0][0]
    predicted = [[of_word.get(word, overall) for word in words] for words in test.inputs]
    return Tags(test.inputs, test.truth, predicted, frozenset(of_word))


def _copy(train: Known, test: Known, seed: int) -> Texts:
    """The source itself."""
    return _texts(test, list(test.inputs))


def _most_frequent_target(train: Known, test: Known, seed: int) -> Texts:
    """The target that a source has most often in training; of unseen sources, the source itself."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for source, references in zip(train.inputs, train.truth, strict=True):
        counts[source].update(references)
    return _texts(
        test,
        [counts[source].most_common(1)[0][0] if source in counts else source for source in test.inputs],
    )


def _most_frequent_caption(train: Known, test: Known, seed: int) -> Captions:
    """One caption for all images: the most frequent in training."""
    return Captions(_most_frequent_target(train, test, seed).examples, test.unit)


def _pairs_of_characters(train: Known, test: Known, seed: int) -> Foretold:
    """Each character told from the one before it: counts of pairs, smoothed by counts of characters."""
    single = Counter(character for text in train.inputs for character in text)
    pairs = Counter(pair for text in train.inputs for pair in zip(("", *text), text, strict=False))
    before: Counter[str] = Counter()
    for (first, _), count in pairs.items():
        before[first] += count
    every = single.total() + len(single) + 1  # each character once more, and one that was never seen

    def probability(first: str, second: str) -> float:
        return (pairs[first, second] + (single[second] + 1) / every) / (before[first] + 1)

    nats = [
        -sum(math.log(probability(*pair)) for pair in zip(("", *text), text, strict=False))
        for text in test.inputs
    ]
    tokens, characters = np.array(test.truth, dtype=int).reshape(-1, 2).T
    return Foretold(np.array(nats), tokens, characters)


FLOORS: Mapping[type[Outcome], Mapping[str, Floor]] = {
    Texts: {"copy": _copy, "most frequent target": _most_frequent_target},
    Captions: {"most frequent caption": _most_frequent_caption},
    Classes: {"majority": _majority_class, "logistic regression": _logistic_regression},
    LabelSets: {"majority": _majority_set, "logistic regression": _logistic_regressions},
    Numbers: {"mean": _mean, "ridge": _ridge, "boosted trees": _boosted_trees},
    Tags: {"most frequent tag": _most_frequent_tag},
    Foretold: {"pairs of characters": _pairs_of_characters},
}
"""Simple rules by the kind of outcome that they give."""
IMAGE_FLOORS: Mapping[type[Outcome], Mapping[str, Floor]] = {
    Classes: {"majority": _majority_class, "nearest class mean": _nearest_class_mean},
}
"""The same where they can look at images; for other kinds, rules that do not look."""


def _sparse_features(
    train: Known, test: Known, words: tuple[int, int] | None, characters: tuple[int, int]
) -> tuple[Any, Any]:
    """Weighted n-grams of characters, and of words if their lengths are given: a sparse row per example."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    shared: dict[str, Any] = {"sublinear_tf": True, "max_features": _MOST_FEATURES, "dtype": np.float32}
    makers = [TfidfVectorizer(analyzer="char_wb", ngram_range=characters, **shared)]
    if words is not None:
        makers.append(TfidfVectorizer(token_pattern=r"\S+", ngram_range=words, **shared))
    seen = [maker.fit_transform(train.inputs) for maker in makers]
    return hstack(seen).tocsr(), hstack([maker.transform(test.inputs) for maker in makers]).tocsr()


def _shares(train: Known, test: Known) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """What shares of a text its frequent characters and pairs of them are, and its length."""
    from sklearn.feature_extraction.text import CountVectorizer

    maker = CountVectorizer(analyzer="char", ngram_range=(1, 2), max_features=500, dtype=np.float32)

    def made(counts: Any, texts: Sequence[str]) -> NDArray[np.floating[Any]]:
        lengths = np.array([[max(1, len(text))] for text in texts])
        return np.hstack([counts.toarray() / lengths, lengths])

    return made(maker.fit_transform(train.inputs), train.inputs), made(
        maker.transform(test.inputs), test.inputs
    )


def _standard_numbers(
    train: Known, test: Known
) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """The extra numbers around 0 with a spread of 1 in training; a missing one is 0."""
    if train.numbers is None or test.numbers is None:
        return np.zeros((len(train), 0)), np.zeros((len(test), 0))
    centre, spread = np.nanmean(train.numbers, 0), np.nanstd(train.numbers, 0)
    seen, new = ((side - centre) / np.where(spread > 0, spread, 1) for side in (train.numbers, test.numbers))
    return np.nan_to_num(seen), np.nan_to_num(new)


def _linear_classifier(seed: int) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="log_loss", alpha=3e-5, average=True, max_iter=10, tol=None, random_state=seed)


def _labels(train: Known, test: Known) -> tuple[str, ...]:
    found = {label for known in (train, test) for labels in known.truth for label in labels}
    return tuple(sorted(found))


def _indicators(sets: Sequence[Any], labels: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.array([[label in one for label in labels] for one in sets], dtype=bool).reshape(-1, len(labels))


def _floats(values: Sequence[Any]) -> NDArray[np.floating[Any]]:
    return np.array(values, dtype=float)


def _texts(test: Known, outputs: Sequence[str]) -> Texts:
    rows = zip(test.inputs, outputs, test.truth, strict=True)
    return Texts([Example(source, output, tuple(known)) for source, output, known in rows], test.unit)
