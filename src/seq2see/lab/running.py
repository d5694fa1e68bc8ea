"""Run experiments: a repetition for each seed, each kept as soon as it is done."""

import hashlib
import inspect
import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import torch

from seq2see import __version__
from seq2see.errors import RunError, SettingsError
from seq2see.files import replace_text
from seq2see.lab.experiment import Experiment, Measured, Size, Trial, silent
from seq2see.lab.experiments import EXPERIMENTS
from seq2see.lab.result import Result
from seq2see.lab.side_by_side import side_by_side
from seq2see.settings import near

__all__ = ["SEEDS", "experiment_named", "run", "run_several"]

SEEDS = (1, 2, 3)


def experiment_named(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise SettingsError(
            f"there is no experiment {name!r}; {near(name, EXPERIMENTS)}; `seq2see lab` lists them"
        )
    return EXPERIMENTS[name]


def run(
    name: str,
    *,
    quick: bool = False,
    seeds: Sequence[int] = SEEDS,
    out: str | Path | None = None,
    control: bool = False,
    size: Size | None = None,
    jobs: int = 1,
    tell: Callable[[str], None] = silent,
) -> Result:
    """Put a claim of the lectures to the test; what comes back has `.verdict`, `.table` and `.figure()`.

    name: an experiment, such as `scaling`.
    quick: less of everything, in a minute or two.
    seeds: one repetition with each.
    out: where figure, data and trained runs go; by default `runs/lab/NAME`.
    control: take away the cause that the claim names: then it should not hold.
    jobs: repetitions that are done side by side, each in a process of its own.
    """
    size = size or ("quick" if quick else "full")
    (result,) = run_several({name: out}, size=size, seeds=seeds, control=control, jobs=jobs, tell=tell)
    return result


def run_several(
    places: Mapping[str, str | Path | None],
    *,
    size: Size,
    seeds: Sequence[int] = SEEDS,
    control: bool = False,
    jobs: int = 1,
    tell: Callable[[str], None] = silent,
) -> Iterator[Result]:
    """The result of each experiment in `places`, which says where it goes, when its seeds are all done.

    Experiments that take times come last, one repetition after the other: nothing may run beside them.
    """
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise SettingsError(f"seeds {list(seeds)} should be different numbers from 0 on, at least one")
    timed = {name: bool(experiment_named(name).timed) for name in places}
    folders = {name: Path(place or Path("runs") / "lab" / name) for name, place in places.items()}
    work = {name: _made(folder, size, control) for name, folder in folders.items()}
    count, done = len(places) * len(seeds), 0
    for alone in (False, True):
        names = [name for name in places if timed[name] == alone]
        tasks = [
            (name, Trial(seed, size, work[name] / f"{name}-{seed}", control))
            for name in names
            for seed in seeds
        ]
        found: dict[str, dict[int, Measured]] = {name: {} for name in names}
        for number, measured in side_by_side(_measured, tasks, 1 if alone else jobs, tell):
            name, trial = tasks[number]
            found[name][trial.seed] = measured
            done += 1
            tell(f"{name}, seed {trial.seed}: done ({done} of {count})")
            if len(found[name]) == len(seeds):
                command = _command(name, size, seeds, places[name], control)
                measurements = tuple(found[name][seed] for seed in seeds)
                result = Result(
                    EXPERIMENTS[name], tuple(seeds), measurements, command, folders[name], control
                )
                result.write()
                yield result


def _made(folder: Path, size: Size, control: bool) -> Path:
    """Where an experiment keeps what is finished."""
    work = folder / "work" / (size + ("-control" if control else ""))
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{work} cannot be made: {error.strerror}; name another place with --out") from None
    return work


def _measured(task: tuple[str, Trial], tell: Callable[[str], None]) -> Measured:
    """One repetition of the experiment named; one that is finished is read instead of being done again."""
    name, trial = task
    experiment = EXPERIMENTS[name]
    kept, maker = trial.folder.with_suffix(".json"), _maker(experiment)
    if (before := _read(kept, maker)) is not None:
        return before
    tell(f"{name}, seed {trial.seed}")
    with _own_randomness(trial.seed):
        measured = experiment.measure(replace(trial, tell=tell))
    try:
        replace_text(kept, json.dumps({"made_by": maker, **asdict(measured)}) + "\n")
    except OSError as error:
        raise RunError(f"{kept} cannot be written: {error.strerror}; name another place with --out") from None
    return measured


def _maker(experiment: Experiment) -> str:
    """What says whether an experiment is still the one that a file was made by."""
    source = inspect.getsourcefile(experiment.measure)
    code = Path(source).read_bytes() if source else b""
    return hashlib.sha256(__version__.encode() + code).hexdigest()[:16]


def _read(path: Path, maker: str) -> Measured | None:
    """What was measured before, if it was by the same experiment."""
    if not path.exists():
        return None
    try:
        values = json.loads(path.read_text())
        if values["made_by"] != maker:
            return None
        return Measured(float(values["effect"]), [dict(row) for row in values["rows"]])
    except (ValueError, KeyError, TypeError, OSError):
        raise RunError(f"{path} is damaged; delete it, and its seed is measured again") from None


@contextmanager
def _own_randomness(seed: int) -> Iterator[None]:
    """Random numbers of PyTorch that begin with a seed, without touching those of the caller."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _command(name: str, size: Size, seeds: Sequence[int], out: str | Path | None, control: bool) -> str:
    """What repeats it on a command line."""
    words = ["seq2see", "lab", name, *(["--quick"] if size == "quick" else [])]
    words += ["--seeds", ",".join(map(str, seeds)), *(["--control"] if control else [])]
    return shlex.join([*words, *(["--out", str(out)] if out is not None else [])])
