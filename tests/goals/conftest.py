"""Small models of the goal `complete`, made once for each file of tests."""

from pathlib import Path
from typing import Any

import pytest
from complete_runs import RNN, trained

from seq2see import load
from seq2see.goals.completer import Completer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("complete")


@pytest.fixture(scope="module")
def gpt(folder: Path) -> Completer:
    return load(trained(folder, "gpt"), device="cpu")


@pytest.fixture(scope="module")
def rnn(folder: Path) -> Completer:
    return load(trained(folder, "rnn", preset="char-rnn", settings=RNN), device="cpu")


@pytest.fixture(params=["gpt", "rnn"])
def model(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)
