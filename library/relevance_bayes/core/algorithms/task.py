"""A problem under a Gaussian process prior: its hyperparameters, inducing points, and the rows of each phase."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import HyperparameterSpace
from relevance_bayes.core.algorithms.state import Process, State
from relevance_bayes.core.basis import Functions, KernelFunctions
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.folds import first_by_content, subset
from relevance_bayes.core.inference.posterior import LatentSites, Optimum, Posterior
from relevance_bayes.core.inference.problem import Problem, is_wide
from relevance_bayes.core.inference.process import Bound, ProcessRows, RowSums, Vectors, bound, row_sums
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import ArrayRows
from relevance_bayes.core.types import Array, Indices

RISE = 0.01
"""An ascent ends where an iteration gains less than this share of the mean size of L per row."""

IRRELEVANT = 30.0
"""An input whose width exceeds this multiple of its sd does not change L."""

MAX_PIVOTS = 150
"""Functions through which scales are learned where the evidence has no closed form.

Fewer can't represent a process of narrow width, so that the widths learned are too large: the held-out log loss of one
table is .477, .412, .400 and .399 with 60, 100, 150 and 250. With 200,
600 rows of two classes took 1.5 times as long."""

PIVOTS_FOR_STARTS = 100
"""Functions through which starts are compared."""

ROWS_FOR_SCALES = 1_000
ROWS_FOR_STARTS = 250
ROWS_FOR_SEVERAL_TARGETS = 500
ROWS_FOR_FUNCTIONS = (1_000, 5_000)
"""Rows of each phase; of functions a quarter of all rows between two bounds. Cost grows with the cube of the rows, and
with M N. Several classes need more rows: vehicle's log loss was .434 with scales from 250 rows, .373 with 750. With the
exact evidence, learning from all of 600 rows instead of 250 lowered errors by 2 to 8 %.
"""

MAX_CANDIDATES = 1_000

MIN_ROWS_TOGETHER = 1_000
ROWS_PER_FUNCTION = 40
"""Rows of the phase `together`, at least, and per function: on fewer, optimised inducing points fit the noise (kin40k,
256 functions: RMSE .34 on 1,000 rows, .26 on 6,000, .23 on 10,000)."""

MAX_FUNCTIONS = 512
"""The most functions by default, and the most that are chosen at once."""

FEW_CELLS = 300_000
"""Rows times functions up to which `together` uses a tenth of all rows, before functions are chosen on all."""

MAX_CELLS = 20_000_000
"""Rows times functions up to which it then uses all rows: Friedman's first function with 100,000 rows and 54 functions
has an error of .048 from 5,555 rows, .037 from all."""

MAX_ROWS_TOGETHER, MAX_ROWS_PER_FUNCTION = 25_000, 100
"""The most rows on which functions are chosen and learned together, and per function where that is more: the parameters
of noise and scales are few."""

MAX_PRODUCTS = 1e10
"""Rows times pairs of columns up to which candidates are evaluated at once: some seconds of a core."""

MIN_CANDIDATES = 64


TOLERANCE_PER_ROW = 0.002
"""Nats a row that a step of the scales of a wide table must promise. In a fold of 128 inputs further steps raised the
evidence, not the log density of the rows left out."""


@dataclass(frozen=True, eq=False)
class ProcessTask:
    """A problem of this algorithm: `first` is the number of the first candidate of the kernel `functions`.

    `max_iterations` and `max_rows` are those of `Greedy`.
    """

    problem: Problem
    prior: GaussianProcess
    functions: KernelFunctions
    kernel: Covariance
    first: int
    max_iterations: int | None = None
    max_rows: int | None = None

    @cached_property
    def space(self) -> HyperparameterSpace:
        """The starts, bounds and prior of its hyperparameters."""
        return HyperparameterSpace(self.problem, self.functions, self.kernel)

    @classmethod
    def of(cls, problem: Problem, max_iterations: int | None = None, max_rows: int | None = None) -> "ProcessTask":
        """The task of a problem; raises SparseBayesError for a spec that `spec.check` refuses."""
        for first, functions in zip(problem.candidates.starts, problem.candidates.dictionaries, strict=False):
            match functions, problem.prior:
                case KernelFunctions(kernel=kernel), GaussianProcess() as prior if isinstance(kernel, Covariance):
                    return cls(problem, prior, functions, kernel, first, max_iterations, max_rows)
        raise SparseBayesError("expected a Gaussian process prior and a kernel that is positive definite")

    @property
    def is_wide(self) -> bool:
        """True where a width for each of many inputs, of few rows each, is learned by the exact evidence."""
        problem = self.problem
        is_exact = problem.likelihood.is_conjugate and problem.learning.widths == "each"
        return is_exact and is_wide(problem.rows, problem.inputs)

    def fixed(self, state: State) -> tuple[Functions, ...]:
        """The functions without kernel in the model."""
        functions, _ = self.problem.candidates.take(state.active[: len(state.alpha)])
        return functions

    def rows(self, state: State, some: Indices | None = None) -> ProcessRows:
        """All rows or `some` (n,), with the columns (n, F) of the functions without kernel in the model."""
        if some is None:
            return self._rows(state, self.problem.X)
        return self._rows(state, self.problem.X[some], some)

    def sample(self, state: State, size: int) -> ProcessRows:
        """At most so many rows, by content."""
        drawn = self.problem.sample(size)
        return self._rows(state, drawn.X, drawn.numbers)

    def _rows(self, state: State, X: Array, numbers: Indices | None = None) -> ProcessRows:
        """Rows at X (n, d), whose `numbers` are among all, None for all."""
        t, precisions = self.problem.t, self.problem.precisions
        if numbers is not None:
            t, precisions = t[numbers], None if precisions is None else precisions[numbers]
        return ProcessRows(X, t, self.problem.candidates.columns(X, state.active[: len(state.alpha)]), precisions)

    def rows_for_starts(self, state: State) -> ProcessRows:
        """The rows on which starts are compared."""
        if self.problem.likelihood.latents > 1 and self.problem.likelihood.is_conjugate:
            return self.rows_for_scales(state)
        return self.sample(state, ROWS_FOR_STARTS)

    def rows_for_scales(self, state: State) -> ProcessRows:
        """The rows on which the full process is learned."""
        if self.problem.likelihood.is_conjugate and self.problem.likelihood.latents == 1:
            return self.sample(state, self._at_most(ROWS_FOR_SCALES))
        several = ROWS_FOR_SEVERAL_TARGETS if self.problem.likelihood.is_conjugate else ROWS_FOR_SCALES
        return self.sample(state, self._at_most(several))

    def rows_for_functions(self, state: State) -> tuple[Indices, ProcessRows]:
        """The indices (M,) of candidates among `functions`, and rows, the first M of which are theirs."""
        functions, problem = self.functions, self.problem
        candidates = self._at_most(MAX_CANDIDATES)
        places = subset(functions.centres, problem.t[functions.rows], candidates, problem.seed)
        own = functions.rows[places]
        drawn = problem.sample(self._at_most(_between(ROWS_FOR_FUNCTIONS, problem.rows // 4)))
        others = np.isin(drawn.numbers, own, assume_unique=True, invert=True)
        X = np.concatenate([functions.centres[places], drawn.X[others]])
        return places, self._rows(state, X, np.concatenate([own, drawn.numbers[others]]))

    @property
    def max_functions(self) -> int:
        """The most functions with a kernel."""
        return self.prior.max_functions or MAX_FUNCTIONS

    @property
    def grows(self) -> bool:
        """True where functions were chosen on some of the rows, and the gains of others can be computed on all."""
        return self.max_rows is None and self._is_large

    @property
    def _is_large(self) -> bool:
        return self.has_sums and self.problem.t.ndim == 1 and self.problem.rows > ROWS_FOR_FUNCTIONS[0]

    def places_for_growth(self, state: State, rows: int) -> Indices:
        """The indices (M,) among `functions` of candidates outside the model, drawn anew in each round.

        As many as can be evaluated on so many rows.
        """
        functions, problem, R = self.functions, self.problem, len(state.active)
        own = np.array(state.active[len(state.alpha) :], np.intp) - self.first
        affordable = int((R**2 + MAX_PRODUCTS / rows) ** 0.5) - R
        size = _between((MIN_CANDIDATES, MAX_CANDIDATES), max(affordable, R))
        seed = problem.seed + (process_of(state).round or 0) + 1
        first = first_by_content(functions.centres, problem.t[functions.rows], size + len(own), seed)
        return np.sort(first[~np.isin(first, own)][:size])

    def together(self, state: State) -> ProcessRows | Problem:
        """The rows of the phase `together`; a problem of their own where L is computed by sums over their blocks."""
        size = self.n_rows_together(state)
        if size == self.problem.rows and self.has_sums:
            return self.problem
        rows = self.sample(state, size)
        return self.in_blocks(rows) or rows

    def is_in_parts(self, state: State) -> bool:
        """True where the columns at all rows are not computed at once, with `max_rows` as without."""
        return self._is_large or self.problem.rows > replace(self, max_rows=None).n_rows_together(state)

    def n_rows_together(self, state: State) -> int:
        """The number of rows of the phase `together`."""
        functions = max(1, len(state.active))
        affordable = min(self.problem.rows // 10, FEW_CELLS // functions)
        if self.grows and (process_of(state).round or 0) > 0:
            affordable = min(MAX_CELLS // functions, max(MAX_ROWS_TOGETHER, MAX_ROWS_PER_FUNCTION * functions))
        needed = max(MIN_ROWS_TOGETHER, ROWS_PER_FUNCTION * functions, affordable)
        return min(self.problem.rows, max(MIN_ROWS_TOGETHER, self._at_most(needed)))

    def _at_most(self, rows: int) -> int:
        """So many rows, or `max_rows` where these are fewer."""
        return rows if self.max_rows is None else min(rows, self.max_rows)

    def bound(
        self,
        rows: ProcessRows,
        vectors: Vectors,
        h: Hyperparameters,
        near: Optimum | None = None,
        *,
        first: LatentSites | None = None,
        tolerance_of_sites: float | None = None,
    ) -> Bound:
        """The bound L of the process through some inducing points; see `process.bound`."""
        return bound(
            rows,
            vectors,
            self.kernel,
            self.problem.likelihood,
            h,
            self.prior.rho,
            near=near,
            first=first,
            tolerance_of_sites=tolerance_of_sites,
        )

    def latent(self, vectors: Vectors, h: Hyperparameters, at: Bound, X: Array, F: Array) -> LatentGaussian:
        """The latent at X (n, d) by a bound through inducing points, F (n, F) the columns without kernel there."""
        B = at.whitening.columns(h.covariance(self.kernel)(h.input_map(X), vectors.mapped(h)))
        P, known = np.hstack([F, B]), at.optimum.posterior
        weights = np.maximum(np.vecdot(P @ known.covariance, P), 0.0)
        return LatentGaussian(P @ known.mean, weights, h.signal_variance * at.whitening.left(B))

    def sums(self, state: State) -> RowSums:
        """Sums over all rows; their origin is that of earlier sums, else the mean on the rows of `together`."""
        process = process_of(state)
        if process.origin is not None:
            return self.sums_over(self.problem, state, process.origin)
        h, some = process.hyperparameters, self.together(state)
        if isinstance(some, ProcessRows):
            near = self.bound(some, self.vectors(state), h).optimum.posterior.mean
        else:
            near = self.near(some, state, h)
        return self.sums_over(self.problem, state, near)

    @property
    def has_sums(self) -> bool:
        """True where L is computed by sums over blocks of rows: for Gaussian noise and rho of 0."""
        return self.problem.likelihood.is_conjugate and not self.prior.rho

    def in_blocks(self, rows: ProcessRows) -> Problem | None:
        """The problem of these rows alone; None where the columns at all of the rows are needed at once."""
        if not self.has_sums:
            return None
        source = ArrayRows(rows.X, rows.t, rows.precisions, self.problem.source.threads)
        return replace(self.problem, source=source)

    def near(self, problem: Problem, state: State, h: Hyperparameters) -> Array:
        """Weights (R,), or (R, K), near their mean at some rows, at which sums lose nothing to cancellation."""
        nowhere = problem.unweighted(len(state.active))
        return self.sums_over(problem, state, nowhere).at(h).posterior.mean

    def sums_over(self, problem: Problem, state: State, origin: Array) -> RowSums:
        """Sums over all rows of a problem, at weights `origin` (R,), or (R, K), near the mean."""
        h, fixed = process_of(state).hyperparameters, state.active[: len(state.alpha)]
        return row_sums(problem, fixed, self.vectors(state), self.kernel, h, origin, self.prior.rho)

    def posterior(self, state: State, end: RowSums | Optimum | None) -> tuple[Posterior, Likelihood]:
        """The posterior of the whitened weights on all rows, and the likelihood with its learned parameters.

        `end` are the sums or the optimum of the state, where they are known.
        """
        h, likelihood = process_of(state).hyperparameters, self.problem.likelihood
        if end is None and likelihood.is_conjugate and self.is_in_parts(state):
            end = self.sums(state)
        if isinstance(end, RowSums):
            return end.at(h).posterior, likelihood
        optimum = self.bound(self.rows(state), self.vectors(state), h).optimum if end is None else end
        return optimum.posterior, optimum.likelihood

    def origin(self, rows: ProcessRows | Problem) -> float:
        """The shift of L with the targets' unit."""
        return -0.5 * len(rows.t) * log(self.problem.square)

    def spread(self, rows: ProcessRows, max_vectors: int = MAX_PIVOTS) -> Vectors | None:
        """Inducing points spread over some rows, for scales; None where the exact evidence is available."""
        if self.problem.likelihood.is_conjugate:
            return None
        places = farthest_first(self.space.start(0).input_map(rows.X), max_vectors)
        return Vectors(places, rows.X[places])

    def sites(self, rows: ProcessRows, h: Hyperparameters) -> tuple[Array, Array]:
        """g (N,) or (N, K) at latent 0 and lam (N,): Gaussian targets that approximate the likelihood."""
        vectors = self.spread(rows)
        if vectors is None:
            precision = rows.precision(h.beta)
            return (precision * rows.t.T).T, np.full(len(rows.t), precision)
        found = self.bound(rows, vectors, h).optimum
        return found.sites.gradient + (found.sites.precision * found.f.T).T, found.sites.precision

    def vectors(self, state: State) -> Vectors:
        """The inducing points of the model."""
        places = np.array(state.active[len(state.alpha) :], np.intp) - self.first
        return Vectors(self.functions.rows[places], self.functions.centres[places], process_of(state).moved)


def _between(bounds: tuple[int, int], value: int) -> int:
    low, high = bounds
    return min(max(value, low), high)


def process_of(state: State) -> Process:
    """The part of the process; raises SparseBayesError for a state of another algorithm."""
    if state.process is None:
        raise SparseBayesError("expected a state under a Gaussian process prior")
    return state.process


def farthest_first(U: Array, max_rows: int) -> Indices:
    """Rows of U (N, d), each the farthest from those before it, at most `max_rows`; equal rows count once."""
    by_input = np.ascontiguousarray(U.T)
    difference = np.empty_like(by_input)

    def squares_from(point: Array) -> Array:
        np.subtract(by_input, point[:, None], out=difference)
        return np.asarray(np.einsum("dn,dn->n", difference, difference))

    places = [int(squares_from(U.mean(axis=0)).argmin())]
    nearest = squares_from(U[places[0]])
    while len(places) < max_rows and nearest[place := int(nearest.argmax())] > 0.0:
        places.append(place)
        np.minimum(nearest, squares_from(U[place]), out=nearest)
    return np.array(places, np.intp)
