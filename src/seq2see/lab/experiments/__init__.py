"""The experiments, a file for each claim."""

from seq2see.lab.experiment import Experiment
from seq2see.lab.experiments import cost, gradients, paths, permutation, scaling

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT for module in (gradients, scaling, permutation, cost, paths)
}
