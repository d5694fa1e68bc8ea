"""The verbs `import` and `export`, and that what was brought in is a run like any other."""

import ast
import json
from pathlib import Path

import foreign
import pytest
from command_line import Command
from foreign import TEXTS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Marian, brought in."""
    from seq2see.exchange.importing import import_model

    folder = tmp_path_factory.mktemp("brought")
    import_model(foreign.pair(folder / "theirs", "Marian").folder, folder / "run", tell=lambda note: None)
    return folder / "run"


def test_in_and_out_again(seq2see: Command, tmp_path: Path) -> None:
    """E5, E6: both verbs say what became of the model."""
    theirs = foreign.bert(tmp_path / "theirs").folder
    said = seq2see("import", theirs, "--out", tmp_path / "run")
    assert said.code == 0
    assert "the pooler" not in said.err and "token type 0" in said.err
    assert "is a run" in said.err
    said = seq2see("export", tmp_path / "run", tmp_path / "out", "--to", "huggingface")
    assert (said.code, said.out) == (0, "")
    assert "BertForMaskedLM" in said.err
    readme = (tmp_path / "out" / "README.md").read_text()
    assert "BertForMaskedLM" in readme and "seq2see predict" not in readme
    said = seq2see("export", tmp_path / "run", tmp_path / "out")
    assert said.code == 2 and "is not empty" in said.err
    said = seq2see("import", tmp_path / "nowhere", "--out", tmp_path / "other")
    assert said.code == 2 and "there is no folder" in said.err


def test_an_ordinary_run(run: Path, seq2see: Command, tmp_path: Path) -> None:
    """E5: info, predict, score, evaluate and heads take it."""
    pairs, sources = tmp_path / "pairs.tsv", tmp_path / "sources.txt"
    pairs.write_text("".join(f"{a}\t{b}\n" for a, b in zip(TEXTS, reversed(TEXTS), strict=True)))
    sources.write_text("".join(f"{text}\n" for text in TEXTS))
    assert json.loads(seq2see("info", run, "--json").out)["recipe"]["goal"] == "generate"
    assert seq2see("info", run, "--verify").code == 0
    assert len(seq2see("predict", run, sources, "--max-length", "9").out.splitlines()) == len(TEXTS)
    engines = ("torch", "ctranslate2")
    said = [seq2see("predict", run, sources, "--beam", "1", "--engine", name) for name in engines]
    assert said[0].out == said[1].out
    assert len(seq2see("score", run, pairs).out.splitlines()) == len(TEXTS)
    assert "bleu" in seq2see("evaluate", run, pairs, "--beam", "1", "--json").out
    assert seq2see("heads", run, pairs, "--most", "2", "--json").code == 0


def test_a_run_from_elsewhere_can_be_looked_into(run: Path) -> None:
    """E5: every head has its weights, and edits change what is said."""
    from seq2see import load

    model = load(run, "cpu")
    view = model.attention(TEXTS[0], beam=1, max_length=6)
    assert {"encoder.0.self", "decoder.1.cross"} <= set(view.weights)


def test_the_package_does_without_transformers() -> None:
    """E5: only tests and benchmarks know it."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"transformers", "sentencepiece"} & {name.split(".")[0] for name in names}, path
