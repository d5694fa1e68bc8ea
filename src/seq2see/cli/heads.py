"""The verb `heads`."""

from pathlib import Path

from rich.progress import Progress

from seq2see.cli.columns import Named, examples_for, file_for, usable
from seq2see.cli.console import answer, errors, figure_kind, results, table, write_figure
from seq2see.figures import change_figure
from seq2see.goals import load
from seq2see.lab.head_effects import weigh_heads
from seq2see.lab.head_patterns import find_patterns

__all__ = ["heads", "patterns"]

_LOOKS_AT = {
    "previous": "the token before",
    "itself": "its own place",
    "next": "the token after",
    "special": "<begin>, <end>",
    "first": "the first place",
    "last": "the last place",
    "same": "the same token elsewhere",
}
_STRONGEST = 3
"""Heads that are named for each pattern."""


def heads(
    run: Path,
    file: str,
    how: str,
    metric: str | None,
    most: int,
    beam: int | None,
    out: Path | None,
    columns: Named,
    device: str,
    as_json: bool,
) -> None:
    """Print what each head is worth, and draw it."""
    drawn = figure_kind(out)
    model = load(run, device)
    pairs = examples_for(model, file, columns)
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("switching heads off", total=None)

        def tell(done: int, all: int) -> None:
            progress.update(task, completed=done, total=all)

        found = weigh_heads(model, pairs, how, metric, most, beam, tell)
    if out is not None:
        title = f"{found.metric} {found.score:.1f}: change without each head ({how})"
        write_figure(out, change_figure(found.changes, title, drawn))
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
    results.print(f"those that matter most: {', '.join(first)}")


def patterns(run: Path, file: str, most: int, columns: Named, device: str, as_json: bool) -> None:
    """Print which heads give most of their weight to which places."""
    model = load(run, device)
    examples = list(usable(file_for(model, file, columns, by_line=True)))
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("looking at texts", total=None)
        found = find_patterns(
            model, examples, most, lambda done, all: progress.update(task, completed=done, total=all)
        )
    if as_json:
        answer({"texts": found.texts, "heads": found.heads, "even": found.even})
        return
    rows = []
    for name, looks_at in _LOOKS_AT.items():
        strongest = found.strongest(name)[:_STRONGEST]
        even = [found.even[address].get(name) for address, _, _ in strongest[:1] if address in found.even]
        shown = f"{even[0]:.2f}" if even and even[0] is not None else ""
        heads = "\n".join(f"{value:.2f} {address} head {head}" for address, head, value in strongest)
        rows.append((name, looks_at, shown, heads or "none"))
    title = f"weight that heads give to places, mean over {found.texts:,} texts"
    results.print(table(title, ("pattern", "looks at", "even", "strongest heads"), rows))
    results.print("even: the weight there if a head looked at all places alike")
