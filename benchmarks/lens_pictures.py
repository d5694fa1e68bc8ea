"""Make the pictures of docs/lens.md from a trained run, such as the demo's."""

import argparse
import io
from pathlib import Path

from rich.console import Console

import seq2see
from seq2see.lens.terminal import HeatMap


def main() -> None:
    """One example as figures, as a page in one file, and as a terminal shows it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--text", default="cyberpunk")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "lens")
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)
    view = seq2see.load(arguments.run, device="cpu").attention(arguments.text)
    view.save(arguments.out / "map.svg", title=f"{arguments.text}: where each sound looks")
    view.save(arguments.out / "heads.svg", grid=True, preset="two-column")
    view.save(arguments.out / "view.html")
    console = Console(
        record=True, width=76, file=io.StringIO(), color_system="truecolor", force_terminal=True
    )
    console.print(HeatMap(view.alignment().tolist(), view.predicted, view.source))
    console.print("   ".join(view.alignments()), highlight=False)
    console.save_svg(str(arguments.out / "terminal.svg"), title=f"where {arguments.text!r} is looked at")


if __name__ == "__main__":
    main()
