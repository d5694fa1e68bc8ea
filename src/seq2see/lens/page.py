"""The explorer's page: its files, and one self-contained file that opens on saved data."""

import base64
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import torch
from torch import Tensor

from seq2see.lens.view import Asked, View, sides_of

__all__ = [
    "as_bytes",
    "described",
    "framed_page",
    "live_page",
    "map_of",
    "one_file",
    "saved_page",
    "web_file",
]

_MARK = "<!-- importmap -->"
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<\u2028\u2029"}
"""Signs that could end or break a script element, as JSON may write them too."""
_STYLE = '<link rel="stylesheet" href="/web/style.css">'


def web_file(name: str) -> bytes | None:
    """A file of the page, by name."""
    found = _files().get(name)
    return found.read_bytes() if found is not None else None


def live_page() -> str:
    """The page as a server gives it out: its modules are files of their own."""
    return _with_modules(_index(), {name: f"/web/{file.name}" for name, file in _modules().items()})


def framed_page(view: View) -> str:
    """The saved page inside a frame, as a notebook shows it."""
    page = escape(saved_page(view), quote=True)
    return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'


def saved_page(view: View) -> str:
    """One HTML file with modules, style and the view in it."""
    modules = {name: file.read_text() for name, file in _modules().items()}
    page = one_file(_index(), modules, (web_file("style.css") or b"").decode())
    asked = view.asked or Asked("", view.text)
    saved = {
        "models": {
            "models": [
                {
                    "name": "a",
                    "run": asked.model,
                    "about": "",
                    "addresses": _addresses(view),
                    "features": False,
                    "reads": not view.reads_itself,
                    "writes": view.kind == "text",
                    "attributions": [],
                    "images": view.picture is not None,
                    "names": [view.text] if view.picture is not None else [],
                    "blocks": [block.block for block in view.blocks],
                    "targets": [asked.into] if asked.into else [],
                }
            ],
            "example": view.text,
            "limits": {"characters": 0, "edits": 0, "beam": 1, "upload": 0},
        },
        "request": {
            **asked._asdict(),
            "model": "a",
            "edits": [edit.model_dump(by_alias=True) for edit in asked.edits],
        },
        "view": described(view),
        "maps": {address: _text(as_bytes(weights)) for address, weights in view.weights.items()},
        "summaries": {"rollout": _text(view.rollout().numpy().astype("<f4").tobytes())}
        if any(address.startswith("decoder" if view.reads_itself else "encoder") for address in view.weights)
        else {},
    }
    held = json.dumps(saved, ensure_ascii=False).translate(_ESCAPED)
    return page.replace("</head>", f'<script type="application/json" id="saved">{held}</script>\n</head>', 1)


def one_file(page: str, modules: Mapping[str, str], style: str) -> str:
    """A page with the text of its modules and its style inside, so that it works from a disk."""
    places = {name: f"data:text/javascript;base64,{_text(text.encode())}" for name, text in modules.items()}
    return _with_modules(page, places).replace(_STYLE, f"<style>\n{style}\n</style>")


def described(view: View) -> dict[str, Any]:
    """A view without its weights, as plain values."""
    return {
        "source": [view.unknown.tokens.get(place, label) for place, label in enumerate(view.source)],
        "unknown": list(view.unknown.tokens),
        "lower": view.unknown.lower,
        "read": view.read,
        "predicted": view.predicted,
        "kind": view.kind,
        "output": view.output,
        "note": view.note,
        "log_probability": view.log_probability,
        "cut": view.cut,
        "steps": [step._asdict() for step in view.steps],
        "maps": [
            {
                **address,
                "shape": list(view.weights[address["address"]].shape[1:]),
                "summaries": view.summaries(address["address"]),
            }
            for address in _addresses(view)
        ],
        "effect": _effect(view),
        "picture": view.picture and view.picture.described(),
        "blocks": [block._asdict() for block in view.blocks],
        "features": [
            {
                "stage": maps.stage,
                "channels": maps.channels,
                "shape": list(maps.maps.shape[1:]),
                "maps": _text(as_bytes(maps.maps)),
            }
            for maps in view.features
        ],
        "tree": view.tree
        and {"nodes": [{"id": number, **branch._asdict()} for number, branch in enumerate(view.tree)]},
    }


def as_bytes(weights: Tensor) -> bytes:
    """One byte for each weight."""
    return weights.mul(255).round().clamp(0, 255).to(torch.uint8).contiguous().numpy().tobytes()


def map_of(address: str, heads: int) -> dict[str, Any]:
    """What the rows and columns of an attention stand for."""
    rows, columns = sides_of(address)
    return {"address": address, "heads": heads, "rows": rows, "columns": columns}


def _addresses(view: View) -> list[dict[str, Any]]:
    return [map_of(address, len(weights)) for address, weights in view.weights.items()]


def _effect(view: View) -> dict[str, Any] | None:
    if view.effect is None:
        return None
    found = view.effect._asdict()
    return {
        **{name: value for name, value in found.items() if name != "divergence"},
        "kl": found["divergence"],
    }


def _files() -> dict[str, Traversable]:
    """The page's files by name."""
    return {entry.name: entry for entry in files("seq2see.lens").joinpath("web").iterdir()}


def _modules() -> dict[str, Traversable]:
    """The page's modules by name, without its ending."""
    return {name[:-3]: file for name, file in sorted(_files().items()) if name.endswith(".js")}


def _index() -> str:
    return (web_file("index.html") or b"").decode()


def _with_modules(page: str, places: Mapping[str, str]) -> str:
    imports = json.dumps({"imports": {f"seq2see/{name}": place for name, place in places.items()}})
    return page.replace(_MARK, f'<script type="importmap">{imports}</script>')


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
