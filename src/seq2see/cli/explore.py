"""The verb `explore`."""

import os
import socket
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import uvicorn

from seq2see.cli.console import say
from seq2see.data import Pair, PairFile
from seq2see.data.passages import PromptFile
from seq2see.errors import Seq2seeError, SettingsError
from seq2see.goals import Predictor, load
from seq2see.goals.completer import Completer
from seq2see.goals.filler import Filler
from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk

__all__ = ["explore", "serve_explorer"]

_PLACES = 20
"""Ports that are tried, from the first on."""
_GRACE = 2
"""Seconds that requests have to end when the explorer does."""
_EXAMPLE_BYTES = 1 << 20
"""So much is read of the data of a run, to find an example."""


def explore(
    runs: list[Path],
    host: str,
    port: int,
    device: str,
    example: str | None,
    browser: bool,
    names: Sequence[str] = (),
) -> None:
    """Serve the explorer until Ctrl-C; it answers to these further names of its host."""
    models = [(run, load(run, device)) for run in runs]
    serve_explorer(models, host, port, example or _example(models[0][1]), browser, names)


def serve_explorer(
    models: Sequence[tuple[Path, Predictor]],
    host: str,
    port: int,
    example: str,
    browser: bool = False,
    names: Sequence[str] = (),
) -> None:
    """Say where the page is, and answer it until Ctrl-C."""
    with _listen(host, port) as listening:
        address, found = listening.getsockname()[:2]
        named = f"[{address}]" if ":" in address else address
        desk = Desk(dict(zip("ab", models, strict=False)), example)
        app = explorer(desk, [host, socket.gethostname(), f"{socket.gethostname()}.local", *names])
        say(f"the explorer is at http://{named}:{found}/  (Ctrl-C ends it)")
        if address not in ("127.0.0.1", "::1"):
            say("anyone who can reach this address can use it: it asks for no password")
        if browser and os.environ.get("DISPLAY") is not None:
            webbrowser.open(f"http://{named}:{found}/")
        config = uvicorn.Config(
            app,
            log_level="critical",
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
        _Server(config, desk).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that gives up its work when it is told to end; a second signal does not wait for anything."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self._desk = desk

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._desk.close()
        self.force_exit = self.should_exit
        self.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    """A socket at this port, or at one of the next few if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason = ""
    for place in range(port, min(port + _PLACES, 65536) if port else 1):
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, place))
            listening.listen(64)
            return listening
        except (OSError, ValueError) as error:  # a name that cannot be one is a ValueError
            listening.close()
            reason = str(getattr(error, "strerror", None) or error)
            if isinstance(error, ValueError | socket.gaierror):
                break
    raise SettingsError(
        f"no server can listen at {host}, port {port}: {reason}; choose with --host and --port"
    )


def _example(model: Predictor) -> str:
    """The first source of the run's dev or training file, if that is still there."""
    data = model.recipe.data
    try:
        reads = PromptFile if isinstance(model, Filler | Completer) else PairFile
        items = reads(str(data.dev or data.train), data, needs_target=reads is PairFile).beginning(
            _EXAMPLE_BYTES
        )
        text = next((item.source for item in items if isinstance(item, Pair)), "")
        if isinstance(model, Completer):  # half of what it sees, so that there is room to go on
            return text[: model.context // 2]
        return model.with_gap(text) if isinstance(model, Filler) else text
    except Seq2seeError:
        return ""
