"""The command line. Knows nothing of tensors."""

import errno
import os
import sys
import traceback
from contextlib import suppress

__all__ = ["main"]

_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What a user's choice of a name does not cause."""


def main() -> None:
    """Run the command; whatever goes wrong becomes a few lines and an exit code.

    Errors that were made for users say what to do. Anything else is told by its kind; `SEQ2SEE_DEBUG=1` shows
    where it happened.
    """
    from seq2see.cli.streams import open_streams, shut_output

    open_streams()
    code = _run()
    try:
        shut_output()
    except OSError as error:
        code = code or _tell(error)
    sys.exit(code)


def _run() -> int:
    """Run the command, and give its exit code."""
    try:
        from seq2see.cli.app import app

        return int(app(prog_name="seq2see", standalone_mode=False) or 0)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return _tell(error)


def _tell(error: Exception) -> int:
    """Say what went wrong, and give the exit code of that."""
    from rich.text import Text

    from seq2see.cli.console import say
    from seq2see.errors import Seq2seeError
    from seq2see.wording import quoted, visible

    if os.environ.get("SEQ2SEE_DEBUG") == "1":
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):
        return 1  # as `head` does when it has seen enough
    code, sentence = 1, ""
    if isinstance(error, Seq2seeError):
        code, sentence = error.exit_code, str(error)
    elif hasattr(error, "format_message"):  # a mistake on the command line, noticed by typer
        code, sentence = getattr(error, "exit_code", 2), error.format_message()
        if (context := getattr(error, "ctx", None)) is not None:
            sentence = f"{sentence}\n{context.get_usage()}\n'{context.command_path} --help' tells more"
    elif isinstance(error, OSError) and error.filename is not None and error.errno not in _OF_THE_DISK:
        code, sentence = 2, f"{quoted(str(error.filename))}: {error.strerror}; name another file or folder"
    else:
        sentence = _unforeseen(error)
    with suppress(OSError):
        say(Text("error: ", style="bold red").append(visible(sentence), style="not bold default"))
    return code


def _unforeseen(error: Exception) -> str:
    """What to say of an error that was not made for users."""
    from seq2see.wording import quoted

    if isinstance(error, MemoryError) or ("alloc" in str(error) and "memory" in str(error)):
        return "there is not enough memory; take a smaller model, shorter lines or smaller batches"
    if isinstance(error, UnicodeEncodeError):
        letter = quoted(error.object[error.start])
        return f"the output takes {error.encoding} alone, and {letter} is none of it; set PYTHONUTF8=1"
    if isinstance(error, OSError):
        where = error.filename if error.filename is not None else "standard output, or a file,"
        return f"{where} cannot be written: {error.strerror or error}; see whether it is open and has room"
    return (
        f"this is a defect in seq2see ({type(error).__name__}: {quoted(str(error))}); please report it, "
        "with what SEQ2SEE_DEBUG=1 in the environment shows of it"
    )
