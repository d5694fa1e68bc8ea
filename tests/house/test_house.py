"""Promises that the project makes about itself."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_importing_is_light() -> None:
    """`import seq2see` brings in neither PyTorch nor anything else that is slow."""
    code = (
        "import sys, seq2see; print(sorted({'torch', 'numpy', 'tokenizers', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_help_is_quick() -> None:
    """Processor time, the best of five: what else the machine does must not decide."""
    times = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, "-m", "seq2see", "--help"], check=True, capture_output=True)
        after = os.times()
        times.append(
            after.children_user - before.children_user + after.children_system - before.children_system
        )
    assert min(times) < 0.3


def test_checking_data_needs_no_torch(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\n")
    code = (
        "import sys; from seq2see.cli import main; sys.argv = ['seq2see', 'check', sys.argv[1]]\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('torch' in sys.modules)"
    )
    said = subprocess.check_output([sys.executable, "-c", code, str(tmp_path / "pairs.tsv")], text=True)
    assert said.strip().endswith("False")


def test_readme_tree_is_the_tree() -> None:
    block = README.split("src/seq2see/\n")[1].split("```")[0]
    named = {line.split()[0] for line in block.splitlines() if line.strip()}
    there = {
        path.name + ("/" if path.is_dir() else "")
        for path in (ROOT / "src" / "seq2see").iterdir()
        if not path.name.startswith("__") and path.suffix in ("", ".py")
    }
    assert named == there


def test_readme_verbs_are_the_verbs() -> None:
    from seq2see.cli.app import app

    verbs = {
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    }
    assert set(re.findall(r"^\| `seq2see (\w+)", README, re.MULTILINE)) == verbs


def test_readme_links_lead_somewhere() -> None:
    documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for document in documents:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} names {target}"


def test_commands_in_the_documents_parse() -> None:
    """Every `seq2see ...` line of the documents uses words that the command line knows."""
    from typer.main import get_command

    from seq2see.cli.app import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    lines = [
        line
        for document in documents
        for line in re.findall(r"(?:^|`|\| )(seq2see [a-z]+[^`\n]*)", document.read_text(), re.MULTILINE)
    ]
    assert len(lines) > 15
    for line in lines:
        words = shlex.split(line.split("#")[0], comments=True)
        command = commands[words[1]]
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        assert {word for word in words if word.startswith("--")} <= known, line


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks"])
def test_files_stay_small(folder: str) -> None:
    long = [path for path in (ROOT / folder).rglob("*.py") if len(path.read_text().splitlines()) > 400]
    assert not long


def test_presets_are_documented() -> None:
    from seq2see.recipe import presets

    text = (ROOT / "docs" / "recipe.md").read_text()
    assert all(f"`{name}`" in text for name in presets())


def test_no_test_module_is_named_like_a_folder_of_runs() -> None:
    """`runs/` at the root, which the demo makes, must not shadow a module of the tests."""
    names = {path.stem for path in (ROOT / "tests").rglob("*.py")}
    assert not names & {"runs", "dist", "build"}


def test_the_walks_name_what_is_there() -> None:
    """Every file and name of the walks in docs/architecture.md exists, and each file stands there once."""
    text = (ROOT / "docs" / "architecture.md").read_text().split("## Adding something")[0]
    walked: list[str] = []
    for row in re.findall(r"^\| `.*\|$", text, re.MULTILINE):
        files, names = row.split("|")[1:3]
        here = re.findall(r"`([\w/]+\.py)`", files)
        folder = Path(here[0]).parent
        paths = [one if "/" in one or one == here[0] else str(folder / one) for one in here]
        walked += paths
        sources = "\n".join((ROOT / "src" / "seq2see" / path).read_text() for path in paths)
        for name in re.findall(r"`([\w.]+)`", names):
            for part in name.split("."):
                assert re.search(rf"(def|class) {part}\b", sources), f"{name} is not in {paths}"
    assert len(walked) > 30
    assert len(walked) == len(set(walked)), "a file stands twice"
