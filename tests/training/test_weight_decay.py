"""Weight decay makes matrices smaller, and leaves norms and biases alone."""

import torch

from seq2see.models import ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.text import STANDARD
from seq2see.training.settings import TrainingSettings
from seq2see.training.trainer import _optimizer


def test_decay_is_for_matrices() -> None:
    """H: without a gradient from the data, a step of AdamW shrinks matrices and nothing else."""
    settings = ModelSettings.model_validate({"width": 16, "encoder": {"layers": 1}, "decoder": {"layers": 1}})
    network = make_encoder_decoder(settings, Vocabulary(9, STANDARD), Vocabulary(9, STANDARD))
    for parameter in network.parameters():
        parameter.data.fill_(1.0)
        parameter.grad = torch.zeros_like(parameter)
    optimizer = _optimizer(network, TrainingSettings(optimizer="adamw", weight_decay=0.1, learning_rate=0.5))
    optimizer.step()
    kinds: dict[str, set[bool]] = {"matrix": set(), "vector": set()}
    for parameter in network.parameters():
        kinds["matrix" if parameter.dim() > 1 else "vector"].add(bool((parameter == 1).all()))
    assert kinds == {"matrix": {False}, "vector": {True}}


def test_without_decay_there_is_one_group() -> None:
    """H: the state of runs that began before norms had a group of their own can still be resumed."""
    settings = ModelSettings.model_validate({"width": 16, "encoder": {"layers": 1}, "decoder": {"layers": 1}})
    network = make_encoder_decoder(settings, Vocabulary(9, STANDARD), Vocabulary(9, STANDARD))
    assert len(_optimizer(network, TrainingSettings()).param_groups) == 1
