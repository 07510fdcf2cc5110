"""A learned model: small, immutable, complete."""

from dataclasses import dataclass

import numpy as np

from relevance_bayes.core.augmentation import Augmentation
from relevance_bayes.core.basis import ConstantFunction, Functions, KernelFunctions
from relevance_bayes.core.fit_trace import FitTrace
from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.predictive import Latent
from relevance_bayes.core.types import Array

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
    for JITTER. `last_gain` and `next_gain` in nats: the gain of the last function that entered, and of the best that
    did not. Under an independent prior `augmentation` is for error bars away from the data, None without. `trace` are
    the steps of the fit, None for a model that was stored.
    """

    likelihood: Likelihood
    functions: tuple[Functions, ...]
    mean: Array
    covariance: Array
    alpha: Array
    gamma: Array
    noise_sd: float | None
    evidence: LogEvidence
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
    trace: FitTrace | None = None

    @property
    def size(self) -> int:
        """The number of functions, those of the log noise included."""
        return len(self.mean) + (0 if self.log_noise is None else len(self.log_noise.model.mean))


@dataclass(frozen=True, eq=False)
class LogNoise:
    """The logarithm of a noise variance that depends on the inputs: the latent N(m, v) of a sparse model.

    The noise variance at x is E exp g(x) = exp(m + v/2). Its logarithm is clipped to `min_log` and `max_log`: the
    least at the training rows, and the greatest there plus log CEILING.
    """

    model: Model
    min_log: float
    max_log: float

    def variance(self, latent: Latent) -> Array:
        """The noise variance (N,) at this latent of `model`."""
        return np.exp(np.clip(latent.mean + 0.5 * latent.variance, self.min_log, self.max_log))
