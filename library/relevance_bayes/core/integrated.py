"""The evidence that a model reports, and with its hyperparameters integrated out, which can be compared across priors.

The maximised evidence can't be compared, since each precision was chosen by it. The integral is Laplace's approximation
over the logarithms of the hyperparameters, under weak hyperpriors [THEORY 17].
"""

from dataclasses import dataclass
from math import lgamma, log, pi
from typing import Literal

import numpy as np

from relevance_bayes.core.types import Array

EvidenceKind = Literal["exact", "laplace", "lower_bound"]

USUAL_LOG_BETA = 2.0
"""Mean of the hyperprior on log beta, in units of the targets' square; those of log alpha and log s are 0."""

WIDE = 3.0
"""Standard deviation of the normal hyperprior on each logarithm, in standardised units."""


@dataclass(frozen=True)
class LogEvidence:
    """log p(t | hyperparameters) in the targets' own units, in nats; no figure includes another.

    `value` is exact for Gaussian noise under independent weights or the whole of a process, Laplace's approximation for
    log-concave likelihoods under independent weights, else a lower bound: that of a process through few functions
    [TITSIAS2009; HENSMAN2015], of Student's t, of coupled classes. `log_hyperprior` is the log density of the learned
    hyperparameters under their priors, normalised where these are proper, 0 without any, None in versions that
    predate it; `price` is the price of choice of the functions in the model, log C(M, R) and at least a nat each, 0
    without a price.
    """

    value: float
    kind: EvidenceKind
    log_hyperprior: float | None = 0.0
    price: float = 0.0


@dataclass(frozen=True)
class Integral:
    """log of the evidence integrated over hyperparameters, in nats.

    `value` over all but the input map's; integrating over those adds `input_map`, 0 where the map was given.
    """

    value: float
    input_map: float = 0.0


@dataclass(frozen=True, eq=False)
class Peak:
    """The maximum of L in nats, less the price of choices, and the curvature there.

    `curvature` (n, n) is minus the Hessian of L in the hyperparameters; `log_prior` the log density of the hyperpriors,
    `slope` (n,) and `precision` (n,) its first and minus its second derivatives.
    """

    value: float
    log_prior: float
    slope: Array
    precision: Array
    curvature: Array

    @property
    def integral(self) -> float:
        """log of the integral over the hyperparameters, in nats.

        At the maximum of the quadratic form, which is at the hyperprior's mean in directions that L does not depend
        on. Eigenvalues are at least those of the hyperprior.
        """
        eigenvalues, vectors = np.linalg.eigh(self.curvature + np.diag(self.precision))
        eigenvalues = np.maximum(eigenvalues, WIDE**-2)
        rise = 0.5 * float(np.sum((vectors.T @ self.slope) ** 2 / eigenvalues))
        volume = 0.5 * float(len(self.slope) * log(2.0 * pi) - np.log(eigenvalues).sum())
        return self.value + self.log_prior + rise + volume


def normal(offsets: Array, sd: float = WIDE) -> tuple[float, Array, Array]:
    """log N(offset; 0, sd^2) summed over (n,), its slope (n,) and its precision (n,)."""
    precision = np.full(len(offsets), sd**-2)
    value = -0.5 * float(np.sum(offsets**2)) / sd**2 - len(offsets) * log(sd * (2.0 * pi) ** 0.5)
    return value, -offsets / sd**2, precision


def cauchy(values: Array, scale: float) -> tuple[float, Array, Array]:
    """log of Cauchy's density summed over (n,), its slope (n,), and minus its second derivative (n,), at least 0."""
    squares = values**2 + scale**2
    value = -float(np.log1p((values / scale) ** 2).sum()) - len(values) * log(pi * scale)
    return value, -2.0 * values / squares, np.maximum(2.0 * (scale**2 - values**2) / squares**2, 0.0)


def log_choices(candidates: int, chosen: int) -> float:
    """log C(M, R) in nats."""
    return lgamma(candidates + 1.0) - lgamma(chosen + 1.0) - lgamma(candidates - chosen + 1.0)
