"""The verbs that look inside: explore, heads."""

import os
import socket
import webbrowser
from pathlib import Path

from rich.progress import Progress

from seq2see.cli.console import answer, errors, results, say, table
from seq2see.cli.using import pairs_of
from seq2see.data import PairFile
from seq2see.data.pairs import columns_of
from seq2see.errors import Seq2seeError, SettingsError
from seq2see.figures import change_figure
from seq2see.files import replace_bytes
from seq2see.heads import weigh_heads
from seq2see.run import Model, load

__all__ = ["explore", "heads", "serve_explorer"]


def explore(runs: list[Path], host: str, port: int, device: str, example: str | None, browser: bool) -> None:
    """Serve the explorer until Ctrl-C."""
    models = [(run, load(run, device)) for run in runs]
    serve_explorer(models, host, port, example or _example(models[0][1]), browser)


def serve_explorer(
    models: list[tuple[Path, Model]], host: str, port: int, example: str, browser: bool = False
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


def _example(model: Model) -> str:
    """The first source of the run's dev or training file, if that is still there."""
    data = model.recipe.data
    try:
        pair = next(PairFile(str(data.dev or data.train), columns_of(data)).pairs(), None)
    except Seq2seeError:
        return ""
    return pair.source if pair is not None else ""


def heads(
    run: Path,
    file: str,
    how: str,
    metric: str | None,
    most: int,
    beam: int,
    out: Path | None,
    columns: dict[str, str | None],
    device: str,
    as_json: bool,
) -> None:
    """Print what each head is worth, and draw it."""
    model = load(run, device)
    pairs = pairs_of(model, file, **columns)
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("switching heads off", total=None)

        def tell(done: int, all: int) -> None:
            progress.update(task, completed=done, total=all)

        found = weigh_heads(model, pairs, how, metric, most, beam, tell)
    if out is not None:
        title = f"{found.metric} {found.score:.1f}: change without each head ({how})"
        replace_bytes(out, change_figure(found.changes, title, out.suffix[1:]))
        say(f"drawn in {out}")
    if as_json:
        answer(
            {"metric": found.metric, "sources": found.sources, "score": found.score, "changes": found.changes}
        )
        return
    most_heads = max(map(len, found.changes.values()))
    rows = [
        (address, *(f"{value:+.2f}" for value in changes), *[""] * (most_heads - len(changes)))
        for address, changes in found.changes.items()
    ]
    numbers = [f"head {head}" for head in range(most_heads)]
    title = (
        f"{found.metric} {found.score:.2f} on {found.sources:,} sources; change when a head is off ({how})"
    )
    results.print(table(title, ("attention", *numbers), rows, numbers))
    first = [f"{address} head {head} ({value:+.2f})" for address, head, value in found.ranked[:3]]
    results.print(f"those that matter most: {', '.join(first)}", highlight=False, markup=False)
