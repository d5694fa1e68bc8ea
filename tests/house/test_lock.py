"""The lock of all packages, and that it tells when it is stale."""

import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from lock import LOCK, needed, read, stale


def test_every_package_that_is_needed_is_locked() -> None:
    """Safety 26: 15 of 63 were."""
    installed, problems = needed()
    assert problems == []
    assert {"torch", "click", "pydantic-core", "tokenizers", "pytest", "anyio"} <= installed.keys()
    assert read(LOCK.read_text()) == installed


def test_what_is_stale_is_told() -> None:
    assert stale({"a": "1", "b": "2"}, {"a": "1", "b": "2"}) == []
    assert stale({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "1", "d": "4"}) == [
        "b is 1, and 2 is installed",
        "c is needed and not listed",
        "d is listed and not needed",
    ]


def test_the_check_fails_where_the_lock_is_stale(tmp_path: Path) -> None:
    root = LOCK.parent
    shutil.copytree(root / "tools", tmp_path / "tools")
    shutil.copy(root / "pyproject.toml", tmp_path)
    lines = [line for line in LOCK.read_text().splitlines() if not line.startswith("click==")]
    (tmp_path / "constraints.txt").write_text("\n".join(lines))
    found = subprocess.run(
        [sys.executable, tmp_path / "tools" / "lock.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 1
    assert "click is needed and not listed; 'make lock' renews it" in found.stderr
