"""The verb `explore`."""

import os
import socket
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from seq2see.cli.console import say
from seq2see.data import PairFile
from seq2see.errors import Seq2seeError, SettingsError
from seq2see.goals import Predictor, load

__all__ = ["explore", "serve_explorer"]


def explore(runs: list[Path], host: str, port: int, device: str, example: str | None, browser: bool) -> None:
    """Serve the explorer until Ctrl-C."""
    models = [(run, load(run, device)) for run in runs]
    serve_explorer(models, host, port, example or _example(models[0][1]), browser)


def serve_explorer(
    models: Sequence[tuple[Path, Predictor]], host: str, port: int, example: str, browser: bool = False
) -> None:
    """Say where the page is, and answer it until Ctrl-C."""
    import uvicorn

    from seq2see.serving.app import explorer
    from seq2see.serving.desk import Desk

    with _listen(host, port) as listening:
        address, found = listening.getsockname()[:2]
        named = f"[{address}]" if ":" in address else address
        desk = Desk(dict(zip("ab", models, strict=False)), example)
        app = explorer(
            desk, ["*"] if address in ("0.0.0.0", "::") else ["127.0.0.1", "localhost", "[::1]", address]
        )
        say(f"the explorer is at http://{named}:{found}/  (Ctrl-C ends it)")
        if address not in ("127.0.0.1", "::1"):
            say("anyone who can reach this address can use it: it asks for no password")
        if browser and os.environ.get("DISPLAY") is not None:
            webbrowser.open(f"http://{named}:{found}/")
        config = uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False)
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """A socket at this port, or at one of the next few if it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for place in range(port, port + 20 if port else 1):
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, place))
            listening.listen(64)
            return listening
        except OSError as error:
            listening.close()
            reason = error.strerror
    raise SettingsError(f"no server can listen at {host}, port {port}: {reason}; choose another with --port")


def _example(model: Predictor) -> str:
    """The first source of the run's dev or training file, if that is still there."""
    data = model.recipe.data
    try:
        pair = next(PairFile(str(data.dev or data.train), data).pairs(), None)
    except Seq2seeError:
        return ""
    return pair.source if pair is not None else ""
