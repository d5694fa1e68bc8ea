"""The card of a run: what it is, in a page that a person can read."""

from seq2see.run import Model
from seq2see.training import Progress

__all__ = ["card"]


def card(model: Model, progress: Progress) -> str:
    """Markdown that says what was trained on what, and how well it does."""
    recipe, about = model.recipe, model.about
    parameters = sum(model.network.parameter_counts().values())
    best = ", ".join(f"{name} {score:.2f}" for name, score in (progress.best or {}).items())
    encoder, decoder = recipe.model.encoder, recipe.model.decoder
    return f"""# A seq2see model

- **Data**: {about["train_pairs"]:,} training pairs, {about["dev_pairs"]:,} dev pairs
  (source: {recipe.text.source.kind}, target: {recipe.text.target.kind}).
- **Model**: {encoder.kind} encoder of {encoder.layers} layers,
  {decoder.kind} decoder of {decoder.layers} layers, width {recipe.model.width}, {parameters:,} parameters.
- **Training**: {progress.step:,} of {recipe.training.steps:,} steps, {progress.seconds / 60:.1f} minutes,
  {progress.tokens:,} target tokens, seed {recipe.seed}.
- **Dev scores of the best weights** (chosen by {recipe.training.metric}): {best or "not looked yet"}.

Use it: `seq2see decode {{this folder}} FILE`, or in Python `seq2see.load("{{this folder}}")(["text"])`.
"""
