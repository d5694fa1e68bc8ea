"""Built-in tasks: seeded streams of pairs that can be named wherever a file of pairs can."""

import hashlib
import random
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from importlib import import_module, metadata
from types import ModuleType
from typing import Any, NamedTuple

from seq2see.data.reading_tasks import READING_SETTINGS, brackets, count, parity, pattern
from seq2see.data.shapes import SHAPES_SETTINGS, shapes
from seq2see.errors import DataError, SettingsError
from seq2see.settings import near

__all__ = ["Task", "is_task", "task_settings"]

_VERSION = 2
"""To be raised when a task comes to give other pairs: what was made of the old ones is then made anew."""
_PREFIX = "task:"
_PAIRS = 50_000
_HELD_OUT_PAIRS = 1000
_MOST_PAIRS = 10_000_000
_LENGTHS = (5, 60)
_MOST_LENGTH = 10_000
_MOST_SEED = 2**63 - 1
_PATIENCE = 1000
"""Draws in vain, one after another, before a stream is given up."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TWO_LETTERS = [first + second for first in _LETTERS for second in _LETTERS]

# Left out for wrong words: az, da, es, sv, and tr, which writes 101001 as 100001.
_LANGUAGES = ("en", "de", "fr", "it", "pt", "pl", "ru", "fi", "hu", "id", "ja")
_DIGITS = 6

_DAYS = (date(1900, 1, 1).toordinal(), date(2099, 12, 31).toordinal())
_SKELETONS = ("yMMMd", "yMMMEd", "yMMMMd", "yMMMMEd")
# A ° stands for the ending of an English ordinal, which CLDR's patterns cannot write.
_LOCALES: dict[str, tuple[str, ...]] = {
    "en_US": ("MMMM d°, y", "EEEE, MMMM d°, y", "EEE MMM d y", "d MMM y"),
    "en_GB": ("d° MMMM y", "d° 'of' MMMM y", "EEEE, d° MMMM y", "d-MMM-y"),
    "de": ("EEEE, 'den' d. MMMM y", "dd. MMMM y"),
    "fr": ("EEEE, d MMMM y", "'le' d MMMM y"),
    "es": ("EEEE d 'de' MMMM 'del' y", "d MMMM y"),
    "it": ("EEEE, d MMMM y", "'il' d MMMM y"),
    "pt": ("d MMMM y", "d MMM y"),
    "nl": ("EEE d MMMM y", "dd MMMM y"),
    "sv": ("EEEE 'den' d MMMM y", "'den' d MMMM y"),
    "pl": ("EEEE, d MMMM y 'r.'", "d MMMM y 'r.'"),
    "fi": ("cccc, d. MMMM y", "dd. MMMM y"),
    "tr": ("dd MMMM y", "dd MMM y EEEE"),
    "ru": ("d MMMM y", "EEEE, d MMMM y"),
    "el": ("EEEE, d MMMM y", "dd MMMM y"),
    "ja": ("y年MM月dd日", "y年M月d日 EEEE"),
    "ko": ("y년M월d일", "y. MM. dd."),
}

_SENTENCE = re.compile(r"[A-Z][A-Za-z ,;:'()-]+[.?!]")
_SENTENCE_BREAK = re.compile(r"(?<=[.?!]) (?=[A-Z])")
_EMPHASIS = re.compile(r'(?<![\w"*])(\*\*?|")([A-Za-z]+(?:[ -][A-Za-z]+)*)\1(?![\w"*])')
_QUOTES = str.maketrans({"“": "", "”": "", "’": "'"})
_LEAST_WORDS = 4

Below = Callable[[int], int]
"""Draws a number from 0 up to, but not including, another."""


class _Row(NamedTuple):
    source: str
    target: str
    features: str = ""


Draw = Callable[[], _Row | None]
"""Draws a pair; None when the draw was in vain."""


@dataclass(frozen=True)
class _Kind:
    """What a task is: how its pairs are drawn, and out of what."""

    begin: Callable[[Below, tuple[int, int]], Draw]
    lengths: bool = False
    features: bool = False
    images: bool = False
    """Whether sources are scenes that images are drawn of."""
    goal: str = "generate"
    usual: tuple[int, int] = _LENGTHS
    """The lengths of sources, where none are asked for."""
    material: Callable[[], str] = field(default=lambda: "")
    """A name for the text or library that the pairs are made of, which another machine may have otherwise."""

    @property
    def options(self) -> list[str]:
        return ["pairs", "seed", *(["lengths"] if self.lengths else [])]


@dataclass(frozen=True)
class Task:
    """One part of a task; one source in ten belongs to the held-out part, the others are for training."""

    name: str
    kind: str
    pairs: int
    lengths: tuple[int, int]
    seed: int
    training: bool

    @classmethod
    def parse(cls, name: str, training: bool = False) -> "Task":
        """Read a name such as `task:reverse:pairs=20000:lengths=5-60:seed=3`."""
        kind, *options = name.removeprefix(_PREFIX).split(":")
        if kind not in _KINDS:
            raise SettingsError(f"there is no task {kind!r}; {near(kind, _KINDS)}")
        given = _options(name, kind, options)
        pairs, lengths, seed = given.get("pairs"), given.get("lengths"), given.get("seed")
        usual = _PAIRS if training else _HELD_OUT_PAIRS
        return cls(
            name,
            kind,
            _number(name, "pairs", pairs, 1, _MOST_PAIRS) if pairs is not None else usual,
            _range(name, lengths) if lengths is not None else _KINDS[kind].usual,
            _number(name, "seed", seed, 0, _MOST_SEED) if seed is not None else 1,
            training,
        )

    def fingerprint(self) -> str:
        """A digest of all that decides which pairs there are."""
        parts = (_VERSION, self.kind, self.pairs, self.lengths, self.seed, self.training)
        return hashlib.blake2b(
            repr((*parts, _KINDS[self.kind].material())).encode(), digest_size=16
        ).hexdigest()

    def lines(self, header: bool = False) -> Iterator[bytes]:
        """The pairs as lines of a TSV file with the columns source, target and features."""
        if header:
            yield "\t".join(_Row._fields).encode()
        # Of all that a generator offers, only random() is promised to stay the same in every Python.
        uniform = random.Random(f"{self.kind} {self.lengths} {self.seed}").random
        draw = _KINDS[self.kind].begin(lambda bound: int(uniform() * bound), self.lengths)
        for _ in range(self.pairs):
            yield "\t".join(self._next(draw)).encode()

    def _next(self, draw: Draw) -> _Row:
        for _ in range(_PATIENCE):
            row = draw()
            if row is not None and _held_out(row) != self.training:
                return row
        part = "training" if self.training else "held-out"
        low, high = self.lengths
        raise SettingsError(
            f"{self.name}: lengths = {low}-{high} leaves nothing for the {part} part; "
            f"try lengths={low}-{high + 10}"
        )


def is_task(name: str) -> bool:
    """Whether a name means a built-in task rather than a file."""
    return name.startswith(_PREFIX)


def task_settings(name: str) -> dict[str, Any]:
    """What a recipe should say about a task; nothing for a file."""
    if not is_task(name):
        return {}
    kind = _KINDS[Task.parse(name).kind]
    if kind.goal != "generate":
        return {"goal": kind.goal, **READING_SETTINGS[kind.goal]}
    if kind.images:
        return SHAPES_SETTINGS
    columns = {"data": {"features": 3}} if kind.features else {}
    return {
        "goal": "generate",
        "text": {side: {"kind": "characters"} for side in ("source", "target")},
        # Endless pairs without a mistake in them: nothing can be learnt by heart, so nothing holds back.
        "model": {"width": 128, "dropout": 0.0, "attention_dropout": 0.0},
        "training": {
            "batch_pairs": 64,
            "learning_rate": 0.002,
            "label_smoothing": 0.0,
            "steps": 600,
            "dev_examples": 200,
        },
        **columns,
    }


def _held_out(row: _Row) -> bool:
    return zlib.crc32(f"{row.source}\t{row.features}".encode()) % 10 == 0


def _options(name: str, kind: str, options: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for option in options:
        key, equals, value = option.partition("=")
        known = _KINDS[kind].options
        if key not in known:
            raise SettingsError(f"{name}: task:{kind} has no option {key!r}; {near(key, known)}")
        if not equals:
            raise SettingsError(f"{name}: {key} has no value; write {key}=VALUE")
        if key in given:
            raise SettingsError(f"{name}: {key} is given twice; leave one out")
        given[key] = value
    return given


def _number(name: str, key: str, value: str, least: int, most: int) -> int:
    if not re.fullmatch("[0-9]{1,19}", value) or not least <= int(value) <= most:
        raise SettingsError(
            f"{name}: {key} = {value!r} is no whole number from {least} to {most:,}; "
            f"write digits alone, as in {key}=100"
        )
    return int(value)


def _range(name: str, value: str) -> tuple[int, int]:
    low, dash, high = value.partition("-")
    if not dash:
        raise SettingsError(f"{name}: lengths = {value!r} is no range; write lengths=5-60")
    bounds = _number(name, "lengths", low, 1, _MOST_LENGTH), _number(name, "lengths", high, 1, _MOST_LENGTH)
    if bounds[0] > bounds[1]:
        raise SettingsError(f"{name}: lengths = {value!r} runs backwards; write lengths={high}-{low}")
    return bounds


def _library(module: str, task: str, title: str) -> ModuleType:
    try:
        return import_module(module)
    except ImportError:
        raise SettingsError(f"task:{task} needs {title}: pip install 'seq2see[tasks]'") from None


def _version(module: str, task: str, title: str) -> str:
    _library(module, task, title)
    return f"{title} {metadata.version(module)}"


def _letters(change: Callable[[str], str]) -> Callable[[Below, tuple[int, int]], Draw]:
    """Random letters, and what becomes of them."""

    def begin(below: Below, lengths: tuple[int, int]) -> Draw:
        low, high = lengths
        count = len(_TWO_LETTERS)

        def draw() -> _Row:
            length = low + below(high - low + 1)
            # Two letters at a time take half the time.
            source = "".join([_TWO_LETTERS[below(count)] for _ in range(0, length, 2)])[:length]
            return _Row(source, change(source))

        return draw

    return begin


def _case(below: Below, lengths: tuple[int, int]) -> Draw:
    """Words in a row from real sentences, to be put in upper or lower case as the feature says."""
    low, high = lengths
    text = _prose()
    words = list(re.finditer(r"\S+", text))
    starts, ends = [word.start() for word in words], {word.end() for word in words}

    def draw() -> _Row | None:
        # The length is drawn first and kept: long and short spans shall be equally frequent.
        length = low + below(high - low + 1)
        # A short span seldom has a capital, and then lower case asks for nothing: half of all must have one.
        any_case = bool(below(2))
        for _ in range(_PATIENCE):
            start = starts[below(len(starts))]
            if start + length not in ends:
                continue
            span = text[start : start + length]
            if any_case or span != span.lower():
                return _Row(span, span.upper(), "<U>") if below(2) else _Row(span, span.lower(), "<L>")
        return None

    return draw


@lru_cache(maxsize=1)
def _prose() -> str:
    """The plain sentences of Python's own manual, each once."""
    try:
        topics: dict[str, str] = import_module("pydoc_data.topics").topics
    except ImportError:
        raise DataError(
            "task:case is made of Python's manual, and this Python has no pydoc_data.topics; "
            "install Python with its whole standard library"
        ) from None
    sentences = {
        sentence: None
        for name in sorted(topics)
        for paragraph in _paragraphs(topics[name])
        for sentence in _SENTENCE_BREAK.split(_EMPHASIS.sub(r"\2", paragraph.translate(_QUOTES)))
        if _SENTENCE.fullmatch(sentence) and len(sentence.split(" ")) >= _LEAST_WORDS
    }
    return " ".join(sentences)


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that stand together and are indented alike: a term does not run into its definition."""
    together: list[str] = []
    indent = 0
    for line in [*text.splitlines(), ""]:
        words = line.split()
        here = len(line) - len(line.lstrip())
        if together and (not words or here != indent):
            yield " ".join(together)
            together = []
        indent = here
        together += words


def _dates(below: Below, _: tuple[int, int]) -> Draw:
    """Dates as people of many countries write them, to ISO 8601."""
    parse = _library("babel.dates", "dates", "Babel").parse_pattern
    read = _library("babel", "dates", "Babel").Locale.parse
    locales = [(read(code), extra) for code, extra in _LOCALES.items()]
    written = [(locale, [parse(text) for text in _patterns(locale, extra)]) for locale, extra in locales]
    first, last = _DAYS

    def draw() -> _Row:
        locale, patterns = written[below(len(written))]
        day = date.fromordinal(first + below(last - first + 1))
        text = patterns[below(len(patterns))].apply(day, locale).replace("°", _ordinal(day.day))
        text = " ".join(text.split())  # CLDR has narrow and unbreakable spaces, which nobody types
        if not below(4):
            text = text.lower()
        if not below(4):
            text = text.replace(",", "")
        return _Row(text, day.isoformat())

    return draw


def _patterns(locale: Any, extra: tuple[str, ...]) -> list[str]:
    """The ways to write a date of which nobody can mistake the day for the month."""
    own = [locale.date_formats[name].pattern for name in ("full", "long", "medium")]
    skeletons = locale.datetime_skeletons
    own += [skeletons[name].pattern for name in _SKELETONS if name in skeletons]
    clear = [pattern for pattern in own if "MMM" in pattern or pattern.startswith("y")]
    return list(dict.fromkeys([*clear, *extra]))


def _ordinal(day: int) -> str:
    return "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _numbers(below: Below, _: tuple[int, int]) -> Draw:
    """Numbers in digits to words; as many of one digit as of six."""

    def draw() -> _Row:
        language = _LANGUAGES[below(len(_LANGUAGES))]
        digits = below(_DIGITS) + 1
        least = 10 ** (digits - 1) if digits > 1 else 0
        number = least + below(10**digits - least)
        return _Row(str(number), _words(number, language), language)

    return draw


@lru_cache(maxsize=1 << 17)
def _words(number: int, language: str) -> str:
    return str(_library("num2words", "numbers", "num2words").num2words(number, lang=language))


def _reading(task: Callable[[Below, tuple[int, int]], Callable[[], tuple[str, str]]], goal: str) -> _Kind:
    """A task for a model that reads."""

    def begin(below: Below, lengths: tuple[int, int]) -> Draw:
        drawn = task(below, lengths)
        return lambda: _Row(*drawn())

    return _Kind(begin, lengths=True, goal=goal, usual=(4, 16))


def _shapes(below: Below, lengths: tuple[int, int]) -> Draw:
    """Scenes of shapes, each with its caption."""
    drawn = shapes(below, lengths)
    return lambda: _Row(*found) if (found := drawn()) is not None else None


_KINDS: dict[str, _Kind] = {
    "copy": _Kind(_letters(lambda text: text), lengths=True),
    "reverse": _Kind(_letters(lambda text: text[::-1]), lengths=True),
    "sort": _Kind(_letters(lambda text: "".join(sorted(text))), lengths=True),
    "case": _Kind(_case, lengths=True, features=True, material=_prose),
    "dates": _Kind(_dates, material=lambda: _version("babel", "dates", "Babel")),
    "parity": _reading(parity, "classify"),
    "brackets": _reading(brackets, "classify"),
    "count": _reading(count, "regress"),
    "pos-pattern": _reading(pattern, "tag"),
    "shapes": _Kind(_shapes, lengths=True, images=True, usual=(1, 4)),
    "numbers": _Kind(_numbers, features=True, material=lambda: _version("num2words", "numbers", "num2words")),
}
