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
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            said = (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in process.stderr)
            address = next(filter(None, said), None)
            assert address is not None, "the explorer ended without an address"
            yield address[0]
        finally:
            process.terminate()
