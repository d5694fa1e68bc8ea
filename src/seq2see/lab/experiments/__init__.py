"""The experiments, a file for each claim."""

from seq2see.lab.experiment import Experiment
from seq2see.lab.experiments import (
    bottleneck,
    cost,
    encode_once,
    gradients,
    hard_attention,
    heads,
    normalisation,
    paths,
    permutation,
    positions,
    removal,
    scaling,
    scores,
    teacher_forcing,
    worked,
)

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        bottleneck,
        scores,
        hard_attention,
        heads,
        gradients,
        removal,
        normalisation,
        scaling,
        positions,
        permutation,
        cost,
        paths,
        teacher_forcing,
        encode_once,
        worked,
    )
}
