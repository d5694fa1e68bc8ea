"""Goals: what a model is for. One file each, one row each in the table."""

from pathlib import Path

from seq2see.digests import verify
from seq2see.errors import RunError, SettingsError
from seq2see.goals.classify import Classify
from seq2see.goals.complete import Complete
from seq2see.goals.contract import Columns, Goal, Predictor
from seq2see.goals.fill import Fill
from seq2see.goals.generate import Generate
from seq2see.goals.regress import Regress
from seq2see.goals.tag import Tag
from seq2see.goals.text_model import TextModel
from seq2see.models.weights import load_weights, read_tensors, refuse_not_finite
from seq2see.recipe import read_recipe
from seq2see.run import DataFacts, Run, device_of, read_as
from seq2see.settings import near

__all__ = ["GOALS", "Columns", "Goal", "Predictor", "goal_named", "load", "load_text"]

GOALS: dict[str, Goal] = {
    "generate": Generate(),
    "classify": Classify(),
    "regress": Regress(),
    "tag": Tag(),
    "complete": Complete(),
    "fill": Fill(),
}
"""Goals by name; `data/kinds.py` tells which of them a file looks as if it was meant for."""


def goal_named(name: str) -> Goal:
    """A goal by its name."""
    if name not in GOALS:
        raise SettingsError(f"there is no goal {name!r}; {near(name, GOALS)}")
    return GOALS[name]


def load(folder: str | Path, device: str = "auto") -> Predictor:
    """Load a run directory: what comes back answers as its goal says."""
    folder = Path(folder)
    if not folder.is_dir():
        raise RunError(f"there is no run directory {folder}; 'seq2see train' makes one")
    if not (folder / "recipe.yaml").exists():
        raise RunError(f"{folder} is not a run directory: it has no recipe.yaml")
    for path in (*folder.iterdir(), *folder.glob("tokenizers/*")):
        if not (path.is_file() or path.is_dir()):
            raise RunError(f"{path} is not a file, and no run directory holds anything else; take it away")
    verify(folder)
    recipe = read_recipe(folder / "recipe.yaml")
    goal = goal_named(recipe.goal)
    columns = goal.load(recipe, folder)
    network = goal.network(recipe, columns)
    weights = folder / "model.safetensors"
    if not weights.exists():
        raise RunError(
            f"{folder} has no weights yet: training has not reached its first look at the dev set; "
            "go on with 'seq2see train --resume'"
        )
    tensors = read_tensors(weights)[0]
    refuse_not_finite(tensors, str(weights))
    load_weights(network, tensors, str(weights))
    facts = DataFacts.read(folder)
    run = Run(recipe, columns, network.to(device_of(device)), facts, folder, read_calibration(folder))
    return goal.predictor(run)


def load_text(folder: str | Path, device: str = "auto") -> TextModel:
    """The same for a run whose model writes texts; others are refused."""
    model = load(folder, device)
    if not isinstance(model, TextModel):
        raise SettingsError(
            f"{folder} is for the goal {model.recipe.goal}, and a model that writes texts is needed"
        )
    return model


def read_calibration(folder: Path) -> dict[str, float]:
    """What held-out examples told of how sure a run is; empty before training has ended."""
    path = folder / "calibration.json"
    return read_as(dict[str, float], path) if path.exists() else {}
