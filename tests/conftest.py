"""What many tests share: one core, a cache of their own, and small models with nothing at zero."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import Command, command_line
from goal_runs import train_goals
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from image_runs import train_image_runs
from mirror_runs import train_small
from reading_runs import train_readers
from several_runs import train_several

from seq2see import load
from seq2see.goals.reading_model import ReadingModel
from seq2see.goals.text_model import TextModel
from seq2see.models import EncoderDecoder, ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.text import END, PAD, STANDARD

torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # for commands that tests start
# Whoever runs tests in the background may have them ignore Ctrl-C, which commands would inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)
hypothesis_settings.register_profile(
    "house", deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
hypothesis_settings.load_profile("house")


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep encoded corpora out of the user's cache folder."""
    os.environ["SEQ2SEE_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def make_model() -> Callable[..., EncoderDecoder]:
    """Builds a small model for evaluation, each one once."""
    made: dict[str, EncoderDecoder] = {}

    def make(
        positions: str = "rotary",
        norm: str = "before",
        join: bool = False,
        seed: int = 0,
        noise: float = 0.2,
        sizes: tuple[int, int] = (11, 9),
        **settings: Any,
    ) -> EncoderDecoder:
        key = repr((positions, norm, join, seed, noise, sizes, settings))
        if key not in made:
            part = {"layers": 2, "heads": 2, "feedforward": 32}
            part |= {"positions": positions, "norm": norm, "join_positions": join}
            values = {"width": 16, "max_length": 16, "dropout": 0.1, "encoder": part, "decoder": part}
            # The last source id that a target has too cannot be copied, nor can any that it has not.
            copies = [id_ if id_ == END or 4 <= id_ < min(sizes) - 1 else PAD for id_ in range(sizes[0])]
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                vocabularies = [Vocabulary(size, STANDARD) for size in sizes]
                built = ModelSettings.model_validate(values | settings)
                model = make_encoder_decoder(built, *vocabularies, copies).eval()
                # Biases, gains and the padding's embedding get values too, so that each of them matters.
                for parameter in model.parameters():
                    parameter.data += torch.randn_like(parameter) * noise
            made[key] = model
        return made[key]

    return make


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small trained runs, by what they are made of."""
    return train_small(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of two targets, its data and what training said."""
    return train_several(tmp_path_factory.mktemp("several"))


@pytest.fixture(scope="session")
def models(runs: dict[str, Path]) -> dict[str, TextModel]:
    """The same, loaded."""
    return {name: load(folder, device="cpu") for name, folder in runs.items()}


@pytest.fixture(scope="session")
def reader_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small trained runs whose models read but do not write."""
    return train_readers(tmp_path_factory.mktemp("readers"))


@pytest.fixture(scope="session")
def readers(reader_runs: dict[str, Path]) -> dict[str, ReadingModel[Any]]:
    """The same, loaded; after so few steps a fitted temperature would only hide what changes."""
    loaded = {name: load(folder, device="cpu") for name, folder in reader_runs.items()}
    for model in loaded.values():
        model.run.calibration.pop("temperature", None)
    return loaded


@pytest.fixture(scope="session")
def image_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small trained runs whose models read images."""
    return train_image_runs(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="session")
def image_models(image_runs: dict[str, Path]) -> dict[str, Any]:
    """The same, loaded."""
    loaded = {name: load(folder, device="cpu") for name, folder in image_runs.items()}
    for model in loaded.values():
        model.run.calibration.pop("temperature", None)
    return loaded


@pytest.fixture(scope="session")
def goal_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A small trained run for each goal that reads but does not write."""
    return train_goals(tmp_path_factory.mktemp("goals"))


@pytest.fixture
def seq2see(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line as the shell would."""
    return command_line(monkeypatch, capsys)
