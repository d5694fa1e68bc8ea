"""From files to a trained run directory."""

import json
import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from seq2see.card import card
from seq2see.corpus import Corpus, Files, open_files
from seq2see.data import Pair
from seq2see.data.batches import Stream
from seq2see.data.columns import SourceText, TargetText
from seq2see.data.lines import save_standard_input
from seq2see.data.settings import DataSettings
from seq2see.data.tasks import task_settings
from seq2see.data.values import many
from seq2see.digests import replace_sealed, verify
from seq2see.errors import DataError, RunError, SettingsError, TrainingError
from seq2see.evaluation import METRICS, metric_named, metrics_for, score
from seq2see.files import replace_text
from seq2see.goals import Columns, Predictor, goal_named
from seq2see.goals.choices import Choice
from seq2see.goals.fine_tuning import choose_fine_tuning
from seq2see.goals.text_values import COUNTED, counted_by
from seq2see.judgement import Floor, floor_of
from seq2see.models import Network
from seq2see.recipe import Recipe, compose, read_recipe
from seq2see.request import (
    Request,
    compose_asked,
    given_settings,
    goal_for,
    not_begun,
    refuse_decoder,
    writing,
)
from seq2see.run import DataFacts, Run, device_of
from seq2see.settings import merge, write_yaml
from seq2see.training import Checkpoints, Depths, PlainReport, Progress, Report, Trainer, Unbroken
from seq2see.transfer import Start, refuse_other_start, taken_before

__all__ = ["Request", "Trained", "train"]


@dataclass(frozen=True)
class Trained:
    """A run after training, which may have been interrupted."""

    folder: Path
    model: Predictor
    progress: Progress
    dev: list[Pair]
    interrupted: int | None = None
    """The signal that stopped it, if one did."""
    floor: Floor | None = None
    """What a few lines of code reach on the dev set."""


def train(
    request: Request,
    report: Report | None = None,
    tell: Callable[[str], None] = print,
) -> Trained:
    """Train on a file of examples, or go on with a run that was stopped."""
    plain = Unbroken(PlainReport(tell))
    with request.claimed() as folder:
        return _train(request, folder, Unbroken(report) if report else plain, plain.note)


def _train(request: Request, folder: Path, report: Report, tell: Callable[[str], None]) -> Trained:
    """The same in a folder that is this process's alone."""
    resumable = (folder / "recipe.yaml").exists()
    new = not_begun(folder)
    if not (new or request.resume):
        holds = "already holds a run" if resumable else "is not empty"
        raise RunError(
            f"{folder} {holds}; go on with a run there by --resume, or name another place with --out"
        )
    checkpoints = Checkpoints(folder)
    started = checkpoints.started
    if started and not resumable:
        raise RunError(
            f"{folder} was trained before, and its recipe.yaml is missing; put it back, "
            "or start a new run with another --out"
        )
    if resumable:
        recipe, corpus = _reopen(request, folder, tell)
    else:
        if request.resume:
            tell(f"nothing to resume in {folder}: starting")
        try:
            recipe, corpus = _begin(request, folder, tell)
        except BaseException:
            if new:
                shutil.rmtree(folder, ignore_errors=True)
            raise
    goal = goal_named(recipe.goal)
    network = _network(recipe, corpus.columns)
    run = Run(recipe, corpus.columns, network, corpus.facts, folder)
    model = goal.predictor(run)
    taken = taken_before(folder)
    if recipe.start is not None and not started:
        with writing(folder):
            taken, told = Start.read(recipe.start, recipe.goal).begin(network, corpus.columns, folder)
        for line in told:
            tell(line)
    trainer = Trainer(
        network,
        corpus.batches(recipe),
        _validator(model, corpus),
        recipe.training,
        checkpoints,
        report,
        recipe.data.train,
        min(
            recipe.training.dev_examples,
            len({(pair.source, pair.features, pair.into) for pair in corpus.dev_pairs}),
        ),
        taken,
    )
    if started:
        trainer.resume()
        tell(f"going on from step {trainer.progress.step:,}{_ended(trainer.progress, recipe)}")
    progress = trainer.run()
    network.eval()
    if progress.finished:
        run.calibration = goal.calibrate(model, corpus.dev_pairs)
    with writing(folder):
        if run.calibration:
            replace_sealed(
                folder, {"calibration.json": json.dumps(run.calibration, indent=1, allow_nan=False) + "\n"}
            )
        replace_text(folder / "card.md", card(run, progress))
    floor = None
    if progress.finished:
        outcomes = model.outcomes(corpus.dev_pairs, **model.quick)
        floor = floor_of(model, corpus.some_train_pairs, corpus.dev_pairs, outcomes)
    return Trained(folder, model, progress, corpus.dev_pairs, trainer.interrupted, floor)


