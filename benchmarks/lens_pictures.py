"""Make the pictures of docs/lens.md, docs/images.md and the README from trained runs, such as the demo's.

A run that reads images makes those of images: `python -m benchmarks.lens_pictures RUN --text IMAGE`.
"""

import argparse
import io
from pathlib import Path

from rich.console import Console

from benchmarks.browser import exploring, shown
from seq2see.goals import load, load_text
from seq2see.lens.request import LensRequest
from seq2see.lens.terminal import HeatMap
from seq2see.lens.view import View

SHOTS = {
    "translate": "step=3",
    "atlas": "view=atlas&theme=dark",
    "beam": "view=beam&beam=4",
    "edit": "view=edit&edits=off:decoder.2.cross:all:uniform",
    "compare": "view=compare&edits=off:decoder.*.cross:0:uniform&theme=dark",
}


IMAGE_SHOTS = {
    "caption": "step=6",
    "caption-dark": "step=8&edits=hide:16,17,22,23&theme=dark",
    "occlusion": "step=2&draw=occlusion",
}


def main() -> None:
    """One example as figures, as a page in one file, in a terminal, and in the explorer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--text", default="cyberpunk")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "lens")
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)
    model = load(arguments.run, device="cpu")
    if model.recipe.data.images is not None:
        view = model.look(LensRequest(f"{model.recipe.data.images}//{arguments.text}", beam=1))
        view.save(arguments.out / "words.png", preset="two-column", title=view.output)
        shots(arguments.run, arguments.text, arguments.out, IMAGE_SHOTS)
        return
    view = load_text(arguments.run, device="cpu").attention(arguments.text)
    view.save(
        arguments.out / "map.svg", title=f"{arguments.text}: where each sound looks", preset="two-column"
    )
    view.save(arguments.out / "view.html")
    terminal(view, arguments.text, arguments.out / "terminal.svg")
    shots(arguments.run, arguments.text, arguments.out, SHOTS)


def terminal(view: View, text: str, file: Path) -> None:
    """What a terminal shows."""
    console = Console(
        record=True, width=76, file=io.StringIO(), color_system="truecolor", force_terminal=True
    )
    console.print(HeatMap(view.alignment().tolist(), view.predicted, view.source))
    console.print("   ".join(view.alignments()), highlight=False)
    console.save_svg(str(file), title=f"where {text!r} is looked at")


def shots(run: Path, text: str, out: Path, views: dict[str, str]) -> None:
    """Views of the explorer."""
    with exploring(run, text) as (page, address):
        for name, state in views.items():
            page.goto("about:blank")
            page.goto(f"{address}#{state}")
            shown(page)
            page.wait_for_timeout(1500)
            page.screenshot(path=out / f"{name}.png")


if __name__ == "__main__":
    main()
