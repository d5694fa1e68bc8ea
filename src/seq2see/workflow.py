"""From files to a trained run directory."""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

import torch

from seq2see.card import card
from seq2see.choices import choose
from seq2see.corpus import Corpus, Files, open_files
from seq2see.data import Pair
from seq2see.data.batches import Batches
from seq2see.data.lines import save_standard_input
from seq2see.data.pairs import columns_of
from seq2see.data.tasks import Task, is_task, task_settings
from seq2see.errors import DataError, RunError, Seq2seeError, SettingsError, TrainingError
from seq2see.evaluation import Example, Texts, metrics_for, score
from seq2see.files import replace_text
from seq2see.models import Seq2Seq
from seq2see.recipe import Recipe, compose, compose_parts, preset, read_recipe
from seq2see.run import Model, Source, device_of, network_of, read_about
from seq2see.settings import merge, override, read_yaml, write_yaml
from seq2see.text import Codec
from seq2see.training import Checkpoints, PlainReport, Progress, Report, Trainer

__all__ = ["Request", "Trained", "examples_of", "train"]


@dataclass(frozen=True)
class Request:
    """What a user asks of training; what is left open is chosen by looking at the data."""

    data: str
    dev: str | None = None
    out: str | None = None
    preset: str | None = None
    recipe: str | None = None
    settings: Sequence[str] = ()
    seed: int | None = None
    max_steps: int | None = None
    max_minutes: float | None = None
    max_tokens: int | None = None
    source: str | None = None
    target: str | None = None
    features: str | None = None
    device: str | None = None
    resume: bool = False

    @property
    def stem(self) -> str:
        """The name of the task, or that of the file without its folder and endings."""
        if is_task(self.data):
            return Task.parse(self.data).kind
        return Path(self.data.split(",")[0]).name.split(".")[0] if self.data != "-" else "standard-input"

    def folder(self) -> Path:
        """Where the run goes: as asked, or a new folder under `runs/` named after the file or task."""
        if self.out is not None:
            return Path(self.out)
        stem = self.stem
        if self.resume:
            own = re.compile(rf"{re.escape(stem)}(-\d+)?")
            started = [
                path.parent for path in Path("runs").glob("*/recipe.yaml") if own.fullmatch(path.parent.name)
            ]
            if started:
                return max(started, key=lambda path: (path / "recipe.yaml").stat().st_mtime)
        names = chain([stem], (f"{stem}-{number}" for number in count(2)))
        return next(filter(_claimed, (Path("runs") / name for name in names)))

    def wishes(self, folder: Path) -> dict[str, Any]:
        """All that was asked for by name, which stands over any preset or choice."""
        asked = {"source": self.source, "target": self.target, "features": self.features}
        columns = columns_of(source=self.source, target=self.target, features=self.features)
        named: dict[str, Any] = {
            name: getattr(columns, name) for name, text in asked.items() if text is not None
        }
        train = str(folder.absolute() / "pairs.tsv") if self.data == "-" else _absolute(self.data)
        named |= {"train": train, **({"dev": _absolute(self.dev)} if self.dev else {})}
        options = {
            "steps": self.max_steps,
            "minutes": self.max_minutes,
            "tokens": self.max_tokens,
            "device": self.device,
        }
        training = {name: value for name, value in options.items() if value is not None}
        seed = {"seed": self.seed} if self.seed is not None else {}
        return merge(override(self.settings), {"data": named, "training": training, **seed})


@dataclass(frozen=True)
class Trained:
    """A run after training, which may have been interrupted."""

    folder: Path
    model: Model
    progress: Progress
    dev: list[Pair]
    interrupted: int | None = None
    """The signal that stopped it, if one did."""


def train(
    request: Request,
    report: Report | None = None,
    tell: Callable[[str], None] = print,
) -> Trained:
    """Train on a file of pairs, or go on with a run that was stopped."""
    report = report or PlainReport(tell)
    folder = request.folder()
    resumable = (folder / "recipe.yaml").exists()
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not request.resume:
            holds = "already holds a run" if resumable else "is not empty"
            raise RunError(
                f"{folder} {holds}; go on with a run there by --resume, or name another place with --out"
            )
    if resumable:
        recipe, corpus = _reopen(request, folder, tell)
    else:
        if request.resume:
            tell(f"nothing to resume in {folder}: starting")
        try:
            recipe, corpus = _begin(request, folder, tell)
        except Seq2seeError:
            _leave(folder)
            raise
    network = _network(recipe, corpus.codec)
    model = Model(recipe, corpus.codec, network, corpus.about)
    checkpoints = Checkpoints(folder)
    trainer = Trainer(
        network,
        corpus.batches(recipe),
        _validator(model, corpus),
        recipe.training,
        checkpoints,
        report,
        recipe.data.train,
        min(recipe.training.dev_examples, len({(pair.source, pair.features) for pair in corpus.dev_pairs})),
    )
    if checkpoints.started and request.resume:
        trainer.resume()
        tell(f"going on from step {trainer.progress.step:,}{_ended(trainer.progress, recipe)}")
    progress = trainer.run()
    with _writing(folder):
        replace_text(folder / "card.md", card(model, progress))
    network.eval()
    return Trained(folder, model, progress, corpus.dev_pairs, trainer.interrupted)


