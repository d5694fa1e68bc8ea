"""What was damaged since it was written is told, not used."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command

from seq2see.data.encoded import cache_folder
from seq2see.digests import replace_sealed, sealed, verify
from seq2see.errors import RunError
from seq2see.goals import load
from seq2see.models.weights import read_tensors, write_tensors
from seq2see.run import DataFacts
from seq2see.training.log import read_log
from seq2see.workflow import Trained

Short = Callable[..., Trained]


def flip(path: Path, place: int = -1) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.fixture
def run(short: Short, tmp_path: Path) -> Path:
    """A run to damage."""
    short()
    return tmp_path / "run"


def test_a_flipped_bit_of_the_weights_is_refused(run: Path) -> None:
    """Safety 8: a model with one other weight still answers, only worse."""
    flip(run / "model.safetensors")
    with pytest.raises(RunError, match=r"model\.safetensors is damaged: its checksum does not fit"):
        load(run)


@pytest.mark.parametrize("name", ["recipe.yaml", "data.json", "tokenizers/source.json", "digests.json"])
def test_a_flipped_bit_of_any_small_file_is_refused(run: Path, name: str) -> None:
    """Safety 8: a digit of the learning rate, a letter of the vocabulary."""
    whole = (run / name).read_bytes()
    for place in range(1, len(whole), max(1, len(whole) // 25)):
        (run / name).write_bytes(whole)
        flip(run / name, place)
        with pytest.raises(RunError):
            load(run)


@pytest.mark.parametrize("name", ["model.safetensors", "state/training.safetensors", "data.json"])
def test_a_damaged_run_does_not_go_on(run: Path, short: Short, name: str) -> None:
    flip(run / name)
    with pytest.raises(RunError):
        short(resume=True, steps=8)


def test_weights_that_the_end_needs_are_asked_for_at_the_beginning(run: Path, short: Short) -> None:
    (run / "model.safetensors").unlink()
    with pytest.raises(RunError, match=r"model\.safetensors is missing"):
        short(resume=True, steps=8)


def test_a_damaged_cache_is_made_anew(short: Short, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Safety 8: other ids in the cached arrays gave other weights."""
    monkeypatch.setenv("SEQ2SEE_CACHE", str(tmp_path / "cache"))
    short("one")
    for path in sorted(cache_folder().rglob("*.bin")):
        flip(path, 0)
    short("two")
    first, second = (read_tensors(tmp_path / name / "model.safetensors")[0] for name in ("one", "two"))
    assert all(first[name].equal(second[name]) for name in first)


def test_verify_says_what_is_whole(run: Path, seq2see: Command) -> None:
    said = seq2see("info", "--verify", run)
    assert said.code == 0
    assert "is whole" in said.out
    found = json.loads(seq2see("info", "--verify", run, "--json").out)
    assert found["whole"] is True
    assert found["files"]["model.safetensors"] == found["files"]["state/training.safetensors"] == "whole"
    assert found["files"]["tokenizers/source.json"] == "whole"


@pytest.mark.parametrize(
    "name", ["model.safetensors", "state/training.safetensors", "tokenizers/target.json"]
)
def test_verify_says_what_is_not(run: Path, seq2see: Command, name: str) -> None:
    flip(run / name)
    said = seq2see("info", "--verify", run)
    assert said.code == 1
    assert "is not whole" in said.out
    assert name in said.out
    found = json.loads(seq2see("info", "--verify", run, "--json").out)
    assert found["whole"] is False
    assert "damaged" in found["files"][name]


def test_a_run_without_checksums_is_still_a_run(run: Path, seq2see: Command) -> None:
    """Runs of version 0.1.0 have none."""
    (run / "digests.json").unlink()
    weights, about = read_tensors(run / "model.safetensors")
    from safetensors.torch import save_file

    save_file(weights, run / "model.safetensors", metadata=about)
    load(run)
    said = seq2see("info", "--verify", run)
    assert said.code == 0
    assert "no checksum" in said.out


def test_a_kill_between_two_writes_leaves_nothing_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is being replaced is the old or the new one, and never called damaged."""
    import seq2see.digests as module

    replace_sealed(tmp_path, {"a": "old", "b": "kept"})
    real, calls = module.replace_text, 0
    for kill_at in (1, 2, 3):

        def dies(path: Path, text: str, kill_at: int = kill_at) -> None:
            nonlocal calls
            calls += 1
            if calls == kill_at:
                raise KeyboardInterrupt
            real(path, text)

        calls = 0
        monkeypatch.setattr(module, "replace_text", dies)
        with pytest.raises(KeyboardInterrupt):
            replace_sealed(tmp_path, {"a": f"new {kill_at}"})
        monkeypatch.setattr(module, "replace_text", real)
        verify(tmp_path)
        assert "b" in sealed(tmp_path)
        replace_sealed(tmp_path, {"a": "old"})


@pytest.mark.parametrize(
    "content",
    ["5", "[]", '{"fingerprint": 5}', '{"fingerprint": "a", "train_pairs": "many"}', "\x00", "[" * 9999],
)
def test_facts_of_the_wrong_kind_are_refused(run: Path, content: str) -> None:
    """Safety 22: each file of a run gives something typed, or a sentence."""
    (run / "data.json").write_text(content)
    (run / "digests.json").unlink()
    with pytest.raises(RunError, match=r"data\.json"):
        DataFacts.read(run)
    with pytest.raises(RunError, match=r"data\.json"):
        load(run)


@pytest.mark.parametrize("line", [b"5", b"[]", b"\xff\xfe", b'{"loss": 1}', b'{"step": "x"}', b"[" * 9999])
def test_a_damaged_line_of_the_record_does_not_block(run: Path, short: Short, line: bytes) -> None:
    """Safety 22: the other lines are kept."""
    path = run / "metrics.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]) + b"\n")
    assert len(read_log(path)) == len(lines)
    short(resume=True, steps=8)
    steps = [record["step"] for record in read_log(path) if "loss" in record]
    assert steps == list(range(1, 9))


@pytest.mark.parametrize("about", [{}, {"progress": "5"}, {"progress": '{"step": "x"}'}, {"progress": "{"}])
def test_a_state_that_says_nothing_is_refused(run: Path, short: Short, about: dict[str, str]) -> None:
    """Safety 22."""
    state = run / "state" / "training.safetensors"
    write_tensors(state, read_tensors(state)[0], about)
    with pytest.raises(RunError, match="is not the state of a training run"):
        short(resume=True, steps=8)


def test_one_cache_for_many_processes(tmp_path: Path) -> None:
    """Safety 17: one removed what another had just put there."""
    code = (
        "import sys, pathlib\n"
        "from seq2see.data import Pair\n"
        "from seq2see.data.columns import Words\n"
        "from seq2see.data.encoded import encode\n"
        "pairs = [Pair(n, 'a b', 'c', '') for n in range(20)]\n"
        "columns = {'source': Words(['a', 'b'], [])}\n"
        "for turn in range(500):\n"
        "    found = encode(lambda: pairs, columns, 9, pathlib.Path(sys.argv[1]) / f'corpus-{turn}')\n"
        "    assert len(found) == 20 and found['source'][19].tolist() == found['source'][0].tolist()\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path)]
    children = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(3)]
    for child in children:
        _, said = child.communicate(timeout=120)
        assert child.returncode == 0, said.decode()
