"""Log densities, their floor, and tests of standardised residuals.

The log density of a row has no lower bound: one row that a model misses by hundreds of standard deviations would decide
every mean over the rows, whatever the others show. So a row counts as at most MAX_SHORTFALL nats worse than one normal
distribution of the held-out targets, which knows no inputs.

[LIU1995] is Liu & Rubin, ML estimation of the t distribution using EM and its extensions, ECM and ECME, Statistica
Sinica 5.
"""

from math import lgamma, log, pi, sqrt

import numpy as np
import scipy

from relevance_bayes.core.types import Array

MAX_SHORTFALL = 20.0
"""Nats by which a row may count as worse than one normal distribution. A normal model whose residuals are 5 sds is 12.5
below its own greatest density, so that ordinary tails are not clipped; a row changes the mean of n by at most about
20/n."""


def log_normal(t: Array, mean: Array | float, variance: Array | float) -> Array:
    """log N(t; mean, variance), in nats."""
    return np.asarray(-0.5 * (np.log(2.0 * np.pi * variance) + (t - mean) ** 2 / variance))


def log_student_t(squares: Array, dof: float) -> Array:
    """log T (N,) of Student's t of mean 0, scale 1 and `dof` degrees of freedom at squared distances (N,), in nats."""
    constant = lgamma(0.5 * (dof + 1.0)) - lgamma(0.5 * dof) - 0.5 * log(dof * pi)
    return np.asarray(constant - 0.5 * (dof + 1.0) * np.log1p(squares / dof))


def log_one_normal(t: Array, *, half_width: float | None = None) -> Array:
    """log N(t_n; mean, variance of t) of each of N targets t (N,), in nats; -inf where they are all equal.

    With a `half_width` the log probability of the interval about each that reaches so far on either side: of 0.5 it is
    comparable with that of a count.
    """
    mean, variance = float(t.mean()), float(t.var())
    if not variance > 0.0:
        return np.full(len(t), -np.inf)
    if half_width is None:
        return log_normal(t, mean, variance)
    return log_probability(t, mean, variance, half_width)


HALF_UNIT = 0.5
"""The half width of the interval about a whole number."""


def log_probability(t: Array, mean: Array | float, variance: Array | float, half_width: float = HALF_UNIT) -> Array:
    """log of the probability under N(mean, variance) of the interval of this half width about each t (N,), in nats."""
    far, unit = np.abs(t - mean), np.sqrt(variance)  # in the lower tail, where the logarithm is accurate
    upper, lower = (scipy.special.log_ndtr((end - far) / unit) for end in (half_width, -half_width))
    with np.errstate(divide="ignore"):
        exact = upper + np.log(-np.expm1(lower - upper))
    # Where it is narrow, the difference of both loses its digits.
    narrow = log_normal(t, mean, variance) + log(2.0 * half_width)
    return np.where(half_width < NARROW * unit, narrow, exact)


NARROW = 1e-6
"""The half width of an interval, in sds, below which the density counts as constant."""


def min_log_density(t: Array, best: Array | None = None, *, half_width: float | None = None) -> Array:
    """The least log density (N,) that each held-out target t (N,) counts with, in nats.

    MAX_SHORTFALL below one normal distribution of these targets or, where that is greater, below the log density `best`
    (N,) of the best of several models. It is a density of the target itself, hence the same for all likelihoods of
    numbers, on whatever scale they model them; with a `half_width` a log probability: see `log_one_normal`.
    """
    one = log_one_normal(t, half_width=half_width)
    return (one if best is None else np.maximum(best, one)) - MAX_SHORTFALL


LEVEL = 0.01
"""The significance level of the test."""

NATS_OF_CORRELATION, MIN_GAIN_OF_NOISE = 1.23, 0.01
"""The gain in nats a row of a log variance g(x), per squared correlation of log |z| with g, and the least that counts.

z = e^(g/2) e with normal e: log |e| has the variance pi^2/8, so that r^2 = (var g / 4)/(pi^2/8) where g varies little,
and knowing g gains var g / 4 nats a row. Of many rows far less is significant than what a model of the noise gains."""

MIN_ROWS = 20


