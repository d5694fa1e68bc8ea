"""One page that asks for nothing, over HTTP."""

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from seq2see.serving.bounds import BoundedBody, ExtraHeaders, KnownHosts

__all__ = ["single_page"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline' data:; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def single_page(page: str) -> FastAPI:
    """An application that gives out this page, to IP addresses and localhost alone."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(BoundedBody, most=0, seconds=1.0)
    app.add_middleware(KnownHosts, names=())
    app.add_middleware(ExtraHeaders, headers=_HEADERS)

    @app.get("/", response_class=HTMLResponse)
    def only() -> str:
        """The page."""
        return page

    return app
