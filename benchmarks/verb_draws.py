"""Commands drawn at random for every verb.

Options come from the command line itself, so that new ones join by themselves.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

__all__ = ["FILES", "LINES", "RUNS", "SMALL", "Draw", "draws"]


@dataclass(frozen=True)
class Draw:
    """A command, what its standard streams are, and what surrounds it."""

    words: list[str]
    stdin: str = "lines"
    stdout: str = "file"
    stderr: str = "file"
    home: bool = True

    @property
    def verb(self) -> str:
        """The verb."""
        return self.words[0]


LINES = "".join(f"{a}{b}\t{b.upper()} {a.upper()}\n" for a in "abcdefgh" for b in "mnorst")
_CLASSES = "".join(f"{a}{b} {b}{a}\t{'warm' if a < 'e' else 'cold'}\n" for a in "abcdefgh" for b in "mnors")
_NUMBERS = "".join(f"{a * n}{b}\t{n}.{ord(b) % 10}\n" for a in "abcd" for n in range(1, 9) for b in "xyz")
_TAGS = "".join(f"the {a}{b} runs\tD N V\n{a}{b} is\tN V\n" for a in "abcdefgh" for b in "mnorst")
_ODD = [
    '{"source": "a", "target": "b"}',
    '{"source": 3, "target": null}',
    '{"source": "\\ud800", "target": "b"}',
    '{"source": "a", "target": "b", "features": "\\udfff"}',
    '{"source": "a", "target": ["x", "y"], "features": {"a": 1}}',
    '{"source": ["a", 1], "target": true, "features": [1, null]}',
    '{"source": "a\\u0000", "target": 1e400}',
    "[" * 2000,
    "5",
    '{"target": "b"}',
]
FILES: dict[str, bytes] = {
    "pairs.tsv": LINES.encode(),
    "classes.tsv": _CLASSES.encode(),
    "numbers.tsv": _NUMBERS.encode(),
    "tags.tsv": _TAGS.encode(),
    "pairs.jsonl": "".join(
        json.dumps({"source": s, "target": t}) + "\n"
        for s, t in (line.split("\t") for line in LINES.splitlines())
    ).encode(),
    "odd.jsonl": "\n".join(_ODD).encode(),
    "table.csv": b"text,label,size\n" + b"".join(b'"a, %d",x,%d\n"b",y,2\n' % (n, n) for n in range(30)),
    "bad.csv": b'a,b\n"open,1\n2,3,4,5\n\x00,\xff\n',
    "words.conllu": b"# x\n1\tthe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    * 20,
    "seq.fasta": b"".join(b">s%d %s\nACGTACGT\n" % (n, b"ab"[n % 2 : n % 2 + 1]) for n in range(40)),
    "empty.tsv": b"",
    "blank.tsv": b"\n\n \n\t\n",
    "binary.tsv": bytes(range(256)) * 20,
    "latin.tsv": "café\tcafe\nnaïve\tnaive\n".encode("latin-1"),
    "wide.tsv": LINES.encode("utf-16"),
    "nul.tsv": b"a\x00b\tc\nb\tc\n",
    "emoji.tsv": "😀 :smile: [bold]\t👍🏽\n\x1b[31mred\x07\t\u202eabc\n".encode() * 12,
    "long.tsv": b"x" * 300_000 + b"\ty\na\tb\n",
    "broken.tsv.gz": b"\x1f\x8b\x08\x00 no gzip",
    "good.yaml": b"model:\n  width: 8\ntraining:\n  steps: 2\n",
    "bomb.yaml": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        b"%s: &%s [%s]\n" % (bytes([n + 1]), bytes([n + 1]), b",".join([b"*" + bytes([n])] * 9))
        for n in range(97, 105)
    ),
    "deep.yaml": b"a: " + b"[" * 5000,
    "odd.yaml": b"seed: 2024-13-45\n3: 4\nmodel: !!int x\n",
    "list.yaml": b"- 1\n- 2\n",
}
_MISSING = ["nowhere.tsv", "x" * 300, "a/b/c", "caf\udce9.tsv", "\x1b[31m.tsv", "a\nb", "", " ", "-", "~"]
_SPECIAL = [".", "/dev/null", "/dev/zero", "/dev/full", "pipe", "/dev/fd/9", "pairs.tsv,pairs.tsv"]
_TASKS = ["task:reverse:pairs=60", "task:parity:pairs=60", "task:", "task:reverse:pairs=-1", "task:nothing"]
_FIT = ["pairs.tsv", "classes.tsv", "numbers.tsv", "tags.tsv", "pairs.jsonl", "table.csv"]
RUNS = ["generate", "recurrent", "classify", "regress", "tag"]
_BROKEN = ["no-weights", "nan", "cut", "half", "newer", "piped", "not-a-run", "nowhere"]
SMALL = (
    *("--set", "model.width=8", "--set", "training.batch_pairs=8", "--set", "training.evaluate_every=2"),
    *("--max-steps", "2", "--max-minutes", "0.05"),
)
_TEXTS = ["", " ", "x", "-", "--", "=", "a=b", "²", "0", "-1", "x" * 400, "\x1b[2J", "[bold]x[/]", ":smile:",
          "\udced\udca0\udc80", "\u202eabc", "é😀", "%s", "{}", "../..", "1,2,3",
          "null", "source", "target", "*"]  # fmt: skip
_INTEGERS = [
    "1",
    "2",
    "0",
    "3",
    "-1",
    "7",
    "1000",
    "65535",
    "65536",
    "99999999999999999999",
    "1.5",
    "x",
    "",
    "²",
]
_FLOATS = ["0.5", "1", "0", "-1", "1e-40", "1e-300", "1e400", "nan", "inf", "-inf", "2", "100", "x", ""]
_VALUES = ["0", "1", "2", "8", "-1", "1e400", ".nan", "null", "true", "many", "[]", "{}", "[1, 2]",
           "{kind: x}", "0x_", "2024-13-45", "2024-01-01", "!!int x", "&a [*a]", "[" * 3000, "'", "1" * 5000,
           "\x00", "transformer", "recurrent", "none", "0.5", "9" * 20, "a: b", "= "]  # fmt: skip
_NAMED: dict[str, list[str]] = {
    "device": ["auto", "cpu", "meta", "cuda", "cpu:1", "mps", "tpu", "x", ""],
    "engine": ["auto", "torch", "ctranslate2", "x"],
    "goal": ["generate", "classify", "regress", "tag", "x", ""],
    "by": ["line", "source", "x"],
    "how": ["zero", "uniform", "first", "mean", "x"],
    "metric": ["exact", "loss", "accuracy", "x", "f1"],
    "preset": ["transformer-tiny", "rnn", "reader-rnn", "x", ""],
    "presets": ["rnn", "rnn,transformer-tiny", ",", "x", ""],
    "seeds": ["1", "1,2", "1,1", "-1", "x", "", "99999999999999999999"],
    "out": ["run2", "generate", "pairs.tsv", "pairs.tsv/x", "/dev/null", "/proc/x", "x" * 300, "f.svg",
            "f.png", "no/f.pdf", "f.xyz", "", "caf\udce9"],
    "figure": ["f.svg", "f.png", "no/f.pdf", "f.xyz", "/dev/full.svg", "/proc/f.svg", "x" * 300 + ".svg"],
    "edit": ["off at=*", "hard at=decoder.*.cross", "top at=* count=1", "", "x", "pin at=* step=0 places=[",
             "off at=* heads=99", "off at=* heads=!!int", "temperature at=* value=2", "off how=mean at=*",
             "block at=* places=0", "borrow at=* text=x", "force step=0 token=x", "off at=* at=*"],
    "host": ["127.0.0.1", "localhost", "0.0.0.0", "::1", "nowhere.invalid", "", "x" * 300, "\x00"],
    "recipe": ["good.yaml", "bomb.yaml", "deep.yaml", "odd.yaml", "list.yaml", "binary.tsv", "/dev/zero",
               "pipe", ".", "/dev/fd/9", "nowhere.yaml"],
    "text": ["abc", "", "x" * 5000, "\x1b"],
    "beam": ["1", "2", "0", "-1", "1001", "x"],
}  # fmt: skip


_OFTEN = [*["train"] * 8, *["predict", "evaluate", "check", "heads", "compare"] * 2]
"""Verbs that have more to go wrong than others."""


def _settings() -> st.SearchStrategy[str]:
    from seq2see.recipe import Recipe
    from seq2see.settings import Settings

    def usual(kind: type[Settings], before: str = "") -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, field in kind.model_fields.items():
            found[before + name] = field.default
            inner = field.annotation
            if isinstance(inner, type) and issubclass(inner, Settings):
                found |= usual(inner, f"{before}{name}.")
        return found

    known = {name: value for name, value in usual(Recipe).items() if name != "training.steps"}
    plain = [f"{key}={value}" for key, value in known.items() if isinstance(value, int | float | str)]
    kinds = ["model.encoder.kind", "model.encoder.layers", "model.decoder.kind", "model.front.kind"]
    hostile = [
        "",
        ".",
        "..",
        "model..width",
        "modle.width",
        "x" * 500,
        "a." * 400 + "b",
        "model",
        "\x1b",
        "0",
    ]
    key = st.sampled_from([*known, *kinds]) | st.sampled_from(hostile)
    odd = st.builds(lambda key, value: f"{key}={value}", key, st.sampled_from(_VALUES))
    rest = ["", "=", "model.width", "==", "data.bad_lines=skip"]
    return st.sampled_from(plain) | odd | st.sampled_from(rest)


def _value(name: str, kind: str) -> st.SearchStrategy[str]:
    """Values for a parameter, by its name where that means something, else by its type."""
    files = [*FILES, *_SPECIAL, *_MISSING, *_TASKS]
    if name in ("data", "file", "files", "dev"):
        return st.sampled_from(_FIT) | st.sampled_from(files)
    if name in ("run", "run_a", "run_b", "runs"):
        return st.sampled_from(RUNS) | st.sampled_from([*RUNS, *_BROKEN, *_MISSING, "pairs.tsv", "pipe", "."])
    if name == "set_":
        return _settings()
    if name in _NAMED:
        return _mostly(_NAMED[name])
    if name in ("source", "target", "features", "numbers", "categories"):
        return _mostly(
            ["1", "2", "3", "text", "label", "size", "1,2", "source", "²", "0", "", "x", ",", "9" * 30]
        )
    return _mostly({"int": _INTEGERS, "integer": _INTEGERS, "float": _FLOATS}.get(kind, _TEXTS))


def _mostly(values: list[str]) -> st.SearchStrategy[str]:
    """Any of some values, the first two more often: with those, a command gets further."""
    return st.sampled_from(values[:2]) | st.sampled_from(values)


def _type(parameter: Any) -> str:
    """The name of a parameter's type, wherever this version of typer keeps it."""
    described = getattr(parameter, "type_descriptor", None)
    return str(
        getattr(described.annotation, "__name__", "") if described is not None else parameter.type.name
    )


