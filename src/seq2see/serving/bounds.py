"""Limits on requests: whom they are for, how long they are, and how long they may take to arrive."""

import asyncio
import ipaddress
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BoundedBody", "ExtraHeaders", "KnownHosts"]


class KnownHosts:
    """Refuses requests to a host that is neither an IP address nor one of some names.

    A page elsewhere can point a name of its own at this machine (DNS rebinding), but no IP address.
    """

    def __init__(self, app: ASGIApp, names: Iterable[str]) -> None:
        self._app, self._names = app, {"localhost", *(name.lower().rstrip(".") for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._knows(Headers(scope=scope).get("host", "")):
            await self._app(scope, receive, send)
            return
        refusal = (
            "this explorer does not go by that name; use its address, or start it with --allow-host NAME"
        )
        await JSONResponse({"detail": refusal}, 400)(scope, receive, send)

    def _knows(self, host: str) -> bool:
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name.lower().rstrip(".") in self._names:
            return True
        with suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return False


class ExtraHeaders:
    """Adds headers to every response."""

    def __init__(self, app: ASGIApp, headers: dict[str, str]) -> None:
        self._app, self._headers = app, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, with_more)


class BoundedBody:
    """Refuses a body of more than `most` bytes, announced or not, or of more than so many `seconds`.

    Some paths may take `larger` bodies.

    What follows finds an event under "gone" in the scope, which is set when the client leaves.
    """

    def __init__(
        self, app: ASGIApp, most: int, seconds: float, larger: Mapping[str, int] | None = None
    ) -> None:
        self._app, self._most, self._seconds, self._larger = app, most, seconds, larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._larger.get(scope["path"], self._most)
        try:
            async with asyncio.timeout(self._seconds):
                body = await _body(receive, most)
        except TimeoutError:
            refusal = {"detail": f"a request has to arrive within {self._seconds:.0f} seconds"}
            await JSONResponse(refusal, 408, {"Connection": "close"})(scope, receive, send)
            return
        except ValueError:
            refusal = {"detail": f"a request has {most:,} bytes at the most"}
            await JSONResponse(refusal, 413)(scope, receive, send)
            return
        if body is None:
            return
        gone = scope["gone"] = threading.Event()
        watcher = asyncio.create_task(_notice_leaving(receive, gone))
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return waiting.pop() if waiting else await receive()

        try:
            await self._app(scope, again, send)
        finally:
            watcher.cancel()


async def _body(receive: Receive, most: int) -> bytes | None:
    """The whole body, or None if the client left before its end; ValueError if it is too large."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size, more = size + len(part), message.get("more_body", False)
        if size > most:
            raise ValueError
        parts.append(part)
    return b"".join(parts)


async def _notice_leaving(receive: Receive, gone: threading.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()
