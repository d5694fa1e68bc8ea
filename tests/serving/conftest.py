"""A browser for all tests of the page, and pages that may not complain."""

import re
from collections.abc import Iterator

import pytest
from browser import CHROMIUM, FLAGS
from playwright.sync_api import Browser, Page, sync_playwright


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all."""
    assert CHROMIUM is not None, "there is no chromium: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that may neither complain nor ask anyone but its own server."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    # A refused request is a line on the console too; tests that provoke one look at the notice instead. That
    # canvases are read back often is the doing of these tests.
    expected = re.compile("status of 4|willReadFrequently|ERR_CONNECTION_REFUSED")
    page.on(
        "console",
        lambda said: (
            complaints.append(said.text)
            if said.type in ("error", "warning") and not expected.search(said.text)
            else None
        ),
    )
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("http://127.0.0.1:", "data:", "blob:", "file:///"))
            else complaints.append(asked.url)
        ),
    )
    yield page
    context.close()
    assert complaints == []
