"""The command line. Knows nothing of tensors."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command; errors made for users become a few lines and an exit code."""
    from seq2see.cli.app import app
    from seq2see.errors import Seq2seeError

    try:
        app()
    except Seq2seeError as error:
        _say(str(error))
        sys.exit(error.exit_code)


def _say(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True).print(
        Text("error: ", style="bold red").append(text, style="default")
    )
