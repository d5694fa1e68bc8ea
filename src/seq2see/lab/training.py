"""Models that experiments train on the way, each once: what is finished is loaded again."""

from collections.abc import Sequence
from typing import Any

from seq2see.corpus import checked_file
from seq2see.evaluation import score as scores_of
from seq2see.goals import goal_named, load
from seq2see.lab.experiment import Trial
from seq2see.workflow import Request, train

__all__ = ["examples", "score", "trained"]


def trained(
    trial: Trial,
    name: str,
    data: str,
    preset: str | None,
    steps: int,
    settings: Sequence[str] = (),
    **more: Any,
) -> Any:
    """A model after so many steps with the trial's seed; `more` are fields of a request for training."""
    folder = trial.folder / name
    settings = [
        f"training.evaluate_every={steps}",
        f"training.save_every={steps}",
        "training.average=0",
        *settings,
    ]
    asked = Request(
        data=data,
        preset=preset,
        settings=settings,
        seed=trial.seed,
        max_steps=steps,
        out=str(folder),
        resume=folder.exists(),
        **{"dev": data if data.startswith("task:") else None, **more},
    )
    trial.tell(f"  {trial.folder.name}: training {name}")
    done = train(asked, tell=lambda _: None)
    if done.interrupted is not None:
        raise KeyboardInterrupt
    return load(folder, "cpu")


def examples(model: Any, data: str, most: int | None = None) -> list[Any]:
    """Held-out examples of a task or a file, as the model reads them."""
    goal = goal_named(model.recipe.goal)
    found = list(checked_file(data, model.recipe.data, goal, training=False).pairs("refuse"))
    return found[:most]


def score(model: Any, data: str, metric: str, most: int | None = 300) -> float:
    """One score of a model on held-out examples, decoded greedily."""
    outcome = model.outcome(examples(model, data, most), **model.quick)
    return float(scores_of(outcome, [metric])[metric])
