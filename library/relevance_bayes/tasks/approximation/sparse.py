"""Approximation of an expansion, or by a density, of few of its terms.

By least squares, columns are selected forward until the error is below the tolerance, then eliminated backward,
repeatedly. The decrease of the squared error by a column, (g'r)^2 / |g - its projection|^2, and the increase without
one, w_j^2 / (G'G)^-1_jj, are known for all columns. Forward selection alone takes up to twice as many, since the first
columns become redundant.

Sparse Bayesian learning has integrals instead of sums over rows. The likelihood is exp(-1/(2 sigma^2) integral |f(x; w)
- f(x)|^2 dx) [BURNAEV; THEORY 19], which depends on integrals of products of two terms only. In coordinates with these
inner products f and each term are columns of numbers: a regression with given noise. Without noise, terms can also be
selected forward and backward by least-squares errors. This pursuit comes first, since it takes R^2 for each of R terms
instead of R^3; where few terms are needed the regression is learned as well. The shortest sum of both is taken.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt

import numpy as np
import scipy

from relevance_bayes.core.basis import Inputs
from relevance_bayes.core.errors import DataError, SparseBayesError
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import FitLog, iterate, pose
from relevance_bayes.core.models.model import Spec
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.approximation.expansion import KernelExpansion

RESIDUE = 1e-12
"""The residual of a member's square, which is 1 at first, at most."""

POOL, RANKS_PER_MEMBER = 32, 8
"""Pivots of one block, and the rank for each of them: products of matrices instead of vectors."""

MIN_PIVOT_SHARE = 0.3
"""The least residual of a pivot of a block, as a share of the greatest residual."""


