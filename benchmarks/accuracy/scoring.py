"""Fits of any engine, and the figures of their predictions."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from benchmarks.accuracy.cases import Case
from benchmarks.files import Split
from benchmarks.repeats import Figures
from relevance_bayes.core.types import Array

TWO_SIDED_95 = NormalDist().inv_cdf(0.975)

BINS = 10
"""Of equal width, for the calibration of probabilities."""

FAR = 100.0
"""Standard deviations by which every input is moved, away from all rows."""

FAR_ROWS = 100


@dataclass(frozen=True, eq=False)
class Distribution:
    """Of N targets, each (N,): sd, the ends of the 95 % interval, and the log density of what came, in nats."""

    sd: Array
    lower: Array
    upper: Array
    log_density: Array


@dataclass(frozen=True, eq=False)
class PredictedNumbers:
    """`mean` (N,) in the targets' units; no distribution from an engine that gives none."""

    mean: Array
    distribution: Distribution | None = None


@dataclass(frozen=True, eq=False)
class PredictedClasses:
    """`probabilities` (N, K), and the `labels` (N,) decided for."""

    probabilities: Array
    labels: Array


@dataclass(frozen=True, eq=False)
class Regressor:
    """`predict` predicts at X (N, d), scored at targets t (N,); `seconds` of CPU, any search counted."""

    functions: int
    rows: int
    seconds: float
    predict: Callable[[Array, Array], PredictedNumbers]


@dataclass(frozen=True, eq=False)
class Classifier:
    """`predict` predicts at X (N, d); `seconds` of CPU, any search counted."""

    functions: int
    rows: int
    seconds: float
    predict: Callable[[Array], PredictedClasses]


def gaussian(mean: Array, sd: Array, t: Array) -> PredictedNumbers:
    """A normal distribution for each target."""
    log_density = -0.5 * (np.log(2.0 * np.pi * sd**2) + ((t - mean) / sd) ** 2)
    return PredictedNumbers(mean, Distribution(sd, mean - TWO_SIDED_95 * sd, mean + TWO_SIDED_95 * sd, log_density))


def real_figures(learn: Callable[[Split], Regressor], case: Case) -> Figures:
    """RMSE, NLL and coverage on what came; squared error to the truth where it is known; the sd far away."""
    split = case.split
    learned = learn(split)
    prediction = learned.predict(split.X_test, split.t_test)
    figures = _sizes(learned) | {"rmse": float(np.sqrt(np.mean((prediction.mean - split.t_test) ** 2)))}
    if case.truth is not None:
        error = prediction.mean - case.truth
        figures |= {"mse": float(np.mean(error**2)), "greatest": float(np.abs(error).max())}
    if prediction.distribution is None:
        return figures
    predicted = prediction.distribution
    far = split.X_test[:FAR_ROWS] + FAR * split.X.std(axis=0)
    far_away = learned.predict(far, split.t_test[:FAR_ROWS]).distribution
    assert far_away is not None
    return figures | {
        "nll": -float(predicted.log_density.mean()),
        "inside": float(np.count_nonzero((predicted.lower <= split.t_test) & (split.t_test <= predicted.upper))),
        "measured": float(len(split.t_test)),
        "far": float(np.median(far_away.sd)) / float(split.t.std()),
    }


def class_figures(learn: Callable[[Split], Classifier], case: Case) -> Figures:
    """Log loss, error and expected calibration error on what came."""
    split = case.split
    learned = learn(split)
    prediction, t = learned.predict(split.X_test), split.t_test.astype(np.intp)
    chosen: Array = prediction.probabilities[np.arange(len(t)), t]
    return _sizes(learned) | {
        "log_loss": -float(np.log(np.maximum(chosen, np.finfo(float).tiny)).mean()),
        "error": float(np.mean(prediction.labels != split.t_test)),
        "ece": calibration_error(prediction.probabilities, t.astype(np.float64)),
    }


def binned(probability: Array, happened: Array) -> list[tuple[float, float, int]]:
    """Mean probability (N,), share that happened (N,) and count of every bin that has any, from the lowest."""
    place = np.minimum((probability * BINS).astype(np.intp), BINS - 1)
    return [
        (float(probability[inside].mean()), float(happened[inside].mean()), int(np.count_nonzero(inside)))
        for inside in (place == number for number in range(BINS))
        if inside.any()
    ]


def calibration_error(probabilities: Array, t: Array) -> float:
    """Of class 1 where there are two classes, else of the most probable class."""
    if probabilities.shape[1] == 2:
        probability, happened = probabilities[:, 1], t
    else:
        probability, happened = probabilities.max(axis=1), (probabilities.argmax(axis=1) == t).astype(np.float64)
    return sum(count * abs(predicted - came) for predicted, came, count in binned(probability, happened)) / len(t)


def _sizes(learned: Regressor | Classifier) -> Figures:
    return {"functions": float(learned.functions), "rows": float(learned.rows), "seconds": learned.seconds}
