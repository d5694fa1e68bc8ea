"""Models that experiments train on the way, each once: what is finished is loaded again."""

import random
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from seq2see.corpus import checked_file
from seq2see.data import Pair
from seq2see.evaluation import score as scores_of
from seq2see.files import replace_text
from seq2see.goals import goal_named, load
from seq2see.lab.experiment import Trial
from seq2see.workflow import Request, train

__all__ = ["ALPHABET", "accuracy", "backwards", "exact", "examples", "letters", "strongest", "trained"]

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_HELD_OUT = 10
"""One word in so many is held out, chosen by its spelling alone."""


def backwards(word: str) -> str:
    """What most experiments ask for: each letter of the output comes from one place of the source."""
    return word[::-1]


def letters(
    trial: Trial,
    change: Callable[[str], str],
    alphabet: str,
    lengths: Sequence[int],
    count: int,
    between: str = "",
) -> tuple[Path, list[Pair]]:
    """A file of random words with what becomes of each, and pairs of words that are not in it."""
    draw = random.Random(f"{trial.seed} {alphabet} {lengths}")
    words = [between.join(draw.choices(alphabet, k=draw.choice(lengths))) for _ in range(count)]
    kept = {word: zlib.crc32(word.encode()) % _HELD_OUT > 0 for word in words}
    held = [Pair(number, word, change(word), "") for number, word in enumerate(kept, 1) if not kept[word]]
    path = trial.folder / f"{change(alphabet)}-{min(lengths)}-{max(lengths)}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, "".join(f"{word}\t{change(word)}\n" for word in words if kept[word]))
    return path, held


def trained(
    trial: Trial,
    name: str,
    data: Path | str,
    preset: str | None,
    steps: int,
    settings: Sequence[str] = (),
    goal: str = "generate",
) -> Any:
    """A model after so many steps with the trial's seed."""
    folder = trial.folder / name
    common = ["text.source.kind=characters", "text.target.kind=characters", "model.dropout=0"]
    common += [
        "training.batch_pairs=32",
        "training.average=0",
        "data.dev_share=0.02",
        f"training.steps={steps}",
    ]
    common += [f"training.{every}={steps}" for every in ("evaluate_every", "save_every")]
    asked = Request(
        data=str(data),
        goal=goal,
        preset=preset,
        settings=[*common, *settings],
        seed=trial.seed,
        out=str(folder),
        resume=folder.exists(),
        device="cpu",
    )
    trial.tell(f"  {trial.folder.name}: training {name}")
    done = train(asked, tell=lambda _: None)
    if done.interrupted is not None:
        raise KeyboardInterrupt
    return load(folder, "cpu")


def exact(model: Any, pairs: Sequence[Pair], **options: Any) -> float:
    """How many outputs are exactly right, in percent, decoded greedily."""
    outcome = model.outcome(pairs, **{**model.quick, **options})
    return float(scores_of(outcome, ["exact"])["exact"])


def strongest(model: Any, pairs: Sequence[Pair]) -> float:
    """The weight of the strongest place of a source, in percent: the mean while right outputs are written."""
    views = (model.attention(pair.source, pair.target) for pair in pairs)
    return 100 * fmean(float(view.weights["decoder.cross"].amax(-1).mean()) for view in views)


def accuracy(model: Any, pairs: Sequence[Pair]) -> float:
    """How many classes or tags are right, in percent."""
    return float(scores_of(model.outcome(pairs), ["accuracy"])["accuracy"])


def examples(model: Any, data: Path | str) -> list[Pair]:
    """The examples of a file."""
    file = checked_file(str(data), model.recipe.data, goal_named(model.recipe.goal), training=False)
    return list(file.pairs("refuse"))
