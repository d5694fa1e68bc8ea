"""Settings: refusals that name the place and the way out, overrides and merging."""

from typing import Literal

import pytest
from pydantic import Field, ValidationError

from seq2see.errors import SettingsError
from seq2see.settings import Settings, build, merge, near, override, read_yaml, write_yaml


class Leaf(Settings):
    """A part with a number and a choice."""

    layers: int = Field(default=2, ge=1)
    column: int | str = 1
    kind: Literal["plain", "fancy"] = "plain"


class Tree(Settings):
    """A group with two parts of one kind."""

    rate: float = 0.5
    left: Leaf = Leaf()
    right: Leaf | None = None


def refusal(values) -> str:
    """What is said of values that cannot be."""
    with pytest.raises(SettingsError) as error:
        build(Tree, values, "recipe.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"rte": 1}, "unknown key rte; did you mean 'rate'?"),
        ({"left": {"layer": 1}}, "unknown key left.layer; did you mean 'layers'?"),
        ({"right": {"kid": 1}}, "unknown key right.kid; did you mean 'kind'?"),
        ({"zzz": 1}, "unknown key zzz; choose from left, rate, right"),
        ({"left": {"zzz": 1}}, "unknown key left.zzz; choose from column, kind, layers"),
    ],
)
def test_unknown_keys(values, expected):
    """H: an unknown key is named by its path, with the nearest of the keys at that place."""
    assert refusal(values) == f"recipe.yaml: {expected}"


@pytest.mark.parametrize(
    ("values", "path", "reason"),
    [
        ({"rate": "fast"}, "rate = 'fast'", "number"),
        ({"left": {"layers": "two"}}, "left.layers = 'two'", "integer"),
        ({"left": {"layers": 0}}, "left.layers = 0", "greater than or equal to 1"),
        ({"right": {"kind": "odd"}}, "right.kind = 'odd'", "'plain' or 'fancy'"),
        ({"left": {"column": [1]}}, "left.column = [1]", "integer"),
        ({"left": 3}, "left = 3", "dictionary"),
    ],
)
def test_wrong_values(values, path, reason):
    """H: a wrong value is named by its path, beside what it should be."""
    for line in refusal(values).splitlines():
        assert line.startswith(f"recipe.yaml: {path}: ")
    assert reason in refusal(values)


def test_several_problems_come_together():
    """H: every problem has a line of its own."""
    assert len(refusal({"rte": 1, "left": {"layers": 0, "kin": 2}}).splitlines()) == 3


def test_overrides():
    """H: dotted paths become nested settings, and values are read as YAML."""
    assert override(["a.b.c=3", "a.b.d=[1, 2]", "e=true", "f=null", "g=some text", "h = 0.5", "i="]) == {
        "a": {"b": {"c": 3, "d": [1, 2]}},
        "e": True,
        "f": None,
        "g": "some text",
        "h": 0.5,
        "i": None,
    }
    assert override(["a=1", "a=2"]) == {"a": 2}
    assert override(["url=a=b"]) == {"url": "a=b"}
    assert override(["odd=[1,"]) == {"odd": "[1,"}
    assert build(Tree, override(["rate=1e-3"]), "--set").rate == 0.001


@pytest.mark.parametrize("text", ["model.width", "=3", "model.=3", ".width=3", "a..b=1", ""])
def test_malformed_overrides(text):
    """H: what is no assignment is refused with an example of one."""
    with pytest.raises(SettingsError, match=r"KEY=VALUE, as in model\.width=256"):
        override([text])


def test_merging():
    """H: nested changes lie over the base, which stays as it was."""
    base = {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    assert merge(base, {"a": {"c": {"x": 4}}, "e": {"f": 5}}) == {
        "a": {"b": 1, "c": {"d": 2, "x": 4}},
        "e": {"f": 5},
    }
    assert base == {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    assert merge(base, {"a": None}) == {"a": None, "e": 3}


def test_another_kind_starts_afresh():
    """H: with another kind the old kind's settings go; with the same or none they stay."""
    base = {"encoder": {"kind": "rnn", "cell": "gru", "layers": 2}}
    assert merge(base, {"encoder": {"kind": "cnn", "layers": 3}}) == {"encoder": {"kind": "cnn", "layers": 3}}
    assert merge(base, {"encoder": {"kind": "rnn", "layers": 3}})["encoder"]["cell"] == "gru"
    assert merge(base, {"encoder": {"layers": 3}})["encoder"] == {"kind": "rnn", "cell": "gru", "layers": 3}
    assert merge({"encoder": {"layers": 2}}, {"encoder": {"kind": "cnn"}})["encoder"] == {
        "layers": 2,
        "kind": "cnn",
    }


def test_settings_are_frozen():
    """H: settings do not change in place."""
    with pytest.raises(ValidationError, match="frozen"):
        Leaf().layers = 3


def test_yaml_and_back(tmp_path):
    """H: settings written as YAML come back equal, in the order of their fields."""
    tree = Tree(rate=0.1, right=Leaf(layers=4, column="größe"))
    text = write_yaml(tree)
    assert [line.split(":")[0] for line in text.splitlines() if not line.startswith(" ")] == [
        "rate",
        "left",
        "right",
    ]
    assert "größe" in text
    (tmp_path / "recipe.yaml").write_text(text, encoding="utf-8")
    assert build(Tree, read_yaml(tmp_path / "recipe.yaml"), "file") == tree


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a: 1\nb: [1\nc: 2\n", r"recipe\.yaml, line \d: not valid YAML"),
        (b"- a\n- b\n", "holds no settings"),
        (b"", "holds no settings"),
        (b"a: \xff\n", "cannot be read"),
        (None, "there is no recipe at"),
    ],
)
def test_files_that_are_no_settings(tmp_path, content, reason):
    """H: what is no YAML mapping is refused with its place."""
    if content is not None:
        (tmp_path / "recipe.yaml").write_bytes(content)
    with pytest.raises(SettingsError, match=reason):
        read_yaml(tmp_path / "recipe.yaml")


def test_near():
    """H: the nearest word, or all there are."""
    assert near("transfomer-tiny", ["transformer-tiny", "rnn"]) == "did you mean 'transformer-tiny'?"
    assert near("zzz", ["b", "a"]) == "choose from a, b"


def test_long_choices_are_cut_short() -> None:
    """The header of a file that is none may be one long word."""
    assert len(near("text", ["[" * 5000, "source"])) < 300
