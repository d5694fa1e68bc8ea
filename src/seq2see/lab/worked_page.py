"""The worked example as a page: one HTML file that computes by itself."""

import re
from importlib.resources import files

from seq2see.lens.page import one_file, web_file

__all__ = ["worked_page"]


def worked_page() -> str:
    """The page with its modules, those of the explorer that it draws with, and their style."""
    own = {entry.name: entry.read_text() for entry in files("seq2see.lab").joinpath("web").iterdir()}
    modules = {f"lab/{name[:-3]}": text for name, text in own.items() if name.endswith(".js")}
    waiting = list(modules.values())
    while waiting:
        for name in re.findall(r'from "seq2see/([\w/]+)"', waiting.pop()):
            if name not in modules:
                modules[name] = (web_file(f"{name}.js") or b"").decode()
                waiting.append(modules[name])
    style = (web_file("style.css") or b"").decode() + own["worked.css"]
    return one_file(own["worked.html"], modules, style)
