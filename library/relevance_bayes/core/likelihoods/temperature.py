"""Temperature scaling of class probabilities [GUO2017: Guo et al., On calibration of modern neural networks, ICML]."""

from math import exp, log
from typing import Literal, TypeAlias

import numpy as np
import scipy

from relevance_bayes.core.tracing import A, ExtendedNamespace
from relevance_bayes.core.types import Array

Temperature: TypeAlias = Literal["learned"] | float
"""T > 0 of p_k^(1/T) / sum_j p_j^(1/T): above 1 probabilities are less certain. Where it is "learned" it is 1 until
it is fitted to held-out rows."""

MIN_TEMPERATURE, MAX_TEMPERATURE = 0.05, 20.0
"""Bounds of a temperature, given or learned."""

LOG_TEMPERATURE_SD = 0.25
"""The sd of the Gaussian prior of log T."""

GRID = 61
"""Temperatures on the grid before the best is refined: the log prior is not concave in 1/T."""

TINY = float(np.finfo(float).tiny)


def temperature_of(temperature: Temperature) -> float:
    """The value of a temperature, 1 before it is learned."""
    return 1.0 if temperature == "learned" else float(temperature)


def tempered(xp: ExtendedNamespace[A], probabilities: A, temperature: Temperature) -> A:
    """p_k^(1/T) / sum_j p_j^(1/T) of each row's probabilities (N, K); unchanged at T = 1."""
    t = temperature_of(temperature)
    return probabilities if t == 1.0 else softmax(xp, xp.log(xp.maximum(probabilities, TINY)) / t)


def softmax(xp: ExtendedNamespace[A], f: A) -> A:
    """exp of each row's numbers (N, K) over their sum."""
    e = xp.exp(f - xp.max(f, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def fitted_temperature(probabilities: Array, t: Array) -> float:
    """argmax_T sum_n log [p_n^(1/T) / sum_k p_nk^(1/T)]_(t_n) - 1/2 (log T / .25)^2, within the bounds.

    `probabilities` (N, K) at T = 1 of held-out rows, t (N,) their classes, 0.0 to K - 1.
    """
    logs = np.log(np.maximum(probabilities, TINY))
    # Relative to the most probable class, so that no exp overflows: its terms scale with 1/T as all others do.
    top = logs.max(axis=1)
    behind = float((top - np.take_along_axis(logs, t.astype(np.intp)[:, None], axis=1)[:, 0]).sum())
    logs -= top[:, None]

    def loss(log_t: float) -> float:
        colder = exp(-log_t)
        log_sums = np.log(np.exp(colder * logs).sum(axis=1))
        return colder * behind + float(log_sums.sum()) + 0.5 * (log_t / LOG_TEMPERATURE_SD) ** 2

    grid = np.linspace(log(MIN_TEMPERATURE), log(MAX_TEMPERATURE), GRID)
    best = int(np.argmin([loss(float(one)) for one in grid]))
    bounds = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, GRID - 1)])
    found = scipy.optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return exp(float(found.x))
