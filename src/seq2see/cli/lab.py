"""The verb `lab`."""

import time
from collections.abc import Sequence
from pathlib import Path

from seq2see.cli.console import answer, results, say, show, table
from seq2see.errors import SettingsError
from seq2see.lab.experiments import EXPERIMENTS
from seq2see.lab.result import Result
from seq2see.lab.running import experiment_named, run_several
from seq2see.lab.side_by_side import cores

__all__ = ["lab"]

_MOST_JOBS = 8
"""Processes that are started without being asked for: each needs some hundred megabytes."""


def lab(
    name: str | None,
    everything: bool,
    quick: bool,
    seeds: Sequence[int],
    out: Path | None,
    control: bool,
    as_json: bool,
    opened: bool = False,
    jobs: int | None = None,
) -> None:
    """List the experiments, or run one or all of them, and open the page of one that has a page."""
    if opened and (everything or name is None or experiment_named(name).page is None):
        pages = ", ".join(one.name for one in EXPERIMENTS.values() if one.page)
        raise SettingsError(f"--open shows the page of an experiment that has one: {pages}")
    if name is None and not everything:
        _list(as_json)
        return
    if name is not None and everything:
        raise SettingsError(f"--all runs every experiment, so leave {name} out; or leave --all out")
    names = [experiment_named(name).name] if name is not None else list(EXPERIMENTS)
    home = out or Path("runs") / "lab"
    places = {one: home / one if everything or out is None else home for one in names}
    found: dict[str, Result] = {}
    began = time.perf_counter()
    for result in run_several(
        places,
        size="quick" if quick else "full",
        seeds=seeds,
        control=control,
        jobs=jobs or min(cores(), _MOST_JOBS),
        tell=say,
    ):
        found[result.experiment.name] = result
        if not as_json:
            _show(result)
    say(f"{(time.perf_counter() - began) / 60:.1f} minutes")
    if as_json:
        answer({one: found[one].values() for one in names} if everything else found[names[0]].values())
    elif everything:
        rows = [(one, found[one].verdict, found[one].effect, *found[one].interval) for one in names]
        results.print(table("all experiments", ["name", "verdict", "effect", "low", "high"], rows))
    if opened and (page := found[names[0]].experiment.page):
        _serve(page())


def _serve(page: str) -> None:
    from seq2see.cli.listening import serve
    from seq2see.serving.single import single_page

    serve("the page", single_page(page), browser=True)


def _list(as_json: bool) -> None:
    if as_json:
        answer({name: {"claim": one.claim, "where": one.where} for name, one in EXPERIMENTS.items()})
        return
    rows = [(name, one.claim) for name, one in EXPERIMENTS.items()]
    results.print(table("experiments", ["name", "claim"], rows))
    results.print("seq2see lab NAME --quick puts one to the test, seq2see lab --all all of them")


def _show(result: Result) -> None:
    """Claim, table and verdict, and where the rest is."""
    results.print(f"{result.experiment.name}: {result.experiment.claim}", style="bold")
    if result.experiment.as_text:
        results.print(f"\n{result.experiment.as_text(result.rows)}\n", soft_wrap=True)
    else:
        _show_table(result)
    results.print(result.sentence())
    for remark in result.remarks:
        results.print(remark)
    if result.control:
        results.print(f"This was a control: {result.experiment.cause} was taken away.")
    name = result.experiment.name
    say(f"figure and data: {result.folder / name}.svg, .png, .csv, .json")
    if result.page:
        say(f"try it with numbers of your own: {result.page}, or --open")
    say(f"again: {result.command}")


def _show_table(result: Result) -> None:
    rows, varied = result.table, result.experiment.keys
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(column, ""), column in varied) for column in columns] for row in rows]
    results.print(table("", columns, cells, [column for column in columns if column not in varied]))


def _cell(value: str | float, varied: bool) -> str:
    """A number as it reads best: what was varied as it is, what was measured with three digits."""
    if varied or isinstance(value, str):
        return str(value)
    return f"{value:.3g}" if abs(value) < 1000 else show(round(value))
