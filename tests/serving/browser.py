"""A real browser on a real server."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Page

from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk

CHROMIUM = shutil.which("chromium")
# Where all is checked, a browser that is missing is a failure.
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and os.environ.get("CI") != "true",
    reason="there is no chromium: apt-get install chromium",
)
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


@contextmanager
def serving_here(desk: Desk) -> Iterator[str]:
    """The explorer in a thread of this process, for models that are loaded already."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn.Config(explorer(desk, ["127.0.0.1"]), log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


def open_at(page: Page, address: str, state: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{address}#{state}")
    settled(page)


def settled(page: Page) -> None:
    """Wait until the last request is answered, with a view or with a refusal."""
    page.locator("body[data-phase]:not([data-phase=asking]):not([data-busy])").wait_for()


def view_id(page: Page) -> str:
    return str(page.evaluate("document.body.dataset.viewId"))


def another_view(page: Page, before: str) -> None:
    page.locator(f'body:not([data-view-id="{before}"]):not([data-busy])').wait_for()


def output(page: Page) -> str:
    """What the model says, without the end symbol."""
    return str(page.evaluate("document.querySelector('#output').textContent")).replace("<end>", "").strip()


def drawn(page: Page, view: str) -> bool:
    """Whether a canvas of a view gets more than a few colours, soon."""
    colours = """view => Math.max(...[...document.querySelectorAll(`#${view} canvas`)].map((canvas) => {
        if (!canvas.width || !canvas.height) return 0;
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
    }))"""
    for _ in range(50):
        if page.evaluate(colours, view) > 3:
            return True
        page.wait_for_timeout(100)
    return False
