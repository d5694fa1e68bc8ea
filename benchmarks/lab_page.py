"""docs/lab.md from the results of `seq2see lab --all`: every claim with its verdict, figure and table.

seq2see lab --all --out runs/lab
python -m benchmarks.lab_page runs/lab

Experiments that the folder does not have stay on the page as they are.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from seq2see.lab.experiments import EXPERIMENTS

DOCS = Path(__file__).parents[1] / "docs"
BEGIN, END = "<!-- made by benchmarks/lab_page.py -->\n", "<!-- end -->\n"
MOST_ROWS = 24
"""Longer tables stand in the CSV file alone."""


def main() -> None:
    """Write the page between its two marks, and copy the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("results", type=Path, help="the folder that seq2see lab --all wrote")
    results = parser.parse_args().results
    (DOCS / "lab").mkdir(exist_ok=True)
    found = {
        name: json.loads((results / name / f"{name}.json").read_text())
        for name in EXPERIMENTS
        if (results / name / f"{name}.json").exists()
    }
    for name in found:
        shutil.copy(results / name / f"{name}.png", DOCS / "lab" / f"{name}.png")
    page = DOCS / "lab.md"
    before, rest = page.read_text().split(BEGIN)
    made, after = rest.split(END)
    rows = {name: row for name in EXPERIMENTS for row in made.splitlines() if row.startswith(f"| [{name}]")}
    rows |= {name: line(name, values) for name, values in found.items()}
    kept = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in made.split("\n## ")[1:]}
    kept |= {name: section(name, values) for name, values in found.items()}
    names = [name for name in EXPERIMENTS if name in rows]
    parts = [overview([rows[name] for name in names]), gallery(names), *(kept[name] for name in names)]
    page.write_text(before + BEGIN + "\n" + "\n".join(parts) + "\n" + END + after)


def overview(rows: list[str]) -> str:
    """A table with one line for each experiment."""
    heads = ["| experiment | claim | verdict | effect | 95 % over seeds |", "|---|---|---|---|---|"]
    return "\n".join([*heads, *rows]) + "\n"


def line(name: str, values: dict[str, Any]) -> str:
    """What one experiment found, in short."""
    low, high = values["interval"]
    claim, verdict, effect = values["claim"], values["verdict"], values["effect"]
    return f"| [{name}](#{name}) | {claim} | {verdict} | {effect:.3g} | {low:.3g} to {high:.3g} |"


def gallery(names: list[str]) -> str:
    """All figures, small."""
    images = "\n".join(
        f'<a href="#{name}"><img src="lab/{name}.png" width="32%" alt="{name}"></a>' for name in names
    )
    return f"## All figures\n\n{images}\n"


def section(name: str, values: dict[str, Any]) -> str:
    """Claim, verdict, figure and table of one experiment."""
    remarks = "\n".join(f"- {remark}" for remark in values["remarks"])
    return (
        f"## {name}\n\n**{values['claim']}** {values['sentence']}\n\n"
        f"In the lectures: {values['where']}. Control: {EXPERIMENTS[name].cause} taken away.\n\n"
        f"![{name}](lab/{name}.png)\n\n{remarks}\n\n{table(values['table'])}\n`{again(values['command'])}`\n"
    )


def table(rows: list[dict[str, Any]]) -> str:
    """Means over seeds, if they are few enough to be read."""
    if len(rows) > MOST_ROWS:
        return ""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    lines = [
        columns,
        ["---"] * len(columns),
        *([cell(row.get(name, "")) for name in columns] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def cell(value: object) -> str:
    """A number with three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def again(command: str) -> str:
    """The command without the place where it wrote."""
    return command.split(" --out ")[0]


if __name__ == "__main__":
    main()