def _begin(request: Request, folder: Path, tell: Callable[[str], None]) -> tuple[Recipe, Corpus]:
    """Compose the recipe, learn the vocabularies, and lay the foundations of the run directory."""
    wishes = request.wishes(folder)
    named, given = given_settings(request)
    named = merge(task_settings(request.data), named)
    origin = request.recipe or "recipe"
    # Wrong keys and values are refused before a large file is read.
    asked = compose_asked([named, given, wishes], origin)
    if request.data == "-":
        with writing(folder):
            save_standard_input(folder / "pairs.tsv")
    settled = merge(named, given)
    name, why = goal_for(merge(settled, wishes), asked)
    goal = goal_named(name)
    files = open_files(asked.data, asked.seed, goal)
    wanted = merge(settled, wishes)
    start = Start.read(asked.start, name) if asked.start is not None else None
    own: dict[str, Any] = {}
    with files.refusing_images():
        if start is None:
            choice = goal.choose(files.found, wanted, "encoder" not in settled.get("model", {}))
        else:
            choice, own = _fine_tuned(start, files, wanted)
    refuse_decoder(request, wanted, choice.fixed, name)
    if files.train.taken is not None:
        choice.say(f"columns: {files.train.taken}")
    if why:
        choice.say(f"goal: {name} ({why}; --goal chooses another)")
    recipe = compose([choice.values, own, {"goal": name}, named, given, wishes, choice.fixed], origin)
    _refuse_metric(recipe)
    for reason in choice.reasons(recipe):
        tell(reason)
    corpus = _prepare(files, recipe, None, tell, start.known if start is not None else None)
    if start is not None or recipe.training.freeze:
        # What does not fit is refused before anything is written.
        network = goal.network(recipe, corpus.columns)
        Depths(
            network, recipe.training, start.take(network, corpus.columns)[0] if start is not None else None
        )
    with writing(folder):
        (folder / "tokenizers").mkdir(exist_ok=True)
        # The recipe comes last: with it, everything else is there.
        texts = {"data.json": corpus.facts.to_json(), "recipe.yaml": write_yaml(recipe)}
        replace_sealed(folder, goal.files(corpus.columns) | texts)
    return recipe, corpus


def _fine_tuned(start: Start, files: Files, wanted: dict[str, Any]) -> tuple[Choice, dict[str, Any]]:
    """What is chosen for a run that begins with another one, and what it has from there."""
    goal, found = goal_named(start.goal), files.found
    first = goal.choose(found, merge(start.settings(0), wanted), model=False)
    own = start.settings(
        first.values.get("data", {}).get("max_length", DataSettings.model_fields["max_length"].default)
    )
    start.refuse_contradictions(wanted, own)
    # What the other run decides is no choice.
    first.taken = [(values, "" if _decides(own, values) else reason) for values, reason in first.taken]
    own["start"] = {"run": str(start.folder.absolute()), "weights": start.digest}
    reads = start.goal not in ("generate", "complete", "fill")
    choose_fine_tuning(
        first, reads, start.same, found.count, start.recipe.model.width, wanted.get("training", {})
    )
    return first, own


