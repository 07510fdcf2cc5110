"""A test of heteroscedasticity: residuals that vary more at some inputs than at others."""

from math import sqrt

import numpy as np
import scipy

from relevance_bayes.core.types import Array

LEVEL = 0.01
"""The significance level of the test."""

MIN_ROWS = 20


def noise_varies(X: Array, mean: Array, z: Array) -> bool:
    """True where the sizes of standardised residuals z (N,) depend on an input or on the predicted mean.

    Spearman's rank correlation r of |z| with each column of X (N, d) and with `mean` (N,), and with how far each is
    from its median, in ranks, which detects noise that is greatest or least in the middle. r sqrt(N - 1) is about
    standard normal where they are independent, whatever the noise's distribution; Bonferroni's correction is by the
    number of correlations.
    """
    if len(z) < MIN_ROWS:
        return False
    ranks = [scipy.stats.rankdata(column) for column in (*X.T, mean)]
    middle = 0.5 * (len(z) + 1)
    sizes = scipy.stats.rankdata(np.abs(z))
    found = [correlation(sizes, one) for rank in ranks for one in (rank, scipy.stats.rankdata(np.abs(rank - middle)))]
    known = [one for one in found if one is not None]
    if not known:
        return False
    p = 2.0 * float(scipy.stats.norm.sf(max(map(abs, known)) * sqrt(len(z) - 1)))
    return p * len(known) < LEVEL


def correlation(one: Array, other: Array) -> float | None:
    """Pearson's correlation of two arrays (n,), of ranks Spearman's; None where one is constant."""
    a, b = one - one.mean(), other - other.mean()
    norm = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm > 0.0 else None
