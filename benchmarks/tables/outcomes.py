"""What an engine predicts of a split, and the figures of it."""

from dataclasses import dataclass

import numpy as np

from benchmarks.accuracy.scoring import ClassAnswer, RealAnswer, calibration_error
from benchmarks.repeats import Figures
from benchmarks.tables.splits import TableSplit

MIN_PROBABILITY = 1e-15
"""A lower probability of the class that came counts as this one, of every engine."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of the rows measured on; `seconds` of CPU to learn, any search counted; `functions` of the model."""

    seconds: float
    functions: int
    answer: RealAnswer | ClassAnswer


def figures(outcome: Outcome, split: TableSplit) -> Figures:
    """The figures of one engine on one split."""
    shared = {"seconds": outcome.seconds, "functions": float(outcome.functions), "measured": float(len(split.measured))}
    match outcome.answer:
        case RealAnswer() as answer:
            return shared | _real_figures(answer, split)
        case ClassAnswer() as answer:
            return shared | _class_figures(answer, split)


def _real_figures(answer: RealAnswer, split: TableSplit) -> Figures:
    """RMSE, and of engines that give a distribution NLL in nats a row and how many targets the 95 % interval holds."""
    t = split.t_test
    found = {"rmse": float(np.sqrt(np.mean((answer.mean - t) ** 2)))}
    if split.truth is not None:
        error = answer.mean - split.truth[split.measured]
        found["truth_rmse"] = float(np.sqrt(np.mean(error**2)))
    distribution = answer.distribution
    if distribution is None:
        return found
    inside = (distribution.lower <= t) & (t <= distribution.upper)
    return found | {"nll": -float(distribution.log_density.mean()), "inside": float(np.count_nonzero(inside))}


def _class_figures(answer: ClassAnswer, split: TableSplit) -> Figures:
    """Log loss in nats a row, error, calibration error; of generators the log loss above the least possible."""
    t = split.t_test
    probabilities = np.maximum(answer.probabilities, MIN_PROBABILITY)
    found = {
        "log_loss": -float(np.log(probabilities[np.arange(len(t)), t.astype(np.intp)]).mean()),
        "error": float(np.mean(answer.labels != t)),
        "ece": calibration_error(answer.probabilities, t),
    }
    if split.truth is not None:
        truth = split.truth[split.measured]
        entropy = -(truth * np.log(np.maximum(truth, MIN_PROBABILITY))).sum(axis=1)
        found["excess"] = float((-(truth * np.log(probabilities)).sum(axis=1) - entropy).mean())
    return found