def draws(most_options: int = 3) -> st.SearchStrategy[Draw]:
    """Commands of every verb."""
    import typer

    from seq2see.cli.app import app

    commands: Mapping[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    verbs = [*sorted(commands), *_OFTEN]
    return st.sampled_from(verbs).flatmap(lambda verb: _command(verb, commands[verb].params, most_options))


@st.composite
def _command(draw: st.DrawFn, verb: str, params: Sequence[Any], most_options: int) -> Draw:
    words: list[str] = [verb]
    options = [one for one in params if one.param_type_name == "option"]
    for one in params:
        if one.param_type_name == "argument":
            count = draw(st.sampled_from([1, 1, 1, 1, 1, 2, 0])) if one.nargs == -1 or not one.required else 1
            words += [draw(_value(one.name, _type(one))) for _ in range(count)]
    if verb in ("train", "ladder"):
        words += SMALL
    for one in draw(st.lists(st.sampled_from(options), max_size=most_options)):
        words.append(draw(st.sampled_from([*one.opts, *one.secondary_opts])))
        if not one.is_flag:
            words.append(draw(_value(one.name, _type(one))))
    if verb in ("train", "ladder"):
        words += [word for one in draw(st.lists(_settings(), max_size=2)) for word in ("--set", one)]
        words += ["--max-minutes", "0.03"]
        words += draw(st.sampled_from([[], [], ["--max-steps", "2"]]))
    if verb == "ladder":
        words += ["--presets", draw(st.sampled_from(_NAMED["presets"]))]
    if verb == "explore":
        words.append("--no-browser")
    often = ["file"] * 12
    return Draw(
        [word.replace("\x00", "\\0") for word in words],
        draw(st.sampled_from(["lines", "lines", "pipe", "closed", "null", "binary", "zero"])),
        draw(st.sampled_from([*often, "closed", "full", "broken"])),
        draw(st.sampled_from([*often, "closed", "full", "broken"])),
        draw(st.sampled_from([True] * 12 + [False])),
    )
