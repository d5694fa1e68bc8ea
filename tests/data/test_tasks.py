"""Built-in tasks: right targets, even lengths, two parts that never meet, the same bytes everywhere."""

import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.data import Columns, PairFile, tasks
from seq2see.data.check import check
from seq2see.data.tasks import Task, is_task, task_settings
from seq2see.errors import DataError, SettingsError

NAMES = ("copy", "reverse", "sort", "case", "dates", "numbers")
RULES = {
    "copy": lambda text: text,
    "reverse": lambda text: text[::-1],
    "sort": lambda text: "".join(sorted(text)),
}


def rows(name: str, training: bool = False) -> list[list[str]]:
    """The fields of each line."""
    return [line.decode().split("\t") for line in Task.parse(f"task:{name}", training).lines()]


@pytest.mark.parametrize("name", RULES)
def test_letters(name):
    """The target is the source, reversed or sorted; every length and every letter comes as often."""
    found = rows(f"{name}:pairs=6000:lengths=5-24", training=True)
    assert all(target == RULES[name](source) and features == "" for source, target, features in found)
    lengths = Counter(len(source) for source, *_ in found)
    assert set(lengths) == set(range(5, 25))
    assert max(lengths.values()) < 1.4 * min(lengths.values())
    letters = Counter("".join(source for source, *_ in found))
    assert "".join(sorted(letters)) == "abcdefghijklmnopqrstuvwxyz"
    assert max(letters.values()) < 1.2 * min(letters.values())


@given(
    low=st.integers(1, 40), more=st.integers(0, 40), seed=st.integers(0, 2**63 - 1), training=st.booleans()
)
def test_any_range_and_seed(low, more, seed, training):
    """As many pairs as asked for, all in the range, whatever the range and the seed."""
    found = rows(f"reverse:pairs=30:lengths={low}-{low + more}:seed={seed}", training)
    assert len(found) == 30
    assert all(low <= len(source) <= low + more and target == source[::-1] for source, target, _ in found)


def test_case():
    """Spans of whole words, evenly long, come out in the case that the feature names."""
    found = rows("case:pairs=6000", training=True)
    assert {features for *_, features in found} == {"<U>", "<L>"}
    for source, target, features in found:
        assert target == (source.upper() if features == "<U>" else source.lower())
        assert re.fullmatch(r"[A-Za-z ,;:.?!'()-]+", source)
    lengths = Counter(len(source) for source, *_ in found)
    assert set(lengths) == set(range(5, 61))
    assert max(lengths.values()) < 2 * min(lengths.values())
    assert sum(source != source.lower() for source, *_ in found) > 0.5 * len(found)
    topics = importlib.import_module("pydoc_data.topics").topics
    manual = set(re.findall(r"[A-Za-z]+", " ".join(topics.values())))
    assert set(re.findall(r"[A-Za-z]+", " ".join(source for source, *_ in found))) <= manual


def test_case_has_whole_words_in_their_order():
    """A span without a full stop stands in the manual as it is, but for line breaks and marks."""
    topics = importlib.import_module("pydoc_data.topics").topics
    plain = str.maketrans({"*": "", '"': "", "“": "", "”": "", "’": "'"})
    manual = f" {' '.join(' '.join(topics.values()).translate(plain).split())} "
    spans = [source for source, *_ in rows("case:pairs=400") if not re.search("[.?!] ", source)]
    assert len(spans) > 100
    missing = [span for span in spans if not re.search(rf"[ ]{re.escape(span)}[ ]", manual)]
    assert not missing


def test_case_without_the_manual(monkeypatch):
    """A Python without its manual is told what is missing."""
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    tasks._prose.cache_clear()
    with pytest.raises(DataError, match=r"no pydoc_data\.topics; install Python"):
        rows("case")


