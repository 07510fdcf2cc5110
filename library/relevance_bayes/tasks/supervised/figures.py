"""The figures of predicted numbers, in the user's units."""

from math import sqrt

import numpy as np

from relevance_bayes.core.likelihoods.gaussian import standard_ends
from relevance_bayes.core.prediction import NumberPrediction
from relevance_bayes.core.types import Array
from relevance_bayes.tables.encoding import (
    EncodedTarget,
    user_mean,
    user_sd,
    user_variance,
)
from relevance_bayes.tasks.supervised.explanation import Explanation
from relevance_bayes.tasks.supervised.predictions import RegressionPrediction
from relevance_bayes.types.errors import Fault

FIGURES = 8
"""The number of figures of a predicted number, in the order of `figures_of`."""


MAX_FLOAT = float(np.finfo(np.float64).max)


def regression_of(
    figures: Array,
    support: Array | None,
    covariance: Array | None = None,
    explanation: Explanation | None = None,
    faults: tuple[Fault, ...] = (),
) -> RegressionPrediction:
    """Return the prediction from `figures` (FIGURES, N) in the order of `figures_of`."""
    mean, lower, upper, sd, total, noise, weights, residual = figures
    parts = total, noise, weights, residual
    return RegressionPrediction(mean, sd, *parts, lower, upper, support, covariance, explanation, faults)


def figures_of(target: EncodedTarget, part: NumberPrediction, interval: float) -> Array:
    """Return mean, both ends of the interval, sd, variance and its three parts, in the user's units: (FIGURES, n)."""
    total = part.variance
    # In one call, since for few rows a call costs more than its numbers.
    places = user_mean(target, np.array((part.mean, *part.interval(interval))))
    variances = user_variance(target, np.array((total, part.noise, part.weights, part.residual)))
    return np.concatenate([places, user_sd(target, np.sqrt(total))[None], variances])


def figures_of_one(
    target: EncodedTarget, mean: float, noise: float, weights: float, residual: float, interval: float
) -> list[float]:
    """Return the figures of one row with Gaussian noise, equal to those of `figures_of` to the bit."""
    total = noise + weights + residual
    sd, unit, largest = sqrt(total), target.scale, MAX_FLOAT
    lower, upper = standard_ends(interval)
    ends = mean + lower * sd, mean + upper * sd
    places = [min(max(place * unit + target.shift, -largest), largest) for place in (mean, *ends)]
    variances = [min(variance * unit * unit, largest) for variance in (total, noise, weights, residual)]
    return [*places, min(sd * unit, largest), *variances]
