"""Few terms of an expansion that stand for all: sparse Bayesian learning with integrals in place of sums over rows.

The likelihood is exp(-1/(2 sigma^2) integral |f(x; w) - f(x)|^2 dx) [BURNAEV; SCIENCE 5], in which integrals of
products of two terms are all there is. In coordinates that have these as their inner products f is a column of numbers
and each term another: a regression with noise that is given.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from app.sparse_bayes.approximation.expansion import Expansion
from app.sparse_bayes.basis import Inputs
from app.sparse_bayes.coordinates import RESIDUE, coordinates
from app.sparse_bayes.errors import DataError
from app.sparse_bayes.fitting import iterate, pose
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.spec import Spec
from app.sparse_bayes.types import Array, Indices

WIDER = (1.5, 2.0, 3.0)
"""Multiples of its width that each centre may have as well: two heaps of rows are two wide bumps."""

MOST_CANDIDATES = 8_000
"""Terms above which there are none of these."""

MOST_COORDINATES = 2_000
COORDINATES_ERROR = 0.01
"""Share of the error wanted that a term may lose in coordinates."""

LEAST_ERROR = 1e-5
"""Of the coordinates' own 1e-6 nothing is left below it."""

SHARE_OF_NOISE, LEAST_NOISE = 0.25, 1e-9
"""The noise falls so, until the error wanted is reached, or to there."""

MASS_COUNTS = 1e4
"""How much more a density's total counts than its shape, before it is made exact."""


@dataclass(frozen=True, eq=False)
class Approximation:
    """The `expansion`, on the centres of the terms `rows` (R,), and what it misses.

    `error` is |f - f_R| over |f|, both without the constant, |f|^2 the integral of f^2 over R^d. `path` (number, error)
    has the least error met with so many terms, from 0 on, for each number that misses less than fewer do.
    """

    expansion: Expansion
    rows: Indices
    error: float
    path: tuple[tuple[int, float], ...]


def approximate(whole: Expansion, *, error: float = LEAST_ERROR, most: int | None = None) -> Approximation:
    """As few terms as reach the `error`, at most `most`; their coefficients are those of least error.

    They stand on the centres of the whole's terms, and have their widths or up to three times as much.

    Raises DataError for an error not in (0, 1), a `most` below 1, and an f that is constant.
    """
    if not 0.0 < error < 1.0:
        raise DataError(f"expected an error above 0 and below 1, got {error:g}")
    if most is not None and most < 1:
        raise DataError(f"expected at least one term, got {most}")
    candidates = whole.widened(WIDER) if (len(WIDER) + 1) * whole.size <= MOST_CANDIDATES else whole
    seen = _Seen.of(candidates, error)
    path = {0: _Step(np.empty(0, np.intp), 1.0)}
    wanted, enough = max(error, LEAST_ERROR), whole.size if most is None else most
    noise = wanted / np.sqrt(len(seen.t))
    while not _follow(seen, noise, path, wanted, enough) and noise > LEAST_NOISE:
        noise *= SHARE_OF_NOISE
    possible = [number for number in path if number <= enough]
    reached = [number for number in possible if path[number].error <= wanted]
    number = min(reached) if reached else min(possible, key=lambda number: path[number].error)
    step = path[number]
    kept = candidates.take(step.chosen, seen.coefficients(seen.nearest(step.chosen), step.chosen))
    return Approximation(kept, step.chosen % whole.size, step.error, _falling(path))


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
    seen, chosen = _Seen.of(every, found.error), np.arange(few.size)
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


@dataclass(frozen=True, eq=False)
class _Step:
    """Terms, and the error of the best of their sums."""

    chosen: Indices
    error: float


@dataclass(frozen=True, eq=False)
class _Seen:
    """f in coordinates: the terms G (k, J), each of norm 1, and f itself, t = G own (k,), of norm 1 too.

    `masses` (J,) are the integrals of the terms over their norms; f's own norm is e^`log_size`.
    """

    G: Array
    t: Array
    own: Array
    masses: Array
    log_norms: Array
    log_size: float

    @classmethod
    def of(cls, whole: Expansion, error: float) -> "_Seen":
        residue = max(np.square(COORDINATES_ERROR * error), RESIDUE)
        G = coordinates(whole.size, whole.cosines, most=MOST_COORDINATES, residue=float(residue))
        if len(G) < 2:  # a fit has two rows at least
            G = np.vstack([G, np.zeros(whole.size)])
        if not whole.coefficients.any():
            raise DataError("expected a function that is not constant, got coefficients of 0")
        # Norms in many dimensions may leave the range of a float64, not their ratios to the greatest.
        there = whole.coefficients != 0.0
        sizes = np.full(whole.size, -np.inf)
        sizes[there] = np.log(np.abs(whole.coefficients[there])) + whole.log_norms[there]
        top = float(sizes.max())
        own = np.sign(whole.coefficients) * np.exp(sizes - top)
        size = float(np.linalg.norm(G @ own))
        if size == 0.0:
            raise DataError("expected a function that is not constant, got terms that cancel")
        masses = np.exp(whole.log_masses - whole.log_norms)
        return cls(G, G @ own / size, own / size, masses, whole.log_norms, top + float(np.log(size)))

    def nearest(self, chosen: Indices) -> Array:
        """Weights (R,) of the chosen terms whose sum is nearest to f."""
        return np.asarray(np.linalg.lstsq(self.G[:, chosen], self.t, rcond=None)[0])

    def coefficients(self, weights: Array, chosen: Indices) -> Array:
        """Of terms as they are, not of norm 1."""
        return np.asarray(weights * np.exp(self.log_size - self.log_norms[chosen]))


def _falling(path: dict[int, _Step]) -> tuple[tuple[int, float], ...]:
    """Without numbers of terms that miss no less than fewer do."""
    told: list[tuple[int, float]] = []
    for number in sorted(path):
        if not told or path[number].error < told[-1][1]:
            told.append((number, path[number].error))
    return tuple(told)


def _follow(seen: _Seen, noise: float, path: dict[int, _Step], wanted: float, enough: int) -> bool:
    """Put what a fit meets into the path; whether the error wanted was reached, or terms enough."""
    spec = Spec(GaussianNoise(noise), (Inputs(),))
    active: frozenset[int] = frozenset()
    for state in iterate(pose(seen.G, seen.t, spec), spec):
        if active == frozenset(state.active):
            continue
        active = frozenset(state.active)
        chosen = np.array(sorted(active), np.intp)
        error = float(np.linalg.norm(seen.t - seen.G[:, chosen] @ seen.nearest(chosen)))
        if error < path.get(len(chosen), _Step(chosen, np.inf)).error:
            path[len(chosen)] = _Step(chosen, error)
        if error <= wanted or len(chosen) >= enough:
            return True
    return False