def test_dates():
    """Day and year stand in the source, the month in its locale's names, and no source means two days."""
    babel = pytest.importorskip("babel")
    months: dict[str, set[int]] = {}
    for code in tasks._LOCALES:
        for names in babel.Locale.parse(code).months["format"].values():
            for month, name in names.items():
                months.setdefault(name.lower().rstrip("."), set()).add(month)
    found = rows("dates:pairs=8000", training=True)
    meant: dict[str, str] = {}
    for source, target, features in found:
        day = date.fromisoformat(target)
        assert 1900 <= day.year <= 2099
        assert features == ""
        assert meant.setdefault(source.lower(), target) == target
        numbers = [int(number) for number in re.findall("[0-9]+", source)]
        if len(numbers) == 3:  # nothing but digits: only from the year down to the day
            assert numbers == [day.year, day.month, day.day], source
            continue
        assert sorted(numbers) == sorted([day.day, day.year]), source
        words = re.findall(r"[^\W\d_]+", source.lower())
        assert any(months.get(word) == {day.month} for word in words), source
    assert not [source for source in meant if re.search(r"\d+/\d+/\d{4}|\d+\.\d+\.\d{4}", source)]
    years = Counter(target[:2] for _, target, _ in found)
    assert 0.9 < years["19"] / years["20"] < 1.1


def test_dates_vary_as_people_do():
    """Every locale is there, in upper and lower case, with commas and without."""
    text = "\n".join(source for source, *_ in rows("dates:pairs=8000", training=True))
    english = ["March", "march", "2nd", "3rd", "11th", "21st", "of June", "Sunday, "]
    others = "März mars marzo março maart marca maaliskuuta Mart марта Μαρτίου 月 월"
    for part in [*english, *others.split()]:
        assert part in text, part
    assert re.search(r"day March \d", text)
    assert not set("\u00a0\u202f°") & set(text)


def test_numbers():
    """The words are those of num2words, in the language of the feature; all magnitudes come as often."""
    say = pytest.importorskip("num2words").num2words
    found = rows("numbers:pairs=2000", training=True)
    assert all(target == say(int(source), lang=features) for source, target, features in found)
    assert {features for *_, features in found} == set(tasks._LANGUAGES)
    digits = Counter(len(source) for source, *_ in found)
    assert set(digits) == set(range(1, 7))
    assert max(digits.values()) < 1.35 * min(digits.values())


@pytest.mark.parametrize("language", tasks._LANGUAGES)
def test_no_two_numbers_have_the_same_words(language):
    """A language whose words confuse numbers would be no task."""
    chosen = [*range(200), *range(200, 1_000_000, 3989), *range(100_000, 102_000, 8)]
    assert len({tasks._words(number, language) for number in chosen}) == len(set(chosen))


@pytest.mark.parametrize("name", NAMES)
def test_the_two_parts_never_meet(name):
    """No source of one part is in the other; a seed gives other pairs, and moves none across."""
    option = "" if name in ("dates", "numbers") else ":lengths=1-12"
    parts = [
        {
            (source, features)
            for seed in (1, 2)
            for source, _, features in rows(f"{name}:pairs=500:seed={seed}{option}", training)
        }
        for training in (True, False)
    ]
    assert parts[0] and parts[1]
    assert not parts[0] & parts[1]
    assert rows(f"{name}:pairs=9") != rows(f"{name}:pairs=9:seed=2")


def test_one_source_in_ten_is_held_out():
    held = [
        tasks._held_out(tasks._Row(source, target)) for source, target, _ in rows("copy:pairs=2000", True)
    ]
    assert not any(held)
    drawn = [tasks._Row(f"{number}", "") for number in range(20_000)]
    assert 0.09 < sum(map(tasks._held_out, drawn)) / len(drawn) < 0.11


def test_the_first_pairs_are_the_same_however_many_follow():
    for name in NAMES:
        assert rows(f"{name}:pairs=20") == rows(f"{name}:pairs=50")[:20]


