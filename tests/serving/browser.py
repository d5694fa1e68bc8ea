"""A real browser on a real server."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def serving(*runs: Path, text: str) -> Iterator[str]:
    """The explorer as a user starts it; gives the address that it prints."""
    command = [sys.executable, "-m", "seq2see", "explore", *map(str, runs)]
    options = ["--port", "0", "--no-browser", "--device", "cpu", "--text", text]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                yield found[0]
                break
        else:
            raise AssertionError("the explorer ended without an address")
    finally:
        process.terminate()
        process.wait(20)
