"""Mixtures of predictive distributions: a row that may be one of several has the weighted sum of their densities."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from relevance_bayes.core.likelihoods.counts import CountPrediction
from relevance_bayes.core.likelihoods.predictive import ClassPrediction, NumberPrediction, Prediction
from relevance_bayes.core.types import Array, Indices

MAX_STEPS = 64
"""The most bisections of a quantile: the last one is below the precision of float64 at the ends of its bracket."""

MAX_VARIANCE = float(np.finfo(np.float64).max) / 8.0


@dataclass(frozen=True, eq=False)
class Groups:
    """M rows in N groups of consecutive ones: `starts` (N,) are their first rows, `weights` (M,) add to 1 in each."""

    starts: Indices
    weights: Array

    @cached_property
    def numbers(self) -> Indices:
        """The group of each row, (M,)."""
        return np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.weights))))

    def mean(self, values: Array) -> Array:
        """The weighted means (N, ...) of values (M, ...) of the rows."""
        weights = self.weights.reshape(-1, *(1,) * (values.ndim - 1))
        return np.asarray(np.add.reduceat(weights * values, self.starts))

    def variance(self, values: Array) -> Array:
        """The weighted variances (N, ...) of values (M, ...) of the rows."""
        with np.errstate(over="ignore"):
            return np.minimum(self.mean(np.square(values - self.mean(values)[self.numbers])), MAX_VARIANCE)


@dataclass(frozen=True, eq=False)
class NumberMixture(NumberPrediction):
    """Mixtures of the predictions of M rows, one for each of N groups.

    By the law of total variance the variance of the mixture is the mean of the variances and the variance of the means;
    the second is a part of `residual`.
    """

    components: NumberPrediction
    groups: Groups

    @classmethod
    def of(cls, components: NumberPrediction, groups: Groups) -> Self:
        """Return the mixtures of predictions of M rows."""
        noise, weights, residual = map(groups.mean, (components.noise, components.weights, components.residual))
        between = groups.variance(components.mean)
        return cls(groups.mean(components.mean), noise, weights, residual + between, components, groups)

    def quantile(self, probability: float) -> Array:
        """The quantile (N,) by bisection between the least and the greatest of the components; a count for counts."""
        each, are_counts = self.components.quantile(probability), isinstance(self.components, CountPrediction)
        low, high = np.minimum.reduceat(each, self.groups.starts), np.maximum.reduceat(each, self.groups.starts)
        low = low - 1.0 if are_counts else low  # the level is not reached there
        for _ in range(MAX_STEPS):
            middle = np.floor(0.5 * low + 0.5 * high) if are_counts else 0.5 * low + 0.5 * high
            if ((middle <= low) | (middle >= high)).all():
                break
            reached = self.distribution(middle)[1] >= probability
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return high

    def log_density(self, t: Array) -> Array:
        """The logarithm of the weighted sum of the densities of t (N,)."""
        with np.errstate(divide="ignore"):
            each = self.components.log_density(t[self.groups.numbers]) + np.log(self.groups.weights)
            largest = np.maximum.reduceat(each, self.groups.starts)
            largest = np.where(np.isfinite(largest), largest, 0.0)
            total = np.add.reduceat(np.exp(each - largest[self.groups.numbers]), self.groups.starts)
            return np.asarray(largest + np.log(total))

    def distribution(self, t: Array) -> tuple[Array, Array]:
        """The weighted sums of the distributions at t (N,)."""
        below, upto = self.components.distribution(t[self.groups.numbers])
        return np.minimum(self.groups.mean(below), 1.0), np.minimum(self.groups.mean(upto), 1.0)


def mixture(components: Prediction, groups: Groups) -> Prediction:
    """The mixtures of the predictions of M rows, one for each of N groups.

    The latents of classes have the variance of the mixture too; where all latents of a row share one variance, the
    variances of their means are averaged.
    """
    if isinstance(components, NumberPrediction):
        return NumberMixture.of(components, groups)
    variance, between = groups.mean(components.latent_variance), groups.variance(components.latent_mean)
    if between.ndim > variance.ndim:
        between = between.mean(axis=1)
    probabilities, mean = groups.mean(components.probabilities), groups.mean(components.latent_mean)
    return ClassPrediction(probabilities, mean, variance + between)
