"""The lock of all Python packages: `constraints.txt` names the version of each one that is installed.

    python tools/lock.py            write it, from the environment that runs this (see `make lock`)
    python tools/lock.py --check    say where it is stale; exit code 1 if it is

What is listed is what the project needs, all extras included, and what those packages need in turn. Hashes
are left out: of torch there are several builds of one version, and which one fits differs by machine.
"""

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "constraints.txt"
HEADER = """\
# The version of every package that the tests have passed with. Written by `make lock`, held by `make check`.
# Of torch, pip takes the CPU build where one is at hand.
"""


def main() -> None:
    """Write the lock, or check it."""
    installed, problems = needed()
    if sys.argv[1:] == ["--check"]:
        problems += stale(installed, read(LOCK.read_text(encoding="utf-8")))
        for problem in problems:
            print(f"constraints.txt: {problem}; 'make lock' renews it", file=sys.stderr)
        sys.exit(1 if problems else 0)
    for problem in problems:
        print(problem, file=sys.stderr)
    lines = [f"{name}=={version}\n" for name, version in sorted(installed.items())]
    LOCK.write_text(HEADER + "".join(lines), encoding="utf-8")
    print(f"{len(lines)} packages are in {LOCK}")


def needed() -> tuple[dict[str, str], list[str]]:
    """Name and version of every package that the project needs, and what does not fit together."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    waiting = [
        Requirement(text) for text in (*project["dependencies"], *(one for extra in extras for one in extra))
    ]
    found: dict[str, str] = {}
    problems: list[str] = []
    seen: set[tuple[str, str]] = set()
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        try:
            package = distribution(asked.name)
        except PackageNotFoundError:
            problems.append(f"{name} is needed and not installed")
            continue
        # A local build is the same version: torch 2.13.0+cpu is torch 2.13.0.
        found[name] = package.version.split("+")[0]
        if found[name] not in asked.specifier:
            problems.append(f"{name} {found[name]} is installed, and {asked} is needed")
        for extra in ("", *asked.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                below = map(Requirement, package.requires or ())
                waiting += [
                    one for one in below if one.marker is None or one.marker.evaluate({"extra": extra})
                ]
    return found, problems


def read(text: str) -> dict[str, str]:
    """The versions that a lock names."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def stale(installed: dict[str, str], locked: dict[str, str]) -> list[str]:
    """Where the lock and the environment differ."""
    problems = [f"{name} is needed and not listed" for name in installed.keys() - locked.keys()]
    problems += [f"{name} is listed and not needed" for name in locked.keys() - installed.keys()]
    for name in installed.keys() & locked.keys():
        if installed[name] != locked[name]:
            problems.append(f"{name} is {locked[name]}, and {installed[name]} is installed")
    return sorted(problems)


if __name__ == "__main__":
    main()
