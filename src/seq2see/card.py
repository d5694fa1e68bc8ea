"""The card of a run: what it is, in a page that a person can read."""

from seq2see.run import Run
from seq2see.training import Progress

__all__ = ["card"]


def card(run: Run, progress: Progress) -> str:
    """Markdown that says what was trained on what, and how well it does."""
    recipe, facts = run.recipe, run.facts
    parameters = sum(run.network.parameter_counts().values())
    best = ", ".join(f"{name} {score:.2f}" for name, score in (progress.best or {}).items())
    encoder, decoder = recipe.model.encoder, recipe.model.decoder
    writes = f"{decoder.kind} decoder of {decoder.layers} layers, " if decoder is not None else ""
    layers = getattr(encoder, "layers", 0)
    reads = f"{encoder.kind} encoder of {layers} layers" if layers else "no encoder"
    kinds = f"source: {recipe.text.source.kind}"
    if decoder is not None:
        kinds += f", target: {recipe.text.target.kind}"
    targets = f"\n- **Targets**: {facts.told_targets}." if facts.targets else ""
    told = "".join(
        f"\n- **{name.replace('_', ' ').capitalize()}**: {value:.4g}."
        for name, value in run.calibration.items()
    )
    return f"""# A seq2see model

- **Data**: {facts.train_pairs:,} training examples, {facts.dev_pairs:,} dev examples
  ({kinds}).
- **Goal**: {recipe.goal}.{targets}
- **Model**: {reads},
  {writes}width {recipe.model.width}, {parameters:,} parameters.
- **Training**: {progress.step:,} of {recipe.training.steps:,} steps, {progress.seconds / 60:.1f} minutes,
  {progress.tokens:,} tokens, seed {recipe.seed}.
- **Dev scores of the best weights** (chosen by {recipe.training.metric}): {best or "not looked yet"}.{told}

Use it: `seq2see predict {{this folder}} FILE`, or in Python `seq2see.load("{{this folder}}")(["text"])`.
"""
