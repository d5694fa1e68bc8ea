"""Every mistake with classes, numbers and tags gets a few lines that name it and the way out."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

Command = Any
WORDS = ["warm", "cold", "grim", "bright", "dull", "fine"]


def rows(count: int = 40) -> list[list[str]]:
    """Texts with a class, a number and tags, by a rule."""
    found = []
    for row in range(count):
        words = [WORDS[(row * step + step) % len(WORDS)] for step in (1, 2, 3)]
        found.append([" ".join(words), "good" if row % 2 else "bad", f"{row * 0.7:.2f}", "A B A"])
    return found


def table(place: int, separator: str = "\t", header: str = "") -> str:
    """The texts with one of their targets."""
    return header + "".join(f"{row[0]}{separator}{row[place]}\n" for row in rows())


CLASSES, NUMBERS, TAGS = table(1), table(2), table(3)
SENTENCE = "1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
NAMED = "text\tlabel\tage\tkind\n" + "".join(f"{row[0]}\t{row[1]}\t{row[2]}\tx\n" for row in rows())


@dataclass(frozen=True)
class Case:
    """A file, the options that it is trained with, and what must be said."""

    text: str | bytes
    options: str = ""
    says: tuple[str, ...] = ()
    name: str = "data.tsv"
    files: dict[str, str] = field(default_factory=dict)


def changed(text: str, line: int, new: str) -> str:
    """A text with one line, counted from 1, in place of another."""
    lines = text.splitlines()
    lines[line - 1] = new
    return "\n".join(lines) + "\n"


def jsonl(**last: Any) -> str:
    """Objects with a text and a label, the last of them changed."""
    found = [{"text": row[0], "label": row[1]} for row in rows()]
    return "\n".join(map(json.dumps, [*found[:-1], {**found[-1], **last}])) + "\n"


TRAIN = {
    # files
    "empty file": Case("", "--goal classify", ("no usable example", "source, tab, target")),
    "header only": Case(
        "text,label\n", "--goal classify", ("no usable example", "name the columns"), "a.csv"
    ),
    "blank lines only": Case("\n\n\n", "--goal regress", ("no usable example",)),
    "no targets": Case("one two\t\nthree\t\n", "--goal tag", ("no usable example", "2 left out: empty side")),
    "not UTF-8": Case(
        CLASSES.encode() + b"caf\xe9\tgood\n", "", ("line 41: not UTF-8", "0xe9", "bad_lines=skip")
    ),
    "NUL": Case(b"a\x00b\tgood\n" + CLASSES.encode(), "", ("line 1: NUL byte", "seq2see check")),
    "one column": Case("word\n" * 30, "--goal classify", ("line 1: missing column", "column 2 is needed")),
    "packed by name only": Case(CLASSES, "", ("not a whole gzip file",), "data.tsv.gz"),
    # columns
    "misspelt column": Case(
        NAMED, "--source txt --target label", ("no column 'txt'", "did you mean 'text'?")
    ),
    "misspelt column of CSV": Case(
        NAMED.replace("\t", ","),
        "--source text --target labels",
        ("'labels'", "did you mean 'label'?"),
        "a.csv",
    ),
    "column 0": Case(CLASSES, "--target 0", ("columns count from 1",)),
    "far column": Case(CLASSES, "--goal classify --target 7", ("line 1", "column 7 is needed")),
    "target twice": Case(NAMED, "--source text --target label,label", ("label", "twice")),
    "numbers twice": Case(NAMED, "--source text --target label --numbers age,age", ("age", "twice")),
    "target among the numbers": Case(
        NAMED, "--source text --target age --numbers age --goal regress", ("'age'", "twice")
    ),
    "numbers that are words": Case(
        NAMED, "--source text --target label --numbers kind", ("line 2: not a number", "'x'", "'kind'")
    ),
    "missing column of numbers": Case(
        NAMED, "--source text --target label --numbers aeg", ("no column 'aeg'", "did you mean 'age'?")
    ),
    "missing column of categories": Case(
        NAMED, "--source text --target label --categories kin", ("no column 'kin'", "did you mean 'kind'?")
    ),
    "a missing number": Case(
        changed(NAMED, 5, "warm\tgood\t\tx"),
        "--source text --target label --numbers age",
        ("line 5: not a number", "'age'", "bad_lines=skip"),
    ),
    "numbers for tags": Case(
        "text\ttags\tage\n" + "".join(f"{row[0]}\t{row[3]}\t1\n" for row in rows()),
        "--source text --target tags --numbers age --goal tag",
        ("--numbers and --categories are for --goal classify and regress",),
    ),
    "numbers for texts": Case(
        NAMED, "--source text --target label --numbers age --goal generate", ("--goal classify and regress",)
    ),
    "several targets for classes": Case(
        NAMED, "--source text --target label,kind --goal classify", ("several target columns", "--goal tag")
    ),
    "several targets for numbers": Case(
        NAMED, "--source text --target age,age2 --goal regress", ("no column 'age2'", "did you mean 'age'?")
    ),
    "several targets out of step": Case(
        NAMED,
        "--source text --target label,kind --goal tag",
        ("line 2", "3 words and 1 tag", "seq2see check"),
    ),
    # labels
    "one class": Case(table(1).replace("bad", "good"), "--goal classify", ("only one", "'good'")),
    "one label of several": Case(
        table(1).replace("bad", "good"),
        "--goal classify --set model.head.several_labels=true",
        ("only one", "'good'"),
    ),
    "weights for several labels": Case(
        CLASSES,
        "--set model.head.several_labels=true --set model.head.class_weights=true",
        ("class_weights", "leave it out"),
    ),
    "one example": Case("warm\tgood\n", "--goal classify", ("one source is too few", "--dev")),
    "no dev label is known": Case(
        CLASSES,
        "--dev {dev.tsv}",
        ("no target of the dev set",),
        files={"dev.tsv": "warm\tnew\ncold\tother\n"},
    ),
    # numbers
    "a comma for a point": Case(
        changed(NUMBERS, 4, "warm\t12,5"), "--goal regress", ("line 4: not a number", "'12,5'", "point")
    ),
    "n/a": Case(changed(NUMBERS, 4, "warm\tn/a"), "--goal regress", ("line 4: not a number", "'n/a'")),
    "infinity": Case(changed(NUMBERS, 4, "warm\tinf"), "--goal regress", ("line 4: not a number", "'inf'")),
    "not a number": Case(
        changed(NUMBERS, 4, "warm\tnan"), "--goal regress", ("line 4: not a number", "'nan'")
    ),
    "a unit": Case(changed(NUMBERS, 4, "warm\t12 C"), "--goal regress", ("line 4: not a number", "'12 C'")),
    "many that are none": Case(CLASSES, "--goal regress", ("line 1: not a number", "'bad'", "40 bad lines")),
    "equal numbers": Case(
        "".join(f"{row[0]}\t5\n" for row in rows()), "--goal regress", ("every target is 5",)
    ),
    "one number": Case("warm\t5\n", "--goal regress", ("one source is too few", "--dev")),
    "class weights for numbers": Case(
        NUMBERS, "--set model.head.class_weights=true", ("class_weights", "classify")
    ),
    # tags
    "more tags than words": Case(
        changed(TAGS, 3, "warm cold\tA B A"), "--goal tag", ("line 3", "2 words and 3 tags")
    ),
    "fewer tags than words": Case(
        changed(TAGS, 3, "warm cold\tA"), "--goal tag", ("line 3", "2 words and 1 tag")
    ),
    "pairs of texts": Case(
        "warm\tone two\ncold\tthree four\n" * 9, "--goal tag", ("line 1", "1 word and 2 tags")
    ),
    "one tag": Case(TAGS.replace("B", "A"), "--goal tag", ("only one", "'A'")),
    "features for words": Case(
        "text\ttags\tage\n" + "".join(f"{row[0]}\t{row[3]}\t1\n" for row in rows()),
        "--source text --target tags --features age --goal tag",
        ("features", "model.front.kind=tokens"),
    ),
    # formats
    "a quote that is not closed": Case(
        'text,label\nwarm,good\n"cold,bad\n', "--goal classify", ("line 3", "a quote is not closed"), "a.csv"
    ),
    "a short row": Case(
        "text,label\nwarm,good\ncold\n", "--goal classify", ("line 3", "1 column between commas"), "a.csv"
    ),
    "a long row": Case(
        "text,label\nwarm,good\nwarm, but cold,bad\n",
        "--goal classify",
        ("line 3", "3 columns", "2"),
        "a.csv",
    ),
    "text after a quote": Case(
        'text,label\n"warm"er,good\n', "--goal classify", ("line 2", "not CSV"), "a.csv"
    ),
    "semicolons": Case("text;label\nwarm;good\n", "", ("semicolons", "save it with commas"), "a.csv"),
    "a JSON array": Case(
        '[\n {"text": "warm", "label": "good"}\n]\n', "", ("line 1: not JSON", "a JSON object"), "a.json"
    ),
    "names without a header": Case("the DET\n\n", "--target pos", ("no names", "by number"), "a.conll"),
    "broken JSON": Case(jsonl() + '{"text": "warm"\n', "", ("line 41", "not JSON"), "a.jsonl"),
    "a JSON list": Case(jsonl() + '["warm", "good"]\n', "", ("line 41", "not a JSON object"), "a.jsonl"),
    "a JSON object for a text": Case(jsonl(text={"a": 1}), "", ("line 40", "'text'"), "a.jsonl"),
    "a JSON null": Case(jsonl(label=None), "", ("line 40", "'label'"), "a.jsonl"),
    "a missing key": Case(
        jsonl() + '{"text": "warm"}\n', "--target label", ("line 41", "'label'"), "a.jsonl"
    ),
    "a JSON list of numbers": Case(jsonl(label=[1, 2]), "", ("line 40", "'label'"), "a.jsonl"),
    "columns of CoNLL-U": Case(
        SENTENCE * 20 + "1\tthe\tthe\n\n", "", ("line 61", "3 columns", "column 4 is needed"), "a.conllu"
    ),
    "an unknown column of CoNLL-U": Case(SENTENCE * 20, "--target pos", ("'pos'", "upos"), "a.conllu"),
    "a word without a tag": Case(
        "the DET\ndog\n\n", "", ("line 2", "1 column", "column 2 is needed"), "a.conll"
    ),
    "FASTA without a sequence": Case(
        ">p1 5\nACD\n>p2 6\n>p3 7\nACC\n", "--goal regress", ("line 3", "no sequence follows"), "a.fasta"
    ),
    "FASTA without a name": Case(
        "ACD\n>p2 6\nACC\n", "--goal regress", ("line 1", "begins with >"), "a.fasta"
    ),
    "FASTA without targets": Case(
        ">p1\nACD\n>p2\nACC\n", "--goal regress", ("no usable example", ">, a name and the target"), "a.fasta"
    ),
    "features of FASTA": Case(">p1 5\nACD\n", "--features 3", ("FASTA", "--features"), "a.fasta"),
    "columns of FASTA": Case(">p1 5\nACD\n", "--numbers ogt", ("FASTA", "--numbers"), "a.fasta"),
    # goals and models
    "no such goal": Case(
        CLASSES, "--goal clasify", ("there is no goal 'clasify'", "did you mean 'classify'?")
    ),
    "a decoder for classes": Case(CLASSES, "--preset transformer-tiny", ("transformer-tiny", "generate")),
    "a reader for texts": Case(
        CLASSES, "--preset reader-rnn --goal generate", ("needs a decoder", "choose another preset")
    ),
    "a decoder by hand": Case(CLASSES, "--set model.decoder.layers=2", ("model.decoder", "classify")),
    "a metric of another goal": Case(CLASSES, "--set training.metric=rmse", ("rmse", "accuracy")),
    "sources of classes": Case(CLASSES, "--by source", ("--by", "texts", "leave it out")),
    "counted by words": Case(CLASSES, "--goal generate --by word", ("data.by", "line")),
    "no such pooling": Case(CLASSES, "--set model.head.pooling=mena", ("pooling", "mean")),
    "nothing to look at": Case(CLASSES, "--preset reader-rnn --set model.head.pooling=[]", ("head.pooling",)),
    "every line too long": Case(
        "".join(f"{'warm ' * 30}{row}\t{'good' if row % 2 else 'bad'}\n" for row in range(40)),
        "--set data.max_length=5 --preset reader-rnn",
        ("longer than data.max_length = 5", "split the lines"),
    ),
}


def assert_refused(said: Any, *parts: str) -> None:
    """A short message with these parts, and the exit code of a mistake."""
    assert said.code in (1, 2), said
    assert "Traceback" not in said.err
    message = said.err[said.err.index("error: ") :].strip().splitlines()
    assert len(message) <= 5, said.err
    for part in parts:
        assert part in " ".join(message), (part, said.err)


@pytest.mark.parametrize("name", TRAIN)
def test_train_refuses(seq2see: Command, tmp_path: Path, name: str) -> None:
    case = TRAIN[name]
    (tmp_path / case.name).write_bytes(case.text if isinstance(case.text, bytes) else case.text.encode())
    for file, text in case.files.items():
        (tmp_path / file).write_text(text)
    options = [word.replace("{", f"{tmp_path}/").replace("}", "") for word in case.options.split()]
    out = tmp_path / "run"
    said = seq2see("train", tmp_path / case.name, "--out", out, "--max-steps", 2, *options)
    assert_refused(said, *case.says)
    assert not out.exists(), "a folder for a run that could not begin"


VERBS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    # name: goal, the file, the command, and what must be said
    "beam of a classifier": ("classify", "0 1\n", "predict {run} {file} --beam 3", ("--beam", "classify")),
    "n-best of a tagger": ("tag", "lo dax\n", "predict {run} {file} --nbest 2", ("--nbest", "tag")),
    "sampled numbers": ("regress", "abc\n", "predict {run} {file} --sample", ("--sample", "regress")),
    "a prefix of a class": ("classify", "0 1\n", "predict {run} {file} --prefix e", ("--prefix", "leave")),
    "eight bits": ("classify", "0 1\n", "predict {run} {file} --int8", ("--int8", "leave")),
    "features out of nowhere": (
        "classify",
        "0 1\tx\n",
        "predict {run} {file} --features 2",
        ("without features", "leave"),
    ),
    "numbers out of nowhere": (
        "classify",
        "0 1\t5\n",
        "predict {run} {file} --numbers 2",
        ("without", "--numbers"),
    ),
    "categories out of nowhere": (
        "regress",
        "abc\t5\tx\n",
        "evaluate {run} {file} --categories 3",
        ("without", "--categories"),
    ),
    "more targets than tags": (
        "tag",
        "lo\tDET\tX\n",
        "evaluate {run} {file} --target 2,3",
        ("trained with 1 column (2) as --target",),
    ),
    "beam of an evaluation": (
        "classify",
        "0 1\todd\n",
        "evaluate {run} {file} --beam 3",
        ("--beam", "texts"),
    ),
    "hard attention": ("regress", "abc\t1\n", "evaluate {run} {file} --hard", ("--hard", "texts")),
    "by source": ("classify", "0 1\todd\n", "evaluate {run} {file} --by source", ("--by source", "texts")),
    "by words": ("tag", "lo\tDET\n", "evaluate {run} {file} --by word", ("--by", "'word'", "line")),
    "an empty test": ("classify", "", "evaluate {run} {file}", ("no usable example",)),
    "a number that is none": ("regress", "abc\tone\n", "evaluate {run} {file}", ("line 1: not a number",)),
    "tags out of step": ("tag", "lo dax\tDET\n", "evaluate {run} {file}", ("line 1", "2 words and 1 tag")),
    "a figure of no kind": (
        "classify",
        "0 1\todd\n",
        "evaluate {run} {file} --figure {file}.bmp",
        (".svg", "png"),
    ),
    "log-probabilities of numbers": ("regress", "abc\t1\n", "score {run} {file}", ("evaluate",)),
    "the score of an unknown label": (
        "classify",
        "0 1\todd\n0 0\tevn\n",
        "score {run} {file}",
        ("line 2", "'evn'", "did you mean 'even'?"),
    ),
    "runs of two goals": ("classify", "0 1\todd\n", "compare {run} {other} {file}", ("regress", "classify")),
    "heads without attention": ("classify", "0 1\todd\n", "heads {run} {file}", ("attention",)),
    "a directory": ("classify", "", "evaluate {run} {run}", ("is a directory", "name a file")),
    "a missing file": ("tag", "", "predict {run} nowhere.txt", ("there is no file nowhere.txt",)),
    "a missing run": ("tag", "lo\n", "predict {file}.run {file}", ("no run directory", "seq2see train")),
    "resume with another goal": (
        "classify",
        "",
        "train task:parity:pairs=300:lengths=1-5 --out {run} --resume --goal regress",
        ("goal", "--resume"),
    ),
}


@pytest.mark.parametrize("name", VERBS)
def test_verbs_refuse(seq2see: Command, goal_runs: dict[str, Path], tmp_path: Path, name: str) -> None:
    goal, text, command, says = VERBS[name]
    (tmp_path / "test.tsv").write_text(text)
    places = {"run": goal_runs[goal], "other": goal_runs["regress"], "file": tmp_path / "test.tsv"}
    said = seq2see(*(word.format(**places) for word in command.split()))
    assert_refused(said, *says)