def coordinates(size: int, products: Callable[[Indices], Array], *, max_rank: int, residue: float = RESIDUE) -> Array:
    """G (k, size) with G'G the inner products of `size` members of norm 1, each square up to an error of `residue`.

    `products(numbers)` are those of some members with all, (n, size). Pivots have the greatest residuals, or
    nearly so; k is at most `max_rank`, at which errors may be greater.
    """
    left = np.ones(size)
    rows = np.empty((min(max_rank, size), size))
    rank = 0
    while rank < len(rows) and left.max() > residue:
        pool = _max_left(left, min(1 + rank // RANKS_PER_MEMBER, POOL), residue)
        fresh = products(pool)
        fresh -= rows[:rank, pool].T @ rows[:rank]
        first, waiting = rank, left[pool]
        while rank < len(rows) and waiting.max() > residue and waiting.max() >= MIN_PIVOT_SHARE * left.max():
            place = int(waiting.argmax())
            pivot = pool[place]
            row = fresh[place] - rows[first:rank, pivot] @ rows[first:rank]
            rows[rank] = row / np.sqrt(left[pivot])
            left = np.maximum(left - np.square(rows[rank]), 0.0)
            left[pivot] = 0.0
            waiting = left[pool]
            rank += 1
    return rows[:rank]


def _max_left(left: Array, number: int, residue: float) -> Indices:
    """At most `number` members of the greatest residuals."""
    if number == 1:
        return np.array([left.argmax()])
    pool: Indices = np.argpartition(-left, min(number, len(left)) - 1)[:number]
    return pool[left[pool] > max(residue, MIN_PIVOT_SHARE * float(left.max()))]


MAX_COORDINATES = 2_000
COORDINATES_ERROR = 0.01
"""Share of the requested error by which coordinates of a term may be off."""


@dataclass(frozen=True, eq=False)
class TermColumns:
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
    def of(cls, whole: KernelExpansion, error: float) -> "TermColumns":
        residue = max(np.square(COORDINATES_ERROR * error), RESIDUE)
        G = coordinates(whole.size, whole.cosines, max_rank=MAX_COORDINATES, residue=float(residue))
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
        """The weights (R,) of the chosen terms with the least error."""
        return np.asarray(np.linalg.lstsq(self.G[:, chosen], self.t, rcond=None)[0])

    def coefficients(self, weights: Array, chosen: Indices) -> Array:
        """The coefficients (R,) of the chosen terms themselves, not scaled to norm 1."""
        return np.asarray(weights * np.exp(self.log_size - self.log_norms[chosen]))


@dataclass(frozen=True, eq=False)
class ColumnSpan:
    """An orthonormal basis Q (k, R) of the `chosen` columns' span, in the order of their numbers here."""

    chosen: tuple[int, ...]
    Q: Array

    @classmethod
    def none(cls, k: int) -> "ColumnSpan":
        """The empty span of columns (k,)."""
        return cls((), np.empty((k, 0)))

    def moved(self, G: Array, chosen: tuple[int, ...]) -> "ColumnSpan":
        """The span of other columns of G (k, J): the common prefix is reused.

        Projected twice: one projection of a column that is nearly in the span leaves rounding.
        """
        same = next((n for n, (old, new) in enumerate(zip(self.chosen, chosen, strict=False)) if old != new), None)
        kept = min(len(self.chosen), len(chosen)) if same is None else same
        before, more = self.Q[:, :kept], G[:, list(chosen[kept:])]
        for _ in range(2):
            more = more - before @ (before.T @ more)
        return ColumnSpan(chosen, np.hstack([before, np.linalg.qr(more)[0]]))

    def missed(self, t: Array) -> float:
        """The distance of t (k,) from the span."""
        return float(np.linalg.norm(t - self.Q @ (self.Q.T @ t)))


FORWARD_SHARE = 0.5
"""Share of the requested error at which forward selection ends."""

MAX_PASSES = 5
"""The most passes forward and backward, each from the columns that the last one kept."""

EXTRA_COLUMNS = 16
"""Forward selection ends at twice the allowed number of columns and this many."""

MIN_OUTSIDE = 1e-8
"""Columns of which less than this share of the square is outside the span are not chosen."""

REFACTORED = 16
"""Columns that leave before the inverse is recomputed."""

REBUILT = 500
"""Columns that enter before their basis is recomputed: half a minute, of which a tenth for that."""

Chosen = tuple[int, ...]
Visit = Callable[[Chosen, float], None]


def pursue(G: Array, t: Array, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog) -> Iterator[int]:
    """Call `visit` with sets of columns of G (k, J), of norm 1, and their least-squares error to t (k,).

    As few as reach the `error`, or at most `max_functions`. Yields their number at checkpoints; the columns that
    entered and left are recorded in the `fit_log`.
    """
    start: Chosen = ()
    best = (inf, 0)
    for _ in range(MAX_PASSES):
        far = yield from _forward(
            G,
            t,
            start,
            error=FORWARD_SHARE * error,
            max_functions=2 * max_functions + EXTRA_COLUMNS,
            visit=visit,
            fit_log=fit_log,
        )
        start, found_error = yield from _backward(
            G, t, far, error=error, max_functions=max_functions, visit=visit, fit_log=fit_log
        )
        reached = (max(found_error, error), len(start))
        if reached >= best:
            return
        best = reached


def _forward(
    G: Array, t: Array, start: Chosen, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog
) -> Generator[int, None, Chosen]:
    """Add the column of the greatest gain, until the error is below `error`, or `max_functions` are selected."""
    chosen, more = start, True
    while more:
        entered = fit_log.once(partial(_entered, G, t, chosen, error=error, max_functions=min(max_functions, *G.shape)))
        for number, found_error in entered.tolist():
            chosen = (*chosen, int(number))
            visit(chosen, found_error)
        yield len(chosen)
        more = len(entered) == REBUILT
    return chosen


def _entered(G: Array, t: Array, start: Chosen, *, error: float, max_functions: int) -> Array:
    """Up to `REBUILT` columns that enter, and the error with each and those before it: (n, 2)."""
    span = ColumnSpan.none(len(t)).moved(G, start)
    Q = np.empty((len(t), max(min(max_functions, len(start) + REBUILT), len(start))))
    Q[:, : len(start)] = span.Q
    left = t - span.Q @ (span.Q.T @ t)
    apart = 1.0 - np.square(span.Q.T @ G).sum(axis=0)
    slope = left @ G
    entered: list[tuple[int, float]] = []
    for place in range(len(start), Q.shape[1]):
        if float(np.linalg.norm(left)) <= error:
            break
        gains = np.where(apart > MIN_OUTSIDE, np.square(slope) / np.maximum(apart, MIN_OUTSIDE), 0.0)
        number = int(gains.argmax())
        if gains[number] <= 0.0:
            break
        before, direction = Q[:, :place], G[:, number]
        for _ in range(2):
            direction = direction - before @ (before.T @ direction)
        direction = direction / np.linalg.norm(direction)
        Q[:, place] = direction
        along, there = direction @ G, float(direction @ left)
        apart -= np.square(along)
        slope -= there * along
        left = left - there * direction
        entered.append((number, float(np.linalg.norm(left))))
    return np.array(entered, np.float64).reshape(-1, 2)


def _backward(
    G: Array, t: Array, start: Chosen, *, error: float, max_functions: int, visit: Visit, fit_log: FitLog
) -> Generator[int, None, tuple[Chosen, float]]:
    """Remove the column of the least increase of the error, one after the other.

    Returns the fewest columns that reach the error, else `max_functions` of them, and their error.
    """
    chosen, found = start, (start, inf)
    while chosen:
        for place, found_error in fit_log.once(partial(_removed, G, t, chosen)).tolist():
            if place >= 0:
                chosen = (*chosen[: int(place)], *chosen[int(place) + 1 :])
            visit(chosen, found_error)
            if len(chosen) <= max_functions and (found_error <= error or found[1] == inf):
                found = chosen, found_error
        yield len(chosen)
    return found


def _removed(G: Array, t: Array, chosen: Chosen) -> Array:
    """The positions of columns that leave, that of the least increase first, and the error without it: (n, 2).

    The first row is -1 and the error of all `chosen`. Without column j the inverse P = (G'G)^-1 falls by P_:j P_j: /
    P_jj and the weights by P_:j w_j / P_jj.
    """
    orthogonal, upper = np.linalg.qr(G[:, list(chosen)])
    turned = scipy.linalg.solve_triangular(upper, np.column_stack([orthogonal.T @ t, np.eye(len(chosen))]))
    weights, inverse = turned[:, 0], turned[:, 1:] @ turned[:, 1:].T
    square = float(np.square(t - orthogonal @ (orthogonal.T @ t)).sum())
    left = [(-1, sqrt(square))]
    for _ in range(min(REFACTORED, len(chosen))):
        losses = np.square(weights) / inverse.diagonal()
        place = int(losses.argmin())
        square += float(losses[place])
        rest = np.delete(np.arange(len(weights)), place)
        column, pivot = inverse[rest, place], float(inverse[place, place])
        weights = weights[rest] - column * (float(weights[place]) / pivot)
        inverse = inverse[np.ix_(rest, rest)] - np.outer(column, column) / pivot
        left.append((place, sqrt(square)))
    return np.array(left, np.float64)


WIDER = (1.5, 2.0, 3.0)
"""Multiples of its width that each centre may have as well: two clusters of rows are two wide bumps."""

MAX_CANDIDATES = 8_000
"""Terms above which no wider ones are added."""

MIN_ERROR = 1e-5
"""The least error: the coordinates have an error of 1e-6 themselves."""

SHARE_OF_NOISE, MIN_NOISE = 0.25, 1e-9
"""The factor by which the noise falls until the requested error is reached, and its least value."""

MAX_LEARNED = 100
"""Terms above which a fit is slow and finds no fewer than the pursuit."""


@dataclass(frozen=True, eq=False)
class Approximation:
    """The `expansion`, on the centres of the terms `rows` (R,), and its error.

    `error` is |f - f_R| over |f|, both without the constant, |f|^2 the integral of f^2 over R^d. `path` (number, error)
    has the least error found with each number of terms, from 0 on, where it is less than that with fewer.
    """

    expansion: KernelExpansion
    rows: Indices
    error: float
    path: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False)
class Path:
    """The best columns found for each number of columns, and their error."""

    best: dict[int, tuple[Chosen, float]]

    def visit(self, chosen: Chosen, error: float) -> None:
        """Keep columns whose error is less than that of earlier ones of the same number; that of none is known."""
        if chosen and error < self.best.get(len(chosen), (chosen, inf))[1]:
            self.best[len(chosen)] = chosen, error

    def shortest(self, error: float, max_functions: int) -> Chosen:
        """The fewest columns that reach the error, at most `max_functions`; else those of the least error."""
        possible = {number: one for number, one in self.best.items() if number <= max_functions}
        reached = [number for number, (_, missed) in possible.items() if missed <= error]
        number = min(reached) if reached else min(possible, key=lambda number: possible[number][1])
        return possible[number][0]

    @property
    def falling(self) -> tuple[tuple[int, float], ...]:
        """Numbers and errors, without numbers whose error is not less than with fewer columns."""
        falling: list[tuple[int, float]] = []
        for number in sorted(self.best):
            error = self.best[number][1]
            if not falling or error < falling[-1][1]:
                falling.append((number, error))
        return tuple(falling)


def approximate(whole: KernelExpansion, *, error: float = MIN_ERROR, max_functions: int | None = None) -> Approximation:
    """The end of `approximating`, see there."""
    (last,) = deque(approximating(whole, error=error, max_functions=max_functions), maxlen=1)
    if isinstance(last, int):
        raise SparseBayesError("expected the last step to be an approximation")
    return last


def approximating(
    whole: KernelExpansion, *, error: float = MIN_ERROR, max_functions: int | None = None, fit_log: FitLog | None = None
) -> Iterator[int | Approximation]:
    """As few terms as reach the `error`, at most `max_functions`; their coefficients are those of least error.

    They have the centres of the whole's terms, and their widths or up to three times as much. Yields the number of
    terms at each step of the pursuit, which is recorded in the `fit_log`, then the approximation. The fits after the
    pursuit take seconds, and are repeated when it is resumed.

    Raises DataError for an error not in (0, 1), a `max_functions` below 1, and an f that is constant.
    """
    if not 0.0 < error < 1.0:
        raise DataError(f"expected an error above 0 and below 1, got {error:g}")
    if max_functions is not None and max_functions < 1:
        raise DataError(f"expected at least one term, got {max_functions}")
    candidates = _candidates_of(whole)
    seen, path = TermColumns.of(candidates, error), Path({0: ((), 1.0)})
    max_error, enough = max(error, MIN_ERROR), whole.size if max_functions is None else max_functions
    yield from pursue(
        seen.G, seen.t, error=max_error, max_functions=enough, visit=path.visit, fit_log=fit_log or FitLog()
    )
    if len(path.shortest(max_error, enough)) <= MAX_LEARNED:
        noise = max_error / np.sqrt(len(seen.t))
        while not _learn(seen, noise, path, max_error, enough) and noise > MIN_NOISE:
            noise *= SHARE_OF_NOISE
    chosen = np.array(sorted(_confirmed(seen, path, max_error, enough)), np.intp)
    weights = seen.nearest(chosen)
    missed = float(np.linalg.norm(seen.t - seen.G[:, chosen] @ weights))
    kept = candidates.take(chosen, seen.coefficients(weights, chosen))
    yield Approximation(kept, chosen % whole.size, missed, path.falling)


def _candidates_of(whole: KernelExpansion) -> KernelExpansion:
    """The whole's terms, and wider ones on the same centres with coefficients of 0."""
    return whole.widened(WIDER) if (len(WIDER) + 1) * whole.size <= MAX_CANDIDATES else whole


def _confirmed(seen: TermColumns, path: Path, max_error: float, enough: int) -> Chosen:
    """The shortest whose error is what was recorded: a pursuit's way back adds up its losses, and their rounding."""
    while True:
        chosen = path.shortest(max_error, enough)
        recorded = path.best[len(chosen)][1]
        measured = ColumnSpan.none(len(seen.t)).moved(seen.G, chosen).missed(seen.t)
        if measured <= max_error or recorded > max_error:
            return chosen
        path.best[len(chosen)] = chosen, measured


def _learn(seen: TermColumns, noise: float, path: Path, max_error: float, enough: int) -> bool:
    """Put what a fit meets into the path; whether the error wanted was reached, or terms enough."""
    spec = Spec(GaussianNoise(noise), (Inputs(),))
    span = ColumnSpan.none(len(seen.t))
    for state in iterate(pose(seen.G, seen.t, spec), spec):
        if span.chosen == state.active:
            continue
        span = span.moved(seen.G, state.active)
        error = span.missed(seen.t)
        path.visit(span.chosen, error)
        if error <= max_error or len(span.chosen) >= enough:
            return True
    return False


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
    every = few.take(np.arange(few.size), np.zeros(few.size)).beside(_candidates_of(whole))
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
