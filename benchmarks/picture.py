"""Run the demo in a real terminal (tmux) and keep its last screen as docs/demo.svg."""

import re
import subprocess
import tempfile
import time
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

WIDTH, HEIGHT = 118, 60
PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"


def main() -> None:
    """Start, wait for the end, take the screen, draw it."""
    with tempfile.TemporaryDirectory() as folder:
        seq2see = Path(__file__).parents[1].absolute() / ".venv" / "bin" / "seq2see"
        command = f"cd {folder}; {seq2see} demo; touch ended; sleep 60"
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        subprocess.run(["tmux", "new-session", "-d", "-s", "picture", *size, command], check=True)
        while not (Path(folder) / "ended").exists():
            time.sleep(1)
        screen = subprocess.check_output(["tmux", "capture-pane", "-e", "-p", "-t", "picture"], text=True)
        subprocess.run(["tmux", "kill-session", "-t", "picture"], check=True)
    draw(screen.rstrip())


def draw(screen: str) -> None:
    """A screen with its colours, as SVG."""
    with Path("/dev/null").open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere, color_system="truecolor")
        console.print(Text.from_ansi(screen))
        # Without the fonts that the template would fetch from elsewhere: the reader's own will do.
        template = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
        console.save_svg(str(PICTURE), title="make demo", code_format=template)


if __name__ == "__main__":
    main()
