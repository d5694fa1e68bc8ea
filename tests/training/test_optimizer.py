"""Decay is for matrices; Muon is for those between states, and does what torch's own does."""

import pytest
import torch
from torch import nn

from seq2see.models import ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.text import STANDARD
from seq2see.training.optimizer import Muon, make_optimizer, orthogonal
from seq2see.training.settings import TrainingSettings


def test_decay_is_for_matrices() -> None:
    """H: without a gradient from the data, a step of AdamW shrinks matrices and nothing else."""
    settings = ModelSettings.model_validate({"width": 16, "encoder": {"layers": 1}, "decoder": {"layers": 1}})
    network = make_encoder_decoder(settings, Vocabulary(9, STANDARD), Vocabulary(9, STANDARD))
    for parameter in network.parameters():
        parameter.data.fill_(1.0)
        parameter.grad = torch.zeros_like(parameter)
    optimizer = make_optimizer(
        network, TrainingSettings(optimizer="adamw", weight_decay=0.1, learning_rate=0.5)
    )
    optimizer.step()
    kinds: dict[str, set[bool]] = {"matrix": set(), "vector": set()}
    for parameter in network.parameters():
        kinds["matrix" if parameter.dim() > 1 else "vector"].add(bool((parameter == 1).all()))
    assert kinds == {"matrix": {False}, "vector": {True}}


def test_without_decay_there_is_one_group() -> None:
    """H: the state of runs that began before norms had a group of their own can still be resumed."""
    settings = ModelSettings.model_validate({"width": 16, "encoder": {"layers": 1}, "decoder": {"layers": 1}})
    network = make_encoder_decoder(settings, Vocabulary(9, STANDARD), Vocabulary(9, STANDARD))
    assert len(make_optimizer(network, TrainingSettings()).param_groups) == 1


@pytest.mark.parametrize("shape", [(3, 24, 24), (2, 40, 12), (2, 12, 40), (1, 1, 7)])
def test_orthogonal_matrices_have_directions_of_one_strength(shape: tuple[int, ...]) -> None:
    """H: singular vectors stay, and singular values that are not tiny come near to 1."""
    matrices = torch.randn(shape, generator=torch.manual_seed(1))
    left, strengths, right = torch.linalg.svd(matrices, full_matrices=False)
    turned = orthogonal(matrices)
    found = left.mT @ turned @ right.mT
    diagonal = found.diagonal(dim1=1, dim2=2)
    clear = strengths > 0.05 * strengths[:, :1]
    assert diagonal[clear].min() > 0.6 and diagonal.max() < 1.3
    assert (found - torch.diag_embed(diagonal)).abs().max() < 1e-4
    assert torch.equal(orthogonal(torch.zeros(shape)), torch.zeros(shape))


def test_muon_is_that_of_torch() -> None:
    """H: the same weights after some steps, but for torch's rounding to bfloat16."""
    draw = torch.manual_seed(1)
    weights = [torch.randn(shape, generator=draw) for shape in ((8, 8), (16, 8), (8, 8))]
    ours, theirs = ([nn.Parameter(weight.clone()) for weight in weights] for _ in range(2))
    group = {"params": ours, "orthogonal": True, "weight_decay": 0.1}
    optimizers = [
        Muon([group], lr=0.02),
        torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
    ]
    for _ in range(10):
        gradients = [torch.randn(weight.shape, generator=draw) for weight in weights]
        for parameters, optimizer in zip((ours, theirs), optimizers, strict=True):
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient.clone()
            optimizer.step()
    for before, own, other in zip(weights, ours, theirs, strict=True):
        moved = (other - before).norm()
        assert (own - other).norm() < 0.02 * moved


def test_muon_is_for_matrices_between_states() -> None:
    """H: embeddings, the output layer, norms and biases learn by AdamW; filters are matrices too."""
    settings = ModelSettings.model_validate(
        {
            "width": 16,
            "tie_output": False,
            "encoder": {"layers": 1},
            "decoder": {"kind": "recurrent", "attention": "general", "heads": 2},
        }
    )
    network = make_encoder_decoder(settings, Vocabulary(9, STANDARD), Vocabulary(9, STANDARD))
    network.encoder.blocks.append(nn.Conv2d(2, 3, 3))
    optimizer = make_optimizer(network, TrainingSettings(optimizer="muon", weight_decay=0.1))
    for parameter in network.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    matrices = {name for name, parameter in network.named_parameters() if parameter.dim() > 1}
    by_muon = {
        name for name, parameter in network.named_parameters() if "momentum" in optimizer.state[parameter]
    }
    assert matrices - by_muon == {"front.embed.weight", "decoder.embed.weight", "head.output.weight"}
    assert {"encoder.blocks.1.weight", "decoder.cross.score.between", "decoder.combine.weight"} < by_muon
    assert {f"decoder.layers.0.weights.weight_{one}_l0" for one in ("ih", "hh")} < by_muon
    assert all("exp_avg" in optimizer.state[one] for one in network.parameters() if one.dim() < 2)


def test_what_comes_by_head_has_the_rows_of_all_heads() -> None:
    """H: W of general attention, (H, K, M), takes the step of the matrix (H K, M)."""
    draw = torch.manual_seed(1)
    first, gradient = torch.randn(3, 4, 8, generator=draw), torch.randn(3, 4, 8, generator=draw)
    found = []
    for shape, by_head in (((3, 4, 8), True), ((12, 8), False)):
        weight = nn.Parameter(first.clone().view(shape))
        weight.grad = gradient.clone().view(shape)
        Muon([{"params": [weight], "orthogonal": True, "by_head": by_head}], lr=0.02).step()
        found.append(weight.detach().view(12, 8))
    assert torch.equal(*found) and not torch.equal(found[0], first.view(12, 8))