def _decides(own: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether one group of settings has a value for all that another has."""
    return all(
        name in own
        and (not isinstance(value, dict) or not isinstance(own[name], dict) or _decides(own[name], value))
        for name, value in values.items()
    )


def _refuse_metric(recipe: Recipe) -> None:
    """Refuse to choose the best weights by a score of another goal."""
    name = recipe.training.metric
    known = {goal for row in METRICS.values() for goal in row.goals}
    if recipe.goal in known and recipe.goal not in metric_named(name).goals:
        fitting = ", ".join(row.name for row in METRICS.values() if recipe.goal in row.goals)
        raise SettingsError(
            f"training.metric = {name} is no score for --goal {recipe.goal}; choose from {fitting}"
        )


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
    verify(folder)
    old = read_recipe(folder / "recipe.yaml")
    refuse_other_start(request.start, old)
    request = replace(request, start=None)
    named, given = given_settings(request)
    recipe = compose([old.model_dump(), named, given, request.wishes(folder)], "--resume")
    # The files may have moved: their fingerprint tells whether they are the same.
    free = {
        "training": {
            name: getattr(recipe.training, name) for name in ("steps", "minutes", "tokens", "device")
        },
        "data": {name: getattr(recipe.data, name) for name in ("train", "dev", "images")},
    }
    if changed := _first_difference(merge(old.model_dump(), free), recipe.model_dump()):
        raise SettingsError(
            f"--resume goes on with the recipe of {folder}, and {changed} would change; "
            "leave it out, or start a new run with another --out"
        )
    goal = goal_named(recipe.goal)
    files = open_files(recipe.data, recipe.seed, goal)
    corpus = _prepare(files, recipe, goal.load(recipe, folder), tell)
    if corpus.facts.fingerprint != DataFacts.read(folder).fingerprint:
        raise DataError(
            f"{recipe.data.train} (or the dev file) is not what {folder} was trained on any more; "
            "put the old file back, or start a new run with another --out"
        )
    if recipe != old:
        with writing(folder):
            replace_sealed(folder, {"recipe.yaml": write_yaml(recipe)})
    return recipe, corpus


def _prepare(
    files: Files,
    recipe: Recipe,
    columns: Columns | None,
    tell: Callable[[str], None],
    known: Columns | None = None,
) -> Corpus:
    began = last = time.perf_counter()

    def progress(pairs: int) -> None:
        nonlocal last
        if time.perf_counter() - last > 10:
            last = time.perf_counter()
            tell(f"encoded {pairs:,} of {files.found.count:,} examples")

    with files.refusing_images():
        corpus = Corpus.prepare(files, recipe, columns, progress, known)
    seconds = time.perf_counter() - began
    if seconds > 5:
        speed = files.found.count / seconds
        tell(f"vocabularies learnt and examples encoded in {seconds:.0f} s ({speed:,.0f} a second)")
    _tell_of(corpus, recipe, tell)
    return corpus


def _tell_of(corpus: Corpus, recipe: Recipe, tell: Callable[[str], None]) -> None:
    """Say what the data are, and what is odd about them."""
    facts = corpus.facts
    sizes = [f"{size:,}" for size in (facts.source_vocabulary, facts.target_vocabulary) if size]
    words = "; vocabularies of " if len(sizes) > 1 else "; a vocabulary of " if sizes else ""
    what = "passages" if corpus.running else "examples"
    counts = f"{facts.train_pairs:,} {what} to train on, {facts.dev_pairs:,} to look at"
    tell(counts + words + " and ".join(sizes))
    if facts.targets:
        tell(f"targets: {facts.told_targets}")
    for kind, lines in facts.skipped_lines.items():
        tell(f"left out: {many(lines, 'line' if kind != 'missing target' else 'cell')} ({kind})")
    for side, tokens in corpus.train.unknown.items():
        if tokens and isinstance(corpus.columns[side], SourceText | TargetText):
            tell(f"unknown {side} tokens in the training examples: {tokens:,}")
    unseen, target = corpus.dev.unknown.get("target"), corpus.columns.get("target")
    if unseen and not isinstance(target, TargetText):
        tell(f"beware: {many(unseen, 'target')} of the dev set never stand in the training examples")
    if facts.too_long:
        limit = recipe.data.max_length
        tell(f"left out: {many(facts.too_long, 'example')} of more than data.max_length = {limit} tokens")
    for side, pieces in facts.unknown_in_dev.items():
        if pieces:
            shown = ", ".join(f"{piece!r} x{count}" for piece, count in list(pieces.items())[:8])
            tell(f"unknown {side} symbols in the dev set: {shown}")
    again = "source" in corpus.columns and len(corpus.dev_pairs) - len(
        {(pair.source, pair.features, pair.into) for pair in corpus.dev_pairs}
    )
    if again and isinstance(target, TargetText):
        how = COUNTED[recipe.data.by or counted_by(corpus.dev_pairs)]
        tell(f"dev scores: {how} ({many(again, 'line')} there repeat a source; --by chooses)")
    if facts.dev_sources_in_train:
        tell(f"beware: at least {facts.dev_sources_in_train:,} dev sources also stand in the training file")


def _network(recipe: Recipe, columns: Columns) -> Network:
    device = device_of(recipe.training.device)
    torch.manual_seed(recipe.seed)
    return goal_named(recipe.goal).network(recipe, columns).to(device)


def _validator(model: Predictor, corpus: Corpus) -> Callable[[Network], dict[str, float]]:
    """A way to score the network on the dev set: the loss on all of it, answers on a part."""
    training = model.recipe.training
    batches = corpus.dev_batches(model.recipe)

    def validate(network: Network) -> dict[str, float]:
        # Running text is foretold once: its outcome holds the loss.
        scores = {} if corpus.running else {"loss": _loss(network, batches, model.device)}
        _refuse_not_finite(scores)
        outcome = model.outcome(corpus.dev_pairs, training.dev_examples, **model.quick)
        names = [*metrics_for(outcome), *([training.metric] if training.metric != "loss" else [])]
        scores |= score(outcome, list(dict.fromkeys(names)))
        _refuse_not_finite(scores)
        return scores

    return validate


def _refuse_not_finite(scores: dict[str, float]) -> None:
    loss = scores.get("loss", 0.0)
    if not math.isfinite(loss):
        raise TrainingError(
            f"the loss on the dev set became {loss}; start a new run with a lower training.learning_rate "
            "or a longer training.warmup"
        )


def _loss(network: Network, batches: Stream, device: torch.device) -> float:
    """The loss of each token or example, without smoothing."""
    total = count = 0.0
    for batch in batches.in_order():
        loss = network(batch.to(device))
        total += loss.total.item()
        count += float(loss.count)
    return total / count


def _first_difference(old: dict[str, Any], new: dict[str, Any], path: str = "") -> str | None:
    """The first setting that is not the same, with both its values."""
    for key, value in new.items():
        if value != old.get(key):
            if isinstance(value, dict) and isinstance(old.get(key), dict):
                return _first_difference(old[key], value, f"{path}{key}.")
            return f"{path}{key} ({old.get(key)} -> {value})"
    return None
