"""What all trained models know of themselves, and how they show it when printed and in a notebook."""

from html import escape

import torch

from seq2see.recipe import Recipe
from seq2see.run import DataFacts, Run

__all__ = ["Shown", "described"]


def described(run: Run) -> list[tuple[str, str]]:
    """A run in a few lines, each with a name."""
    settings, facts = run.recipe.model, run.facts
    parts = settings.encoder.kind + (f" to {settings.decoder.kind}" if settings.decoder is not None else "")
    weights = sum(parameter.numel() for parameter in run.network.parameters())
    targets = [("targets", facts.told_targets)] if facts.targets else []
    return [
        ("goal", f"{run.recipe.goal}, from {_name(run.recipe)}"),
        *targets,
        ("network", f"{parts}, width {settings.width}, {weights:,} weights on {run.device}"),
        ("trained on", f"{facts.train_pairs:,} examples, {facts.dev_pairs:,} held out"),
    ]


def _name(recipe: Recipe) -> str:
    return recipe.data.train.rsplit("/", 1)[-1]


class Shown:
    """A trained model that says in three lines what it is."""

    run: Run

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.run.folder.name if self.run.folder is not None else ""

    @property
    def recipe(self) -> Recipe:
        """How it was trained."""
        return self.run.recipe

    @property
    def facts(self) -> DataFacts:
        """What is known of the data that it was trained on."""
        return self.run.facts

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.run.device

    def __repr__(self) -> str:
        lines = "\n".join(f"  {name}: {text}" for name, text in described(self.run))
        return f"<seq2see {type(self).__name__}\n{lines}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th align='left'>{escape(name)}</th><td align='left'>{escape(text)}</td></tr>"
            for name, text in described(self.run)
        )
        return f"<table><caption>seq2see {type(self).__name__}</caption>{rows}</table>"
