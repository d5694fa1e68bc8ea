"""What tests of training share."""

import itertools
from pathlib import Path

import pytest


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Fifty-four words and their mirror images."""
    words = ["".join(letters) for letters in itertools.product("abc", "bcd", "ae", "xyz")]
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words))
    return path
