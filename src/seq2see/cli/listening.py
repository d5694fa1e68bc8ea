"""A server of a page: the first port that is free, its address told, and a browser opened on it."""

import os
import socket
import webbrowser
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from seq2see.cli.console import say
from seq2see.errors import SettingsError

__all__ = ["PORT", "serve"]

PORT = 8264
"""The first port that is tried."""
_PLACES = 20
"""Ports that are tried, from the first on."""
_GRACE = 2
"""Seconds that requests have to end when the server does."""


def serve(
    name: str,
    app: Any,
    host: str = "127.0.0.1",
    port: int = PORT,
    browser: bool = False,
    on_end: Callable[[], None] = lambda: None,
) -> None:
    """Say where the page is, and answer it until Ctrl-C; `on_end` gives up work that is under way."""
    with _listen(host, port) as listening:
        address, found = listening.getsockname()[:2]
        named = f"[{address}]" if ":" in address else address
        say(f"{name} is at http://{named}:{found}/  (Ctrl-C ends it)")
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
        _Server(config, on_end).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server that gives up its work when it is told to end; a second signal does not wait for anything."""

    def __init__(self, config: uvicorn.Config, on_end: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_end = on_end

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_end()
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
