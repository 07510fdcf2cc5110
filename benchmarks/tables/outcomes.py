"""The predictions of an engine on a split, and their figures."""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from benchmarks.accuracy.scoring import PredictedClasses, PredictedNumbers, calibration_error
from benchmarks.repeats import Figures
from benchmarks.tables.splits import TableSplit
from relevance_bayes.core.types import Array

MIN_PROBABILITY = 1e-15
"""A lower probability of the class that came counts as this one, of every engine."""


BY_FOLDS = ("rows", "nll", "nll_se", "coverage_95", "log_loss", "log_loss_se")


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of the rows measured on; `seconds` of CPU to learn, any search counted; `functions` of the model.

    `by_folds` are figures that an engine reports of itself from rows that it left out: `rows`, and `nll`, `nll_se` and
    `coverage_95` of numbers or `log_loss` and `log_loss_se` of classes.
    """

    seconds: float
    functions: int
    predicted: PredictedNumbers | PredictedClasses
    by_folds: Figures = field(default_factory=dict)


def figures(outcome: Outcome, split: TableSplit) -> Figures:
    """The figures of one engine on one split."""
    shared = {"seconds": outcome.seconds, "functions": float(outcome.functions), "measured": float(len(split.measured))}
    shared |= {f"by_folds_{name}": outcome.by_folds[name] for name in BY_FOLDS if name in outcome.by_folds}
    match outcome.predicted:
        case PredictedNumbers() as predicted:
            return shared | _real_figures(predicted, split)
        case PredictedClasses() as predicted:
            return shared | _class_figures(predicted, split)


def _real_figures(predicted: PredictedNumbers, split: TableSplit) -> Figures:
    """RMSE, and of engines that give a distribution NLL in nats a row and how many targets the 95 % interval holds."""
    t = split.t_test
    found = {"rmse": float(np.sqrt(np.mean((predicted.mean - t) ** 2)))}
    if split.truth is not None:
        error = predicted.mean - split.truth[split.measured]
        found["truth_rmse"] = float(np.sqrt(np.mean(error**2)))
    distribution = predicted.distribution
    if distribution is None:
        return found
    inside = (distribution.lower <= t) & (t <= distribution.upper)
    return found | _loss("nll", -distribution.log_density) | {"inside": float(np.count_nonzero(inside))}


def _class_figures(predicted: PredictedClasses, split: TableSplit) -> Figures:
    """Log loss in nats a row, error, calibration error; of generators the log loss above the least possible."""
    t = split.t_test
    probabilities = np.maximum(predicted.probabilities, MIN_PROBABILITY)
    found = _loss("log_loss", -np.log(probabilities[np.arange(len(t)), t.astype(np.intp)])) | {
        "error": float(np.mean(predicted.labels != t)),
        "ece": calibration_error(predicted.probabilities, t),
    }
    if split.truth is not None:
        truth = split.truth[split.measured]
        entropy = -(truth * np.log(np.maximum(truth, MIN_PROBABILITY))).sum(axis=1)
        found["excess"] = float((-(truth * np.log(probabilities)).sum(axis=1) - entropy).mean())
    return found


def _loss(name: str, each: Array) -> Figures:
    """The mean of a loss of each row (n,), and its standard error."""
    error = float(each.std(ddof=1)) / sqrt(len(each)) if len(each) > 1 else 0.0
    return {name: float(each.mean()), f"{name}_se": error}
