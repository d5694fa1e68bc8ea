"""Make the picture of the lab's worked example: `python -m benchmarks.worked_picture`."""

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.browser import FLAGS
from seq2see.lab.worked_page import worked_page


def main() -> None:
    """The page as it opens, or in another state, with the score of query 2 and key 1 pointed at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", default="", help="what follows the # of a link, such as theme=dark")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parents[1] / "docs" / "lab" / "worked-page.png"
    )
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "worked.html"
        file.write_text(worked_page())
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1180, "height": 820}, device_scale_factor=1.5)
        page.goto(f"{file.as_uri()}#{arguments.state}")
        page.locator('#scores1 td[data-row="1"][data-column="0"]').hover()
        page.screenshot(path=arguments.out)


if __name__ == "__main__":
    main()
