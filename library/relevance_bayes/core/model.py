"""A sparse Bayesian model, and the range of inputs within which it is evaluated."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.algorithms.state import FitTrace
from relevance_bayes.core.basis import ConstantFunction, Functions, KernelFunctions, evaluate
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.posterior import Augmentation
from relevance_bayes.core.rows import Extremes, RowSource
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import Evidence

MARGIN = 0.1
"""The distance from the training range to the bounds on either side, over the length of the range."""


@dataclass(frozen=True, eq=False)
class InputRange:
    """Bounds of each input, `lower` (d,) and `upper` (d,), in the units of X.

    An input beyond them counts as the nearest bound, so that the latent and its variance are constant there. Where the
    mean of a target is the exponential of the latent, a trend that goes on, or a variance that grows to that of the
    prior, is otherwise a factor without a bound.
    """

    lower: Array
    upper: Array

    @classmethod
    def of(cls, source: RowSource) -> Self:
        """The range of the training rows and MARGIN of its length more on both sides."""
        extremes = source.reduce(Extremes.of)
        margin = MARGIN * (extremes.upper - extremes.lower)
        return cls(extremes.lower - margin, extremes.upper + margin)

    def __call__(self, X: Array) -> Array:
        """X (N, d) with inputs beyond a bound replaced by it."""
        return np.clip(X, self.lower, self.upper)


__all__ = ["ConstantFunction", "Functions", "KernelFunctions", "LogNoise", "Model"]


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted sparse Bayes model. R functions, in the order of `functions`; every array is float64.

    `mean` (R,) of the weights' posterior, or (R, K) for K latents a row, and `covariance` (R, R), of each latent's;
    `alpha` (R,) their prior precisions, `gamma` (R,) in [0, 1]. `likelihood` with what was learned of it; `noise_sd` as
    learned or given, the root mean square over the training rows where each had its own, None where the likelihood has
    none. `inputs` is d, `candidates` M and `rows` N of the fit. `evidence` is in the targets' own units. `termination`
    is a value of `Termination`.

    Under a Gaussian process prior the kernel functions are first and `signal_variance` is the process's variance s,
    whose residual is part of the predictive variance. `jitter` was added to the diagonal of their kernel matrix, None
    for JITTER. Where the process `is_exact`, `covariance` (F, F) is that of the last F functions, the columns without
    kernel, alone. `last_gain` and `next_gain` in nats: the gain of the last function that entered, and of the best that
    did not. Under an independent prior `augmentation` is for error bars away from the data, None without. The functions
    are evaluated within `input_range`, which models under a log link have; None without bounds. Predictions are
    Student's t with `degrees_of_freedom`, Gaussian for None: see `with_degrees_of_freedom`. `trace` are the steps
    of the fit, None for a model that was stored.
    """

    likelihood: Likelihood
    functions: tuple[Functions, ...]
    mean: Array
    covariance: Array
    alpha: Array
    gamma: Array
    noise_sd: float | None
    evidence: Evidence
    inputs: int
    rows: int
    candidates: int
    termination: str
    signal_variance: float | None = None
    last_gain: float | None = None
    next_gain: float | None = None
    augmentation: Augmentation | None = None
    jitter: float | None = None
    log_noise: "LogNoise | None" = None
    input_range: InputRange | None = None
    degrees_of_freedom: float | None = None
    trace: FitTrace | None = None

    @property
    def variance_factor(self) -> float:
        """The factor of the variances of predictions: see `variance_factor`."""
        return variance_factor(self.rows, self.degrees_of_freedom)

    @property
    def is_exact(self) -> bool:
        """True of a process through the functions of all rows whose jitter is its noise: see `Whole.through_all`.

        The weights of the kernel functions are known given those of the other columns: (K + jitter I)^-1 (t - F w).
        Their covariance would lose to rounding what little noise leaves of the variance.
        """
        return len(self.covariance) < len(self.mean)

    @property
    def size(self) -> int:
        """The number of functions, those of the log noise included."""
        return len(self.mean) + (0 if self.log_noise is None else len(self.log_noise.model.mean))

    def within_range(self, X: Array) -> Array:
        """The inputs X (N, d) at which the model is evaluated: within its `input_range`, where it has one."""
        return X if self.input_range is None else self.input_range(X)

    def columns(self, X: Array) -> Array:
        """All functions at X (N, d), side by side: (N, R)."""
        return evaluate(self.functions, self.within_range(X))


def variance_factor(rows: int, degrees_of_freedom: float | None) -> float:
    """n/(n - 1) of n `rows` where predictions are Student's t, which the evidence's noise variance lacks; else 1."""
    return 1.0 if degrees_of_freedom is None else rows / (rows - 1.0)


@dataclass(frozen=True, eq=False)
class LogNoise:
    """The logarithm of a noise variance that depends on the inputs: the latent N(m, v) of a sparse model.

    The noise variance at x is E exp g(x) = exp(m + v/2). Its logarithm is clipped to `min_log` and `max_log`: the
    least at the training rows, and the greatest there plus log CEILING.
    """

    model: Model
    min_log: float
    max_log: float

    def variance(self, latent: LatentGaussian) -> Array:
        """The noise variance (N,) at this latent of `model`."""
        return np.exp(np.clip(latent.mean + 0.5 * latent.variance, self.min_log, self.max_log))
