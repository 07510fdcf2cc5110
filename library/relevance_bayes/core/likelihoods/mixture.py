"""Mixtures of predictive distributions: a row that may be one of several has the weighted sum of their densities.

Where the components are a sample of all that the row may be, the mixture of finitely many narrow densities has gaps
that the distribution has not: there each is wider by half the range of its neighbours' means, an adaptive kernel
estimate of the density of the means [SILVERMAN1986, section 5.2].
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from relevance_bayes.core.likelihoods.base import ClassPrediction, NumberPrediction, Prediction
from relevance_bayes.core.likelihoods.counts import CountPrediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.likelihoods.hurdle import HurdlePrediction
from relevance_bayes.core.likelihoods.student_t import HeavyTailedPrediction
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction
from relevance_bayes.core.types import Array, Indices

MAX_STEPS = 64
"""The most bisections of a quantile: the last one is below the precision of float64 at the ends of its bracket."""

NEIGHBOURS = 2.0
"""The effective number of components on either side of one that its density reaches."""

EPS = float(np.finfo(np.float64).eps)

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
    def of(cls, components: NumberPrediction, groups: Groups, *, is_sample: bool = False) -> Self:
        """Return the mixtures of predictions of M rows; of a sample, densities and quantiles are smoothed."""
        noise, weights, residual = map(groups.mean, (components.noise, components.weights, components.residual))
        between = groups.variance(components.mean)
        mean, components = groups.mean(components.mean), _smoothed(components, groups) if is_sample else components
        return cls(mean, noise, weights, residual + between, components, groups)

    def quantile(self, probability: float) -> Array:
        """The quantile (N,) between the least and the greatest of the components; a count for counts, by bisection."""
        each = self.components.quantile(probability)
        low, high = np.minimum.reduceat(each, self.groups.starts), np.maximum.reduceat(each, self.groups.starts)
        if not isinstance(self.components, CountPrediction):
            found = _root(lambda t: self.distribution(t)[1] - probability, low, high)
            has_step = isinstance(self.components, HurdlePrediction)  # at 0, which may be `low`
            return np.where(self.distribution(low)[1] >= probability, low, found) if has_step else found
        low = low - 1.0  # the level is not reached there
        for _ in range(MAX_STEPS):
            middle = np.floor(0.5 * low + 0.5 * high)
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


def _root(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """The roots (N,) of an increasing function between `low` and `high` (N,), by inverse quadratic interpolation where
    that is safe, else by bisection [CHANDRUPATLA1997]."""
    a, b, share = low, high, np.full(len(low), 0.5)
    f_a, f_b = function(a), function(b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(MAX_STEPS):
            x = a + share * (b - a)
            f_x = function(x)
            same = (f_x >= 0.0) == (f_a >= 0.0)
            c, f_c = np.where(same, a, b), np.where(same, f_a, f_b)
            b, f_b = np.where(same, b, a), np.where(same, f_b, f_a)
            a, f_a = x, f_x
            tolerance = 2.0 * EPS * np.maximum(np.abs(a), np.abs(b)) / np.abs(b - a)
            is_found = (tolerance > 0.5) | np.isnan(tolerance) | (f_a == 0.0)
            if is_found.all():
                break
            distance, level = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
            is_safe = (level**2 < distance) & ((1.0 - level) ** 2 < 1.0 - distance)
            inverse = f_a / (f_b - f_a) * f_c / (f_b - f_c) + (c - a) / (b - a) * f_a / (f_c - f_a) * f_b / (f_c - f_b)
            share = np.where(is_safe & np.isfinite(inverse), inverse, 0.5)
            share = np.where(is_found, 0.0, np.clip(share, tolerance, 1.0 - tolerance))
    return np.where(np.abs(f_a) < np.abs(f_b), a, b)


def _smoothed(components: NumberPrediction, groups: Groups) -> NumberPrediction:
    """The components with their neighbours' means within reach; counts, which are never narrow, are unchanged."""
    match components:
        case HurdlePrediction(positive=positive):
            return replace(components, positive=_smoothed_logarithms(positive, groups))
        case RealPrediction() | HeavyTailedPrediction():
            widths = _neighbour_distances(components.mean, groups)
            return replace(components, residual=components.residual + np.square(widths))
        case PositivePrediction():
            return _smoothed_logarithms(components, groups)
        case _:
            return components


def _smoothed_logarithms(components: PositivePrediction, groups: Groups) -> PositivePrediction:
    log = components.log
    widths = _neighbour_distances(log.mean, groups)
    return PositivePrediction.of(replace(log, residual=log.residual + np.square(widths)))


def _neighbour_distances(means: Array, groups: Groups) -> Array:
    """Half the range (M,) of means (M,) between the quantiles NEIGHBOURS/n on either side, n = 1/sum of the squared
    weights, of their own levels in the group."""
    found = np.empty(len(means))
    for some in np.split(np.arange(len(means)), groups.starts[1:]):
        order = some[np.argsort(means[some], kind="stable")]
        weights, sorted_means = groups.weights[order], means[order]
        levels = np.cumsum(weights) - 0.5 * weights
        reach = NEIGHBOURS * float(np.square(weights).sum())
        above = np.interp(levels + reach, levels, sorted_means)
        found[order] = 0.5 * (above - np.interp(levels - reach, levels, sorted_means))
    return found


def mixture(components: Prediction, groups: Groups, *, is_sample: bool = False) -> Prediction:
    """The mixtures of the predictions of M rows, one for each of N groups, of all that they may be or of a sample.

    The latents of classes have the variance of the mixture too; where all latents of a row share one variance, the
    variances of their means are averaged.
    """
    if isinstance(components, NumberPrediction):
        return NumberMixture.of(components, groups, is_sample=is_sample)
    variance, between = groups.mean(components.latent_variance), groups.variance(components.latent_mean)
    if between.ndim > variance.ndim:
        between = between.mean(axis=1)
    probabilities, mean = groups.mean(components.probabilities), groups.mean(components.latent_mean)
    return ClassPrediction(probabilities, mean, variance + between)
