"""What a file is meant for is told by its looks, with the reason; what only looks like it is left alone."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from seq2see.data import PairFile
from seq2see.data.kinds import KINDS, guess_goal
from seq2see.data.pairs import columns_of
from seq2see.goals import GOALS

draw = random.Random(3)
LETTERS = "abcdefghijklmnop"


def word(longest: int = 6) -> str:
    """A made-up word."""
    return "".join(draw.choice(LETTERS) for _ in range(draw.randint(2, longest)))


def sentence() -> list[str]:
    """Some words."""
    return [word(3) for _ in range(draw.randint(2, 6))]


def tagged() -> tuple[str, str]:
    words = sentence()
    return " ".join(words), " ".join("NV"[len(one) % 2] for one in words)


def sounds() -> tuple[str, str]:
    spelt = word()
    return spelt, " ".join(letter.upper() for letter in spelt)


def spelt_sounds() -> tuple[str, str]:
    spelt = [draw.choice(LETTERS) for _ in range(draw.randint(3, 8))]
    return " ".join(spelt), " ".join(letter.upper() for letter in spelt)


def copied() -> tuple[str, str]:
    text = " ".join(sentence())
    return text, text


def translated() -> tuple[str, str]:
    return " ".join(sentence()), " ".join(sentence())


def inflected() -> tuple[str, str]:
    stem = word()
    return stem, stem + draw.choice(["s", "ed", "ing"])


CASES: dict[str, tuple[Callable[[], tuple[str, str]], int, str, str]] = {
    "two classes": (
        lambda: (" ".join(sentence()), draw.choice(["good", "bad"])),
        100,
        "classify",
        "2 distinct",
    ),
    "seven classes": (lambda: (word(), draw.choice("ABCDEFG")), 300, "classify", "7 distinct"),
    "grades": (lambda: (" ".join(sentence()), str(draw.randint(1, 5))), 100, "classify", "5 distinct"),
    "several labels": (lambda: (word(), draw.choice(["a", "a|b", "b"])), 100, "classify", "3 distinct"),
    "numbers": (lambda: (word(), f"{draw.gauss(0, 1):.3f}"), 100, "regress", "from -"),
    "a minus sign": (lambda: (word(), f"\u2212{draw.random():.3f}"), 100, "regress", "numbers"),
    "tags": (tagged, 300, "tag", "2 distinct"),
    # What is a text after all:
    "few numbers in words": (lambda: (str(draw.randint(0, 10**6)), word(20)), 100, "generate", "texts"),
    "letters to sounds": (sounds, 200, "generate", "texts"),
    "spelt letters to sounds": (spelt_sounds, 300, "generate", "texts"),
    "copies": (copied, 200, "generate", "texts"),
    "translations": (translated, 200, "generate", "texts"),
    "inflection": (inflected, 200, "generate", "texts"),
    "a tiny file": (lambda: (word(), draw.choice(["x", "y"])), 6, "generate", "texts"),
    "rare classes": (lambda: (word(), draw.choice(LETTERS) + draw.choice(LETTERS)), 300, "generate", "texts"),
    "one target": (lambda: (word(), "same"), 100, "generate", "texts"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_it_is_meant_for(tmp_path: Path, name: str) -> None:
    one, count, goal, why = CASES[name]
    (tmp_path / "a.tsv").write_text("".join("\t".join(one()) + "\n" for _ in range(count)))
    found, reason = guess_goal(PairFile(tmp_path / "a.tsv", columns_of()))
    assert found == goal, reason
    assert why in reason


@pytest.mark.parametrize("ending", ["conllu", "conll"])
def test_a_word_a_line_means_tags(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text("1\tthe\tthe\tDET\tDT\t_\t0\t_\t_\t_\n\n")
    assert guess_goal(PairFile(path, columns_of())) == ("tag", f"a {ending} file has a tag for every word")


def test_several_targets_mean_tags(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a b\tX Y\tP Q\n")
    assert guess_goal(PairFile(tmp_path / "a.tsv", columns_of(target="2,3"))) == (
        "tag",
        "several target columns",
    )


def test_several_targets_out_of_step_mean_texts(tmp_path: Path) -> None:
    """D10: columns with other numbers of words than the source are texts, and so are single words."""
    for number, line in enumerate(("a b\tX Y Z\tP\n", "go\tgehen\taller\n")):
        file = tmp_path / f"{number}.tsv"
        file.write_text(line)
        assert guess_goal(PairFile(file, columns_of(target="2,3")))[0] == "generate"


def test_an_empty_file_is_left_to_whoever_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("")
    assert guess_goal(PairFile(tmp_path / "a.tsv", columns_of()))[0] == "generate"


def test_every_kind_is_a_goal() -> None:
    """H: what `check` and `train` know is the same, and each goal has the kind of its name."""
    assert set(KINDS) <= set(GOALS)
    assert all(GOALS[name].examples is kind for name, kind in KINDS.items())