def test_default_sizes():
    """Much to train on, a thousand to look at."""
    assert Task.parse("task:copy", training=True).pairs == 50_000
    assert Task.parse("task:copy").pairs == 1000
    assert sum(1 for _ in Task.parse("task:copy").lines()) == 1000


def test_the_same_bytes_in_every_process():
    """Nothing hangs on the hash seed or on what ran before."""
    code = (
        "import sys, zlib; from seq2see.data.tasks import Task\n"
        "for name in sys.argv[1:]:\n"
        "    for training in (True, False):\n"
        "        task = Task.parse(f'task:{name}:pairs=200', training)\n"
        "        print(zlib.crc32(b'\\n'.join(task.lines())), task.fingerprint())"
    )
    said = [
        subprocess.check_output(
            [sys.executable, "-c", code, *order], env=os.environ | {"PYTHONHASHSEED": seed}, text=True
        ).split("\n")
        for seed, order in (("1", NAMES), ("2", NAMES[::-1]))
    ]
    assert sorted(said[0]) == sorted(said[1])
    assert len(set(said[0])) == 2 * len(NAMES) + 1


def test_golden_letters():
    """The stream is a promise: whoever changes it raises the version."""
    assert tasks._VERSION == 2
    assert rows("reverse:pairs=2:lengths=5-9", training=True) == [
        ["ldalryv", "vyrladl", ""],
        ["sefrg", "grfes", ""],
    ]


def test_a_part_that_can_hold_nothing(monkeypatch):
    """A stream without end that never gives a pair is refused."""
    monkeypatch.setattr(tasks, "_held_out", lambda row: False)
    message = r"task:copy:lengths=1-2: lengths = 1-2 leaves nothing for the held-out part; try lengths=1-12"
    with pytest.raises(SettingsError, match=message):
        rows("copy:lengths=1-2")


@pytest.mark.parametrize("training", [True, False])
def test_very_short_sources_end(training):
    """Where there are few sources, they come again."""
    found = rows("copy:lengths=1-1", training)
    assert 0 < len({source for source, *_ in found}) < 26


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("task:revers", "there is no task 'revers'; did you mean 'reverse'?"),
        (
            "task:",
            "there is no task ''; choose from brackets, case, copy, count, dates, numbers, parity, "
            "pos-pattern, reverse, shapes, sort",
        ),
        ("task:copy,task:sort", "there is no task 'copy,task'; "),
        ("task:copy:sed=2", "task:copy has no option 'sed'; did you mean 'seed'?"),
        ("task:dates:lengths=1-2", "task:dates has no option 'lengths'; choose from pairs, seed"),
        ("task:copy:pairs", "pairs has no value; write pairs=VALUE"),
        ("task:copy:seed=1:seed=2", "seed is given twice; leave one out"),
        ("task:copy:pairs=0", "pairs = '0' is no whole number from 1 to 10,000,000; "),
        ("task:copy:pairs=10000001", "pairs = '10000001' is no whole number from 1 to 10,000,000; "),
        ("task:copy:pairs=20_000", "pairs = '20_000' is no whole number"),
        ("task:copy:pairs=٣", "pairs = '٣' is no whole number"),
        ("task:copy:seed=-1", "seed = '-1' is no whole number from 0"),
        (f"task:copy:seed={'9' * 5000}", "is no whole number"),
        ("task:copy:lengths=7", "lengths = '7' is no range; write lengths=5-60"),
        ("task:copy:lengths=9-3", "lengths = '9-3' runs backwards; write lengths=3-9"),
        ("task:copy:lengths=0-3", "lengths = '0' is no whole number from 1 to 10,000; "),
        ("task:copy:lengths=5-10001", "lengths = '10001' is no whole number from 1 to 10,000; "),
        ("task:copy:lengths=5-", "lengths = '' is no whole number"),
    ],
)
def test_names_that_mean_nothing(name, message):
    """The option, the value and the way out."""
    with pytest.raises(SettingsError, match=re.escape(message)):
        PairFile(name, Columns())