def noise_varies(X: Array, mean: Array, z: Array) -> bool:
    """True where the sizes of standardised residuals z (N,) depend on an input or on the predicted mean.

    Spearman's rank correlation r of |z| with each column of X (N, d) and with `mean` (N,), and with how far each is
    from its median, in ranks, which detects noise that is greatest or least in the middle. r sqrt(N - 1) is about
    standard normal where they are independent, whatever the noise's distribution; Bonferroni's correction is by the
    number of correlations. A correlation must also promise MIN_GAIN_OF_NOISE nats a row, which decides above some 2,000
    rows.
    """
    if len(z) < MIN_ROWS:
        return False
    middle = 0.5 * (len(z) + 1)
    ranks = np.apply_along_axis(average_ranks, 0, np.column_stack([X, mean]))
    far = np.apply_along_axis(average_ranks, 0, np.abs(ranks - middle))
    columns, sizes = np.hstack([ranks, far]) - middle, average_ranks(np.abs(z)) - middle
    norms = np.linalg.norm(columns, axis=0) * np.linalg.norm(sizes)
    known = norms > 0.0
    if not known.any():
        return False
    r = float(np.abs(sizes @ columns[:, known] / norms[known]).max())
    p = 2.0 * float(scipy.special.ndtr(-r * sqrt(len(z) - 1)))
    return p * int(known.sum()) < LEVEL and NATS_OF_CORRELATION * r**2 >= MIN_GAIN_OF_NOISE


def average_ranks(values: Array) -> Array:
    """The ranks (n,) of values (n,) from 1 on; equal ones have the mean of theirs.

    As `scipy.stats.rankdata`, whose import takes as long as a training of a hundred rows.
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[places])


MEAN_LOG_SQUARE = -float(np.euler_gamma + np.log(2.0))
"""E log e^2 of a standard normal e."""


def max_gain_of_noise(z: Array) -> float:
    """The most nats a row that a noise variance known for each row could gain, of standardised residuals z (N,).

    z = e^(g/2) e with normal e: under N(0, e^g) a row has the log density -1/2 (log 2 pi + g + 1) on average, under
    N(0, 1) -1/2 (log 2 pi + z^2), and E g = E log z^2 - E log e^2. So every departure of |z| from a normal distribution
    counts as noise that a function of the inputs explains.
    """
    squares = np.square(z)
    logs = np.log(np.maximum(squares, np.finfo(np.float64).tiny))
    return 0.5 * float(squares.mean() - 1.0 - logs.mean() + MEAN_LOG_SQUARE)


def correlation(one: Array, other: Array) -> float | None:
    """Pearson's correlation of two arrays (n,), of ranks Spearman's; None where one is constant."""
    a, b = one - one.mean(), other - other.mean()
    norm = sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm > 0.0 else None


DEGREES_OF_FREEDOM = (2.0, 3.0, 4.0, 6.0, 10.0, 30.0)

MIN_GAIN = 0.5
"""Nats a row by which Student's t must be better. Of 60 tables with ordinary residuals the greatest gain was 0.13."""

MIN_STANDARD_ERRORS = 3.0
"""Standard errors by which that gain must be above zero."""

MAX_LEFT_OUT = 100
"""One in so many residuals, at least one, is left out: a few rows far out are no heavy tails, and a model of them does
not predict other rows better."""

ITERATIONS = 100


def has_heavy_tails(z: Array) -> bool:
    """True where Student's t of a fitted scale describes standardised residuals z (N,) clearly better than a normal
    distribution of a fitted sd.

    Both have the mean 0, and the greatest |z| are left out. Student's t has the degrees of freedom of the greatest mean
    log density.
    """
    if len(z) < MIN_ROWS:
        return False
    kept = np.sort(np.abs(z))[: len(z) - max(len(z) // MAX_LEFT_OUT, 1)]
    variance = float(np.mean(kept**2))
    if not variance > 0.0:
        return False
    squares = np.square(kept)
    scales = [squared_scale(kept, dof) for dof in DEGREES_OF_FREEDOM]
    fits = [log_student_t(squares / s, dof) - 0.5 * log(s) for s, dof in zip(scales, DEGREES_OF_FREEDOM, strict=True)]
    gain = max(fits, key=lambda each: float(each.mean())) - log_normal(kept, 0.0, variance)
    return float(gain.mean()) > max(MIN_GAIN, MIN_STANDARD_ERRORS * float(gain.std(ddof=1)) / sqrt(len(gain)))


def squared_scale(z: Array, dof: float) -> float:
    """The squared scale of Student's t of greatest likelihood for z (N,), of mean 0.

    By expectation maximisation of its scale mixture, s = mean of w z^2 with w = (dof + 1)/(dof + z^2/s) [LIU1995].
    """
    squares = np.square(z)
    s = float(squares.mean())
    for _ in range(ITERATIONS):
        s = float(np.mean((dof + 1.0) * squares / (dof + squares / s)))
    return s
