"""The explorer in Chromium, as a user opens it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

__all__ = ["FLAGS", "exploring", "shown"]

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def exploring(run: Path, text: str, *others: Path) -> Iterator[tuple[Page, str]]:
    """A page, and the address that `seq2see explore` prints for a run, or for several."""
    options = ["--port", "0", "--no-browser", "--text", text]
    command = [sys.executable, "-m", "seq2see", "explore", str(run), *map(str, others), *options]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stderr is not None
        try:
            address = re.search(r"http://\S+/", server.stderr.readline())
            assert address is not None
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            yield browser.new_page(viewport={"width": 1280, "height": 800}), address[0]
        finally:
            server.terminate()


def shown(page: Page) -> None:
    """Wait until the page shows what was asked for."""
    page.locator("body[data-view-id]:not([data-busy])").wait_for(timeout=120_000)
