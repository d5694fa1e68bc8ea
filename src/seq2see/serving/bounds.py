"""A limit on the size of requests."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BoundedBody"]


class BoundedBody:
    """Refuses a body of more than `most` bytes, whether its length was announced or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            part = message.get("body", b"")
            size, more = size + len(part), message.get("more_body", False)
            if size > self._most:
                refusal = {"detail": f"a request has {self._most:,} bytes at the most"}
                await JSONResponse(refusal, 413)(scope, receive, send)
                return
            parts.append(part)
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": b"".join(parts), "more_body": False}

        await self._app(scope, again, send)