@pytest.mark.parametrize(
    ("task", "module", "title"), [("dates", "babel", "Babel"), ("numbers", "num2words", "num2words")]
)
def test_a_missing_library(task, module, title, monkeypatch):
    """The way to install it is told, whatever is asked first."""
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, f"{module}.dates", None)
    tasks._words.cache_clear()
    message = re.escape(f"task:{task} needs {title}: pip install 'seq2see[tasks]'")
    with pytest.raises(SettingsError, match=message):
        rows(task)
    with pytest.raises(SettingsError, match=message):
        Task.parse(f"task:{task}").fingerprint()


def test_a_task_reads_like_a_file():
    """Pairs by number and by name, without a path."""
    file = PairFile("task:case:pairs=3", Columns(features=3))
    assert file.paths == []
    pairs = list(file.pairs())
    assert [pair.line for pair in pairs] == [1, 2, 3]
    assert [list(pair[1:4]) for pair in pairs] == rows("case:pairs=3")
    named = PairFile("task:case:pairs=3", Columns(source="target", target="source", features="features"))
    assert [(pair.line, pair.target) for pair in named.pairs()] == [
        (pair.line + 1, pair.source) for pair in pairs
    ]
    with pytest.raises(DataError, match="no column 'lemma' in its first line; choose from"):
        list(PairFile("task:case", Columns(source="lemma")))
    sources = list(PairFile("task:copy:pairs=2", Columns(), needs_target=False))
    assert [pair.source for pair in sources] == [source for source, *_ in rows("copy:pairs=2")]


def test_fingerprints():
    """They differ wherever the pairs do, and only there."""

    def of(name: str, training: bool = False, **columns: int) -> str:
        return PairFile(name, Columns(**columns), training=training).fingerprint()

    assert of("task:copy") == of("task:copy:pairs=1000") == of("task:copy:seed=1:lengths=5-60")
    different = [
        "task:copy",
        "task:sort",
        "task:copy:pairs=999",
        "task:copy:seed=2",
        "task:copy:lengths=5-61",
    ]
    found = {
        *map(of, different),
        of("task:copy", True),
        of("task:copy:pairs=1000", True),
        of("task:copy", features=3),
    }
    assert len(found) == len(different) + 3


def test_fingerprints_know_their_material(monkeypatch):
    """Another manual or another release of a library gives other pairs, and so another fingerprint."""
    names = ("case", "dates", "numbers")
    before = [Task.parse(f"task:{name}").fingerprint() for name in names]
    monkeypatch.setattr(tasks.metadata, "version", lambda module: "0.0")
    monkeypatch.setattr(importlib.import_module("pydoc_data.topics"), "topics", {"a": "This is another one."})
    tasks._prose.cache_clear()
    after = [Task.parse(f"task:{name}").fingerprint() for name in names]
    tasks._prose.cache_clear()
    assert not set(before) & set(after)


def test_settings_that_come_along():
    """Characters on both sides; a column of features where there are some; nothing for files."""
    assert task_settings("pairs.tsv") == {}
    assert not is_task("tasks.tsv")
    kind = {"kind": "characters"}
    settings = task_settings("task:sort:pairs=3")
    assert settings["text"] == {"source": kind, "target": kind}
    assert settings.keys() == {"goal", "text", "model", "training"}
    assert {name for name in NAMES if "data" in task_settings(f"task:{name}")} == {"case", "numbers"}
    assert task_settings("task:case")["data"] == {"features": 3}


def test_check_takes_the_first_as_training():
    """The same name twice is two parts, and the second is not seen in the first."""
    first, second = check(["task:sort:pairs=300:lengths=1-4", "task:sort:pairs=300:lengths=1-4"], Columns())
    assert (first.pairs, second.pairs) == (300, 300)
    assert not [kind for kind in second.counts if kind.startswith("seen in")]
    assert first.unusable == second.unusable == 0