def examples_of(
    model: Model, pairs: Sequence[Pair], most: int | None = None, **options: Any
) -> list[Example]:
    """Decode the sources of pairs, each once; its targets are the references."""
    references: dict[Source, list[str]] = {}
    for pair in pairs:
        target = " ".join(filter(None, pair.target.split(" "))) if model.unit == "symbols" else pair.target
        references.setdefault(Source(pair.source, pair.features), []).append(target)
    sources = list(references)
    if most is not None:
        sources = sources[:: -(-len(sources) // most)]
    outputs = model.decode(sources, scored=False, **options)
    return [
        Example(source.text, output[0].text, tuple(references[source]))
        for source, output in zip(sources, outputs, strict=True)
    ]


def _begin(request: Request, folder: Path, tell: Callable[[str], None]) -> tuple[Recipe, Corpus]:
    """Compose the recipe, learn the vocabularies, and lay the foundations of the run directory."""
    wishes = request.wishes(folder)
    named, given = _given(request)
    named = merge(task_settings(request.data), named)
    origin = request.recipe or "recipe"
    # Wrong keys and values are refused before a large file is read.
    asked = compose_parts([named, given, wishes], origin)
    if request.data == "-":
        with _writing(folder):
            save_standard_input(folder / "pairs.tsv")
    files = open_files(asked.data, asked.seed)
    settled = merge(named, given)
    choice = choose(files.found, merge(settled, wishes), model="encoder" not in settled.get("model", {}))
    recipe = compose([choice.values, named, given, wishes], origin)
    for reason in choice.reasons(recipe):
        tell(reason)
    corpus = _prepare(files, recipe, None, tell)
    with _writing(folder):
        (folder / "tokenizers").mkdir(exist_ok=True)
        for name, text in corpus.codec.files().items():
            replace_text(folder / "tokenizers" / name, text)
        replace_text(folder / "data.json", json.dumps(corpus.about, ensure_ascii=False, indent=2) + "\n")
        # The recipe comes last: with it, everything else is there.
        replace_text(folder / "recipe.yaml", write_yaml(recipe))
    return recipe, corpus


def _given(request: Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of a preset and of a recipe file, as far as they are named."""
    named = preset(request.preset) if request.preset is not None else {}
    return named, read_yaml(Path(request.recipe)) if request.recipe is not None else {}


def _leave(folder: Path) -> None:
    """Take away what was made for a run that could not begin, if nothing is in it."""
    with suppress(OSError):
        folder.rmdir()


def _ended(progress: Progress, recipe: Recipe) -> str:
    """Why a resumed run has nothing left to do, if so."""
    if progress.step >= recipe.training.steps:
        return "; all steps are done, a larger --max-steps would add some"
    minutes = recipe.training.minutes
    if minutes is not None and progress.seconds >= minutes * 60:
        return "; its time is over, a larger --max-minutes would give it more"
    if recipe.training.tokens is not None and progress.tokens >= recipe.training.tokens:
        return "; its tokens are spent, a larger training.tokens would give it more"
    return ""


def _reopen(request: Request, folder: Path, tell: Callable[[str], None]) -> tuple[Recipe, Corpus]:
    """The recipe and data of a run as they were; only how long and where it trains may change."""
    old = read_recipe(folder / "recipe.yaml")
    named, given = _given(request)
    recipe = compose([old.model_dump(), named, given, request.wishes(folder)], "--resume")
    # The files may have moved: their fingerprint tells whether they are the same.
    free = {
        "training": {
            name: getattr(recipe.training, name) for name in ("steps", "minutes", "tokens", "device")
        },
        "data": {name: getattr(recipe.data, name) for name in ("train", "dev")},
    }
    if changed := _first_difference(merge(old.model_dump(), free), recipe.model_dump()):
        raise SettingsError(
            f"--resume goes on with the recipe of {folder}, and {changed} would change; "
            "leave it out, or start a new run with another --out"
        )
    corpus = _prepare(open_files(recipe.data, recipe.seed), recipe, Codec.load(folder / "tokenizers"), tell)
    if corpus.about["fingerprint"] != read_about(folder)["fingerprint"]:
        raise DataError(
            f"{recipe.data.train} (or the dev file) is not what {folder} was trained on any more; "
            "put the old file back, or start a new run with another --out"
        )
    if recipe != old:
        with _writing(folder):
            replace_text(folder / "recipe.yaml", write_yaml(recipe))
    return recipe, corpus


def _prepare(files: Files, recipe: Recipe, codec: Codec | None, tell: Callable[[str], None]) -> Corpus:
    began = last = time.perf_counter()

    def progress(pairs: int) -> None:
        nonlocal last
        if time.perf_counter() - last > 10:
            last = time.perf_counter()
            tell(f"encoded {pairs:,} of {files.found.count:,} pairs")

    corpus = Corpus.prepare(files, recipe, codec, progress)
    about = corpus.about
    seconds = time.perf_counter() - began
    if seconds > 5:
        speed = files.found.count / seconds
        tell(f"vocabularies learnt and pairs encoded in {seconds:.0f} s ({speed:,.0f} pairs/s)")
    tell(
        f"{about['train_pairs']:,} pairs to train on, {about['dev_pairs']:,} to look at; "
        f"vocabularies of {about['source_vocabulary']:,} and {about['target_vocabulary']:,}"
    )
    for kind, lines in about["skipped_lines"].items():
        tell(f"left out: {lines:,} lines ({kind})")
    for side, tokens in zip(("source", "target"), corpus.train.unknown, strict=True):
        if tokens:
            tell(f"unknown {side} tokens in the training pairs: {tokens:,}")
    if about["too_long"]:
        limit = recipe.data.max_length
        tell(f"left out: {about['too_long']:,} pairs of more than data.max_length = {limit} tokens")
    for side, pieces in about["unknown_in_dev"].items():
        if pieces:
            shown = ", ".join(f"{piece!r} x{count}" for piece, count in list(pieces.items())[:8])
            tell(f"unknown {side} symbols in the dev set: {shown}")
    if about["dev_sources_in_train"]:
        tell(
            f"beware: at least {about['dev_sources_in_train']:,} dev sources also stand in the training file"
        )
    return corpus


def _network(recipe: Recipe, codec: Codec) -> Seq2Seq:
    device = device_of(recipe.training.device)
    torch.manual_seed(recipe.seed)
    return network_of(recipe, codec).to(device)


def _validator(model: Model, corpus: Corpus) -> Callable[[Seq2Seq], dict[str, float]]:
    """A way to score the network on the dev set: the loss on all of it, outputs on a part."""
    most = model.recipe.training.dev_examples
    batches = corpus.dev_batches(model.recipe)

    def validate(network: Seq2Seq) -> dict[str, float]:
        loss = _loss(network, batches, model.device)
        if not math.isfinite(loss):
            raise TrainingError(
                f"the loss on the dev set became {loss}; start a new run with a lower training.learning_rate "
                "or a longer training.warmup"
            )
        outputs = Texts(examples_of(model, corpus.dev_pairs, most, beam=1, nbest=1), model.unit)
        watched = model.recipe.training.metric
        wanted = dict.fromkeys([*metrics_for(outputs), *([watched] if watched != "loss" else [])])
        return {"loss": loss, **score(outputs, list(wanted))}

    return validate


def _loss(network: Seq2Seq, batches: Batches, device: torch.device) -> float:
    """Cross-entropy for each target token, without smoothing."""
    total, tokens = 0.0, 0
    for batch in batches.in_order():
        batch = batch.to(device)
        total += network.loss(batch.source, batch.inputs, batch.labels).item()
        tokens += batch.tokens
    return total / tokens


def _claimed(folder: Path) -> bool:
    """Make a folder for this run alone; one that is there already belongs to another, unless it is empty."""
    with _writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            return folder.is_dir() and not any(folder.iterdir())
    return True


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"{folder} cannot be written: {error.strerror or error}; name another place with --out"
        ) from None


def _absolute(name: str) -> str:
    if is_task(name):
        return name
    if Path(name).exists() or "," not in name:
        return str(Path(name).absolute())
    return ",".join(str(Path(part).absolute()) for part in name.split(","))


def _first_difference(old: dict[str, Any], new: dict[str, Any], path: str = "") -> str | None:
    """The first setting that is not the same, with both its values."""
    for key, value in new.items():
        if value != old.get(key):
            if isinstance(value, dict) and isinstance(old.get(key), dict):
                return _first_difference(old[key], value, f"{path}{key}.")
            return f"{path}{key} ({old.get(key)} -> {value})"
    return None
