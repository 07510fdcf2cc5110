"""Densities among the expansions: the negative mass of an expansion, and its nearest density."""

from collections import deque
from collections.abc import Iterator
from math import inf

import numpy as np
import scipy

from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.fitting import FitLog
from relevance_bayes.tasks.approximation.columns import TermColumns
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.sparse import Approximation, candidates_of

MASS_COUNTS = 1e4
"""The weight of the constraint on the mass in the least squares, before it is made exact."""

MIN_FALL = 1e-6
"""The least fall of the error by a term, as a share of the error."""


def proper(whole: KernelExpansion, found: Approximation, *, max_functions: int | None = None) -> Approximation:
    """The end of `proper_steps`, see there."""
    (last,) = deque(proper_steps(whole, found, max_functions=max_functions), maxlen=1)
    if isinstance(last, int):
        raise SparseBayesError("expected the last step to be an approximation")
    return last


def proper_steps(
    whole: KernelExpansion, found: Approximation, *, max_functions: int | None = None, fit_log: FitLog | None = None
) -> Iterator[int | Approximation]:
    """A sum that is a density where f is one: no coefficient below 0, and of the same mass as f.

    The nearest sum of the terms found. While its error exceeds theirs, others enter, that of the steepest fall of the
    error first, until there are `max_functions` or the error stops to fall. Terms with a coefficient of 0 leave.

    Yields the number of terms of each step, which is recorded in the `fit_log`, then the sum.

    Raises DataError where f has a constant, or no mass above 0.
    """
    if whole.constant != 0.0 or whole.mass <= 0.0:
        raise DataError("expected a density: no constant, and a mass above 0")
    few = found.expansion
    every = few.take(np.arange(few.size), np.zeros(few.size)).beside(candidates_of(whole))
    seen = TermColumns.of(every, found.error)
    shares = seen.masses / float(seen.masses @ seen.own)
    G, t = np.vstack([seen.G, MASS_COUNTS * shares]), np.append(seen.t, MASS_COUNTS)
    own_log = fit_log or FitLog()
    place, known = own_log.place, own_log.recorded()
    chosen, missed = (np.arange(few.size), inf) if known is None else (known[1:].astype(np.intp), float(known[0]))
    while True:
        own_log.record(place, np.append(missed, chosen))
        yield len(chosen)
        weights, left = scipy.optimize.nnls(G[:, chosen], t)
        chosen, weights = chosen[weights > 0.0], weights[weights > 0.0]
        slopes = (t - G[:, chosen] @ weights) @ G
        weights = weights / float(shares[chosen] @ weights)
        error = float(np.linalg.norm(seen.t - seen.G[:, chosen] @ weights))
        if error <= found.error or len(chosen) == max_functions or left >= (1.0 - MIN_FALL) * missed:
            break
        chosen, missed = np.append(chosen, slopes.argmax()), left
    rows = np.append(found.rows, np.arange(every.size - few.size) % whole.size)[chosen]
    yield Approximation(every.take(chosen, seen.coefficients(weights, chosen)), rows, error, found.path)


def negative_mass(f: KernelExpansion, *, points: int = 100_000, seed: int = 0) -> float:
    """The integral of max(-f, 0) without the constant, to about |c|'m / (2 sqrt(points)), m_j the integral of k_j.

    The mean over points drawn from the sum of all |c_j| k_j, whose share of -f is at most 1 at any of them.
    """
    sizes = np.abs(f.coefficients) * np.exp(f.log_masses)
    if not (f.coefficients < 0.0).any():
        return 0.0
    rng = np.random.default_rng(seed)
    drawn = rng.choice(f.size, points, p=sizes / sizes.sum())
    X = f.centres[drawn] + f.widths[drawn] * rng.standard_normal((points, f.centres.shape[1])) / np.sqrt(2.0)
    signed = KernelExpansion(f.centres, f.coefficients, f.widths)(X)
    every = KernelExpansion(f.centres, np.abs(f.coefficients), f.widths)(X)
    return float(sizes.sum() * np.mean(np.maximum(-signed, 0.0) / every))
