"""What the goals that learn from plain text choose and refuse alike."""

from collections.abc import Mapping
from typing import Any

from seq2see.errors import SettingsError
from seq2see.goals.choices import Choice
from seq2see.goals.sources import refuse_class_settings, refuse_several_targets
from seq2see.recipe import Recipe

__all__ = ["choose_running_schedule", "refuse_columns"]

_TIMES = 20
"""How often a text is gone through, unless it is very small or large."""
_FEWEST, _MOST = 500, 50_000
"""Steps."""


def choose_running_schedule(
    choice: Choice, tokens: float, batch: int, shown: str, warmup: int, asked: Mapping[str, Any]
) -> None:
    """Steps by the tokens of a text, in batches of so many (`shown` in words); one in `warmup` warms up."""
    steps = asked.get("steps") or min(_MOST, max(_FEWEST, round(_TIMES * tokens / batch)))
    if "steps" not in asked:
        times = steps * batch / tokens
        choice.take({"training": {"steps": steps}}, f"{steps:,} steps ({times:.0f} times through the text)")
    every = max(10, steps // 20)
    choice.take({"training": {"batch_tokens": batch}}, shown)
    choice.take({"training": {"schedule": "cosine"}}, "learning rate: warm-up, then a cosine to zero")
    choice.take({"training": {"warmup": steps // warmup, "save_every": every, "label_smoothing": 0.0}}, "")
    choice.take({"training": {"evaluate_every": every}}, f"a look at the held-out text every {every:,} steps")
    choice.take({"training": {"metric": "loss"}}, "the weights with the best loss are kept")


def refuse_columns(recipe: Recipe, lacks: str) -> None:
    """Refuse what belongs to examples of several columns; a text lacks a source, or a target."""
    refuse_several_targets(recipe)
    refuse_class_settings(recipe)
    data = recipe.data
    named = {"--features": data.features, "--numbers": data.numbers, "--categories": data.categories}
    for name in (name for name, value in (named | {"--by": data.by}).items() if value):
        raise SettingsError(
            f"{name} is for examples with a {lacks}, and --goal {recipe.goal} has none; leave it out"
        )
