"""Densities among the expansions: what of them is below 0, and the nearest one that is a density."""

import numpy as np
from scipy.optimize import nnls

from app.sparse_bayes.approximation.columns import Columns
from app.sparse_bayes.approximation.expansion import Expansion
from app.sparse_bayes.approximation.sparse import Approximation
from app.sparse_bayes.errors import DataError

MASS_COUNTS = 1e4
"""How much more a density's total counts than its shape, before it is made exact."""


def proper(whole: Expansion, found: Approximation) -> Approximation:
    """The nearest sum of the same terms that is a density where f is one: none below 0, and of the same mass as f.

    Raises DataError where f has a constant, or no mass above 0.
    """
    if whole.constant != 0.0 or whole.mass <= 0.0:
        raise DataError("expected a density: no constant, and a mass above 0")
    few = found.expansion
    every = Expansion(
        np.concatenate([few.centres, whole.centres]),
        np.append(np.zeros(few.size), whole.coefficients),
        np.concatenate([few.widths, whole.widths]),
    )
    seen, chosen = Columns.of(every, found.error), np.arange(few.size)
    shares = seen.masses[chosen] / float(seen.masses @ seen.own)
    weights, _ = nnls(np.vstack([seen.G[:, chosen], MASS_COUNTS * shares]), np.append(seen.t, MASS_COUNTS))
    weights = weights / float(shares @ weights)
    error = float(np.linalg.norm(seen.t - seen.G[:, chosen] @ weights))
    return Approximation(every.take(chosen, seen.coefficients(weights, chosen)), found.rows, error, found.path)


def negative_mass(f: Expansion, *, points: int = 100_000, seed: int = 0) -> float:
    """The integral of max(-f, 0) without the constant, to about |c|'m / (2 sqrt(points)), m_j the integral of k_j.

    The mean over points drawn from the sum of all |c_j| k_j, whose share of -f is at most 1 at any of them.
    """
    sizes = np.abs(f.coefficients) * np.exp(f.log_masses)
    if not (f.coefficients < 0.0).any():
        return 0.0
    rng = np.random.default_rng(seed)
    drawn = rng.choice(f.size, points, p=sizes / sizes.sum())
    X = f.centres[drawn] + f.widths[drawn] * rng.standard_normal((points, f.centres.shape[1])) / np.sqrt(2.0)
    signed = Expansion(f.centres, f.coefficients, f.widths)(X)
    every = Expansion(f.centres, np.abs(f.coefficients), f.widths)(X)
    return float(sizes.sum() * np.mean(np.maximum(-signed, 0.0) / every))
