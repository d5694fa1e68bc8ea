"""The verb `check`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from rich.text import Text

from seq2see.cli.console import answer, results, table
from seq2see.data.check import FileCheck
from seq2see.data.check import check as run_check
from seq2see.data.image_check import check_images
from seq2see.data.image_file import ImageFile
from seq2see.data.image_sets import is_image_set
from seq2see.data.kinds import KINDS, ExampleKind, guess_goal, opener
from seq2see.data.pairs import Columns, PairFile, columns_of
from seq2see.data.tasks import is_task, task_settings
from seq2see.data.values import many
from seq2see.wording import visible

__all__ = ["check"]


def check(
    files: Sequence[str], named: Mapping[str, str | None], goal: str | None, show: int, as_json: bool
) -> None:
    """Print problems and a summary for each file; exit code 1 if training would refuse a line."""
    base = Columns(**task_settings(files[0]).get("data", {}))
    columns = columns_of(base, **named)
    if columns.images is None and not is_task(files[0]) and is_image_set(files[0]):
        columns = columns.model_copy(update={"images": files[0]})
    meant, why = (goal, "as asked") if goal is not None else _guessed(files[0], columns)
    kind, numbers = _kind(meant), list(map(str, columns.numbers))
    opens = opener(kind, columns)
    if issubclass(opens, ImageFile):
        found = check_images(files, columns, lambda example: kind.problem(example, numbers), kind.targets)
    else:
        found = run_check(
            files, columns, lambda example: kind.problem(example, numbers), kind.odd, kind.targets, opens
        )
    if as_json:
        answer({"goal": meant, "files": [{**asdict(one), "unusable": one.unusable} for one in found]})
    else:
        results.print(f"goal: {meant} ({why})")
        for one in found:
            _print(one, show)
    sys.exit(1 if any(one.unusable for one in found) else 0)


def _guessed(file: str, columns: Columns) -> tuple[str, str]:
    """What a file looks as if it was meant for."""
    if is_task(file) and "goal" in task_settings(file):
        return str(task_settings(file)["goal"]), "the task's own"
    opens = ImageFile if columns.images is not None else PairFile
    return guess_goal(opens(file, columns, training=True))


def _kind(goal: str) -> ExampleKind:
    """How examples for a goal look; goals that no file is taken for bring that along."""
    if goal in KINDS:
        return KINDS[goal]
    from seq2see.goals import goal_named

    return goal_named(goal).examples


def _print(one: FileCheck, show: int) -> None:
    results.print(
        Text(visible(one.name), "bold").append(
            f": {one.lines:,} lines, {one.pairs:,} usable examples", "not bold"
        ),
        soft_wrap=True,
    )
    kinds = groupby(
        sorted(one.problems, key=lambda item: (not item.fatal, item.kind)), key=lambda item: item.kind
    )
    for kind, items in kinds:
        listed = list(items)
        style = "bold red" if listed[0].fatal else "yellow"
        results.print(Text.assemble("  ", (kind, style), f": {one.counts[kind]:,}"), soft_wrap=True)
        for item in listed[:show]:
            results.print(f"    line {item.line}: {item.detail}", soft_wrap=True)
    if one.targets is not None:
        results.print(f"  {one.targets}", soft_wrap=True)
    target = one.target if one.targets is None else None  # letters of labels say nothing
    sides = {"source": one.source, "target": target, "features": one.features}
    rows = [
        (name, s.mean, s.longest, s.mean_words, s.longest_words, s.symbols, " ".join(map(_rare, s.rarest)))
        for name, s in sides.items()
        if s is not None
    ]
    columns = ("side", "mean", "longest", "words", "most words", "letters", "rarest letters (count)")
    if rows:
        results.print(table("", columns, rows, columns[1:-1]))
    for side, cover in one.coverage.items():
        unseen = ", ".join(f"{piece!r} x{count:,}" for piece, count in cover.unseen)
        text = f"  {side}: {cover.share:.2%} of the letters stand in the training file"
        results.print(f"{text}; not: {unseen}" if unseen else text, soft_wrap=True)
        if cover.unseen_words:
            words = ", ".join(f"{piece!r} x{count:,}" for piece, count in cover.unseen_words)
            results.print(f"  {side} symbols that training never shows: {words}", soft_wrap=True)
    if one.unusable:
        results.print(f"  {many(one.unusable, 'line')} cannot be used\n", style="red")
    else:
        results.print("  every line can be used or skipped\n", style="green")


def _rare(piece: tuple[str, int]) -> str:
    letter, count = piece
    shown = letter if letter.isprintable() and not letter.isspace() else f"U+{ord(letter):04X}"
    return f"{shown}({count})"
