"""The explorer over HTTP: its page, and the questions that the page asks."""

from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from torch import Tensor

from seq2see.errors import Seq2seeError
from seq2see.lens.page import as_bytes, live_page, web_file
from seq2see.serving.bounds import BoundedBody, ExtraHeaders, KnownHosts
from seq2see.serving.desk import Desk, ForgottenError, MissingError
from seq2see.serving.gallery import MOST_UPLOADED
from seq2see.serving.requests import Problem, Uploaded, ViewAnswer, ViewRequest
from seq2see.serving.work import StoppedError
from seq2see.wording import quoted, visible

__all__ = ["explorer"]

BODY_SECONDS = 10.0
"""How long the body of a request may take to arrive."""

_BINARY: dict[str, Any] = {
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Name = Annotated[str, Path(max_length=64)]
Address = Annotated[str, Path(max_length=100)]


def _refusals(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Problem} for code in codes}


def explorer(desk: Desk, hosts: list[str]) -> FastAPI:
    """The application; it answers to IP addresses, to localhost and to these names of hosts."""
    refusals = _refusals(400, 408, 413, 500, 503)
    app = FastAPI(title="seq2see explorer", docs_url=None, redoc_url=None, responses=refusals)
    app.add_middleware(BoundedBody, most=1 << 20, seconds=BODY_SECONDS, larger={"/api/image": MOST_UPLOADED})
    app.add_middleware(KnownHosts, names=hosts)
    app.add_middleware(ExtraHeaders, headers=_HEADERS)
    _refuse_kindly(app)
    _serve_page(app)
    _serve_views(app, desk)
    return app


def _serve_page(app: FastAPI) -> None:
    @app.get("/", response_class=HTMLResponse)
    def page() -> str:
        """The page."""
        return live_page()

    @app.get("/web/{name}", responses={200: _BINARY, **_refusals(404, 422)}, response_class=Response)
    def file(name: Name) -> Response:
        """A file of the page."""
        content = web_file(name)
        if content is None:
            raise MissingError(f"the page has no file {name!r}")
        kind = _TYPES.get(f".{name.rpartition('.')[2]}", "application/octet-stream")
        return Response(content, media_type=kind)


def _serve_views(app: FastAPI, desk: Desk) -> None:
    @app.get("/api/models")
    def models() -> dict[str, Any]:
        """What there is to look at."""
        return desk.models()

    @app.post(
        "/api/image",
        responses=_refusals(415, 422),
        openapi_extra={"requestBody": {"required": True, **_BINARY}},
    )
    async def image(request: Request, name: Annotated[str, Query(min_length=1, max_length=200)]) -> Uploaded:
        """Keep an image in memory, to look at."""
        # A page from elsewhere may not send this type without asking, which nobody answers.
        if request.headers.get("content-type") != "application/octet-stream":
            raise HTTPException(415, "an image is sent as application/octet-stream")
        data = await request.body()
        return Uploaded(name=await run_in_threadpool(desk.upload, name, data))

    @app.post("/api/view", responses=_refusals(422))
    def view(request: ViewRequest, asker: Request) -> ViewAnswer:
        """What a model says and attends to, without the weights."""
        return desk.view(request, asker.scope["gone"])

    @app.get(
        "/api/map/{name}/{address}/{head}",
        responses={200: _BINARY, **_refusals(404, 410, 422)},
        response_class=Response,
    )
    def weights(
        name: Name,
        address: Address,
        head: Annotated[str, Path(max_length=20)],
        row: Annotated[int | None, Query(ge=0, le=100_000)] = None,
    ) -> Response:
        """The map of a head, a byte for each weight; or one row of it, exactly."""
        found = desk.weights(name, address, head)
        if row is None:
            return _binary(as_bytes(found), found)
        if row >= len(found):
            raise MissingError(f"this map has {len(found)} rows, numbered from 0")
        return _floats(found[row])

    @app.get(
        "/api/thumbnails/{name}/{address}",
        responses={200: _BINARY, **_refusals(404, 410, 422)},
        response_class=Response,
    )
    def thumbnails(name: Name, address: Address) -> Response:
        """Small maps of all heads of an attention."""
        found = desk.thumbnails(name, address)
        return _binary(as_bytes(found), found)

    @app.get(
        "/api/summary/{name}/{kind}",
        responses={200: _BINARY, **_refusals(404, 410, 422)},
        response_class=Response,
    )
    def summary(name: Name, kind: Literal["rollout", "gradient", "occlusion"], asker: Request) -> Response:
        """Rollout through the encoder, or an attribution of each answer to the source tokens."""
        return _floats(desk.summary(name, kind, asker.scope["gone"]))


def _refuse_kindly(app: FastAPI) -> None:
    """Every refusal has the same form: a sentence for the user."""

    @app.exception_handler(Seq2seeError)
    def ours(request: Request, error: Seq2seeError) -> JSONResponse:
        code = {ForgottenError: 410, MissingError: 404, StoppedError: 503}.get(type(error), 422)
        return JSONResponse({"detail": visible(str(error))}, code)

    @app.exception_handler(Exception)
    def unforeseen(request: Request, error: Exception) -> JSONResponse:
        named = f"{type(error).__name__}: {quoted(str(error))}"
        return JSONResponse({"detail": f"this is a defect in seq2see ({named}); please report it"}, 500)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:5]]
        return JSONResponse({"detail": "; ".join(problems)}, 422)

    @app.exception_handler(HTTPException)
    def other(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"detail": str(error.detail)}, error.status_code, headers=error.headers)


def _binary(content: bytes, shown: Tensor) -> Response:
    shape = ",".join(map(str, shown.shape))
    return Response(content, media_type="application/octet-stream", headers={"X-Shape": shape})


def _floats(found: Tensor) -> Response:
    return _binary(found.float().contiguous().numpy().astype("<f4").tobytes(), found)
