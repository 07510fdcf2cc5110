"""The posterior of the weights, and the columns that it is of.

The variational posterior has sites at latents N(f, v), iterated until the bound has converged.

Augmentation is one more function at each new point, so that error bars grow away from the functions of the model.

[RASMUSSEN2005] is Rasmussen & Quiñonero-Candela, Healing the relevance vector machine through augmentation, ICML 22.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf

import numpy as np

from relevance_bayes.core.basis import Functions, KernelFunctions, evaluate
from relevance_bayes.core.folds import subset
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.base import Sites
from relevance_bayes.core.linalg import (
    cholesky,
    factors_of_sum,
    inverse_from_cholesky,
    inverse_of_lower,
    log_determinant,
    pieces,
    solve_lower,
    solve_lower_transposed,
    solve_with_cholesky,
    squared_products,
    weighted_gram,
)
from relevance_bayes.core.types import Array, ForRows, Indices

MAX_STORED = 2**26
"""The most numbers of P that are stored, 512 MiB. Above it a pass costs its kernel values, about as much as P'P."""


@dataclass(frozen=True, eq=False)
class Columns:
    """P (`rows`, `functions`), which `compute` returns for a slice of the rows; `width` is of the numbers of a row
    that are computed at once.
    """

    rows: int
    functions: int
    width: int
    compute: Callable[["slice[int, int, None]"], Array]

    @classmethod
    def stored(cls, P: Array) -> "Columns":
        """The columns of a stored P (N, R)."""
        rows, functions = P.shape
        return cls(rows, functions, functions, P.__getitem__)

    def pieces(self) -> "Iterator[tuple[slice[int, int, None], Array]]":
        """Slices of n rows in their order, with P (n, R) there."""
        return ((some, self.compute(some)) for some in pieces(self.rows, self.width))

    def array(self) -> Array:
        """P (N, R) at all rows."""
        return self.compute(slice(0, self.rows))

    def times(self, weights: Array) -> Array:
        """P w, (N,) or (N, K), of w (R,) or (R, K)."""
        found = np.empty((self.rows, *weights.shape[1:]))
        for some, P in self.pieces():
            found[some] = P @ weights
        return found

    def transposed_times(self, g: Array) -> Array:
        """P'g, (R,) or (R, K), of g (N,) or (N, K)."""
        found = np.zeros((self.functions, *g.shape[1:]))
        for some, P in self.pieces():
            found += P.T @ g[some]
        return found

    def gram(self, weights: Array) -> Array:
        """P'diag(w)P, (R, R), of w (N,), none of them below 0."""
        found = np.zeros((self.functions, self.functions))
        for some, P in self.pieces():
            found += weighted_gram(P, weights[some])
        return found

    def weighted_squares(self, weights: Array) -> Array:
        """The sum over r of w_r p_nr^2, (N,), of w (R,)."""
        found = np.empty(self.rows)
        for some, P in self.pieces():
            found[some] = np.square(P) @ weights
        return found

    def squared_products(self, lower: Array) -> Array:
        """|L p_n|^2, (N,), of a lower triangular L (R, R)."""
        found = np.empty(self.rows)
        for some, P in self.pieces():
            found[some] = squared_products(P, lower)
        return found


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over rows at weights w (R,), or (R, K), and noise precision beta; P (N, R) are the columns in the model,
    f = P w.

    `value` = sum_n log p(t_n | f_n), `noise_slope` and `noise_curvature` its first and second derivative in log beta,
    `slope` (R,) or (R, K) = P'g, `curvature` (R, R) = P'diag(lam)P.
    """

    value: float
    noise_slope: float
    noise_curvature: float
    slope: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class DataTerm:
    """sum_n ell(t_n, f_n, v_n) at a posterior, and its first derivative in log beta.

    `noise_curvature` is the second one of sum_n log p(t_n | f_n).
    """

    value: float
    noise_slope: float
    noise_curvature: float


@dataclass(frozen=True, eq=False)
class Posterior:
    """N(mean, covariance) of the weights under precisions alpha (R,) of the prior.

    Where a row has K latents `mean` is (R, K), and the covariance that of each. `whitened` (R, R) = A^1/2 Sigma A^1/2,
    the covariance in units of the prior's sds, of any size; `log_shrinkage` = log |A Sigma|, at most 0.
    """

    alpha: Array
    mean: Array
    covariance: Array
    whitened: Array
    log_shrinkage: float

    @cached_property
    def determined(self) -> Array:
        """gamma (R,), each in [0, 1]: how well the data determine each weight [TIPPING2001, eq. 17]."""
        return np.maximum(1.0 - self.whitened.diagonal(), 0.0)  # rounding, where copies share a weight

    @property
    def divergence(self) -> float:
        """KL(N(mean, covariance) || N(0, A^-1)) in nats."""
        own = float(self.determined.sum()) + self.log_shrinkage
        return 0.5 * (float(self.alpha @ self.squares) - self.latents * own)

    @property
    def latents(self) -> int:
        """K."""
        return 1 if self.mean.ndim == 1 else self.mean.shape[1]

    @property
    def squares(self) -> Array:
        """mean^2, summed over the latents: (R,)."""
        return np.asarray(np.square(as_columns(self.mean)).sum(axis=1))


def as_columns(values: Array) -> Array:
    """One column a latent: (n, K) unchanged, (n, 1) of (n,)."""
    return values[:, None] if values.ndim == 1 else values


def with_zero(weights: Array) -> Array:
    """One more function, whose weights are 0: (R + 1,) of (R,), (R + 1, K) of (R, K)."""
    return np.concatenate([weights, np.zeros((1, *weights.shape[1:]))])


def posterior(sums: Sums, expansion: Array, alpha: Array) -> Posterior:
    """Sigma = (A + P'diag(lam)P)^-1, mean = w + Sigma (P'g - A w).

    Exact from any w (R,) where the likelihood is Gaussian, else a Newton step. For K latents w and P'g are (R, K).

    Factorised as A^-1/2 (I + A^-1/2 P'diag(lam)P A^-1/2)^-1 A^-1/2, whose middle has no eigenvalue below 1: columns
    of any norm, and any number of nearly equal ones, are safe [TIPPING2001, eqs 12 and 13].
    """
    _, scale, lower = _middle(sums, alpha)
    whitened = inverse_from_cholesky(lower)
    covariance = whitened * scale
    return Posterior(
        alpha=alpha,
        mean=expansion + covariance @ (sums.slope - (alpha * expansion.T).T),
        covariance=covariance,
        whitened=whitened,
        log_shrinkage=-log_determinant(lower),
    )


def newton_step(sums: Sums, expansion: Array, alpha: Array) -> Array:
    """Sigma (P'g - A w), (R,): towards the mode, without forming Sigma."""
    root, _, lower = _middle(sums, alpha)
    return root * solve_with_cholesky(lower, root * (sums.slope - alpha * expansion))


def _middle(sums: Sums, alpha: Array) -> tuple[Array, Array, Array]:
    root = alpha**-0.5
    scale = root[:, None] * root
    middle = sums.curvature * scale
    middle.flat[:: len(alpha) + 1] += 1.0
    return root, scale, cholesky(middle)


MAX_ROWS = 256
"""Training rows that represent the data at a new point."""


@dataclass(frozen=True, eq=False)
class Augmentation:
    """The part of a fit under independent precisions that augmentation needs.

    `functions` are centred on n of the training rows, drawn by content, whose noise precisions are `precisions` (n,)
    where they differ, else None. `spread` is the variance of all targets, weighted by noise precision, and its mean
    where a row has several, since latents share the prior of each function.
    """

    functions: KernelFunctions
    spread: float
    precisions: Array | None = None

    @classmethod
    def of(cls, problem: Problem, kept: Sequence[Functions]) -> "Augmentation | None":
        """With the kernel of the functions `kept`, else of the candidates.

        None without a kernel that falls with the distance, and where the noise is not Gaussian.
        """
        if not problem.likelihood.is_conjugate:
            return None
        for functions in (*kept, *problem.candidates.dictionaries):
            if isinstance(functions, KernelFunctions) and isinstance(functions.kernel, Covariance | Additive):
                rows = subset(problem.X, problem.t, MAX_ROWS, 0)
                of_subset, known = functions.moved(functions.input_map, problem.X[rows], rows), problem.precisions
                offsets = problem.t - np.average(problem.t, axis=0, weights=known)
                spread = float(np.average(offsets**2, axis=0, weights=known).mean())
                return cls(of_subset, spread, None if known is None else known[rows])
        return None


@dataclass(frozen=True, eq=False)
class Augmented:
    """RVM* [RASMUSSEN2005; THEORY 6]: each new point x adds k(., x), of prior precision a*, 1/a* = var(t) - 1/beta.

    With p = k(X, x) and B = diag(beta): s* = p'Bp - p'BP Sigma P'Bp and e = 1 - phi(x)'Sigma P'Bp; the variance grows
    by e^2/(a* + s*), which far from all rows is 1/a*. Of N rows n are kept, each counting N/n times, in Sigma as well,
    so that s* stays positive. With n = N all is as defined. Where rows have a noise of their own, 1/beta in a* is its
    mean, weighted by noise precision, as in var(t).

    The mean is unchanged. Its own correction e q*/(a* + s*) is an improvement only where every row is kept (RMSE on
    sinc with 100 rows .0373 instead of .0390, Friedman 1 with 240 rows 1.79 instead of 1.85), and is harmful where 256
    of 1,000 are (.050 instead of .010): the residuals of the targets are no longer orthogonal to the functions in the
    model.

    With W = A^-1/2 L^-T (R, R), L L' = I + A^-1/2 P'BP A^-1/2 N/n, so that Sigma = W W': `whitened` = W and `reached`
    (n, R) = P W; `precision` = beta N/n, of all kept rows or of each; `prior` = 1/a*.
    """

    functions: KernelFunctions
    whitened: Array
    reached: Array
    precision: ForRows
    prior: float

    @classmethod
    def of(
        cls, kept: Augmentation, functions: Sequence[Functions], alpha: Array, *, noise_sd: float, rows: int
    ) -> "Augmented":
        """For a model of R functions with precisions alpha (R,) that learned from `rows` rows."""
        P = evaluate(functions, kept.functions.centres)
        beta = noise_sd**-2 if kept.precisions is None else kept.precisions
        precision: ForRows = rows / kept.functions.size * beta
        root = alpha**-0.5
        each = np.sqrt(precision)
        lower, reached = factors_of_sum(((P * root).T * each).T)
        whitened = root[:, None] * solve_lower(lower, np.eye(len(alpha))).T
        return cls(
            kept.functions,
            whitened,
            (reached.T / each).T,
            precision,
            max(kept.spread - 1.0 / float(np.mean(beta)), 0.0),
        )

    def left(self, X: Array, columns: Array) -> Array:
        """e^2 a*/(a* + s*), (N,), at X (N, d), where the model's functions are `columns` (N, R).

        The share of the new function's prior variance that the data leave; times 1/a* it is the growth of the variance.
        """
        p = self.functions(X, np.arange(self.functions.size))
        weighted = p * self.precision
        towards, own = weighted @ self.reached, columns @ self.whitened
        e = 1.0 - np.einsum("nr,nr->n", own, towards)
        known = np.einsum("nm,nm->n", p, weighted) - np.einsum("nr,nr->n", towards, towards)
        return np.asarray(e**2 / (1.0 + self.prior * np.maximum(known, 0.0)))


MAX_ITERATIONS = 100
TOLERANCE = 1e-13
"""The iteration has converged when a step's predicted rise is less than this share of 1 + |L|, ..."""

ROUNDING = 1e-13
"""... or its rise is rounding."""

MIN_SHARE = 2.0**-10
"""The smallest share of a step that is tried until L rises."""

MAX_HISTORY = 5
"""Earlier steps in the extrapolation of the next one [ANDERSON1965: J. ACM 12]."""

MIN_FALL = 0.2
"""No precision falls below this share of itself in an extrapolated step."""

MAX_MEAN_STEPS = 8
"""Steps of the mean at one covariance, ..."""

FORCING = 0.03
"""... which end where their predicted rise is less than this share of that of the precisions' last step."""


MIN_FORCING = 1e-6
"""... but in nats at the first covariance, of which no step is known."""


@dataclass(frozen=True, eq=False)
class LatentSites:
    """Latents f (N,) and the sites there: their `gradient` (N,) and `precision` (N,)."""

    f: Array
    gradient: Array
    precision: Array

    def take(self, rows: Indices) -> "LatentSites":
        """Those of some rows."""
        return LatentSites(self.f[rows], self.gradient[rows], self.precision[rows])


@dataclass(frozen=True, eq=False)
class Optimum:
    """L in nats, the posterior of the weights, and at its latents N(f, v), each (N,), the `sites`.

    `likelihood` with its own parameters at their maximum there.
    """

    value: float
    posterior: Posterior
    sites: Sites
    f: Array
    v: Array
    likelihood: Likelihood

    @property
    def latent_sites(self) -> LatentSites:
        """The sites, from which another iteration may begin."""
        return LatentSites(self.f, self.sites.gradient, self.sites.precision)


@dataclass(frozen=True, eq=False)
class _Mean:
    """Weights w (R,) or (R, K) of the columns P A^-1/2, and the sites at their latents N(f, v).

    `value` = sum ell - 1/2 |w|^2: the part of L that depends on the mean.
    """

    weights: Array
    f: Array
    v: Array
    value: float
    sites: Sites
    likelihood: Likelihood


@dataclass(frozen=True, eq=False)
class _Iterate:
    """A posterior with covariance (A + P'diag(lam)P)^-1, lam = `precision` (N,), and L there.

    `lower` (R, R) is the factor of I + A^-1/2 P'diag(lam)P A^-1/2, `own` (N,) = diag(P Sigma P'), and `left` is the
    predicted rise of another step of the mean, in nats.
    """

    precision: Array
    lower: Array
    own: Array
    mean: _Mean
    value: float
    left: float

    @property
    def residual(self) -> Array:
        """The residual of the precisions of the sites from lam, (N,)."""
        return self.mean.sites.precision - self.precision

    @property
    def predicted_rise(self) -> float:
        """The approximate rise of L by another step, in nats."""
        return self.left + 0.25 * float(np.square(self.own * self.residual).sum())


@dataclass(frozen=True, eq=False)
class _Ascent:
    """The problem of `record` in the weights of P A^-1/2, whose prior is N(0, I); `root` (R,) = A^-1/2.

    `columns` are P (N, R), of which no copy is made.
    """

    columns: Columns
    root: Array
    t: Array
    c: Array
    likelihood: Likelihood
    beta: ForRows

    def at(self, precision: Array, weights: Array, forcing: float) -> _Iterate:
        """The iterate at lam = `precision` (N,), with its best mean, searched for from `weights` (R,) or (R, K)."""
        return self.best_mean(precision, *self.factorised(precision), weights, forcing)

    def best_mean(self, precision: Array, lower: Array, own: Array, weights: Array, forcing: float) -> _Iterate:
        """The same where `precision` is `factorised` already."""
        mean = self.mean(weights, self.c + own)
        half = solve_lower(lower, self.towards(mean.sites.gradient) - mean.weights)
        for _ in range(MAX_MEAN_STEPS):
            if 0.5 * float(np.square(half).sum()) <= forcing:
                break
            higher = self.raised(mean, solve_lower_transposed(lower, half))
            if higher is None:
                break
            mean = higher
            half = solve_lower(lower, self.towards(mean.sites.gradient) - mean.weights)
        # KL = 1/2 (|w|^2 - sum lam own + log |I + A^-1/2 P'diag(lam)P A^-1/2|), of each latent.
        latents = 1 if weights.ndim == 1 else weights.shape[1]
        value = mean.value + 0.5 * latents * (float(precision @ own) - log_determinant(lower))
        return _Iterate(precision, lower, own, mean, value, 0.5 * float(np.square(half).sum()))

    def mean(self, weights: Array, v: Array) -> _Mean:
        """At weights (R,) or (R, K), and variances v (N,) of the latents."""
        f = self.columns.times((self.root * weights.T).T)
        tuned = self.likelihood.tuned(self.t, f, v, self.beta)
        sites = tuned.expected(self.t, f, v, self.beta)
        return _Mean(weights, f, v, float(sites.value.sum()) - 0.5 * float(np.square(weights).sum()), sites, tuned)

    def raised(self, mean: _Mean, step: Array) -> _Mean | None:
        """The mean after a step of the weights, halved until `value` rises; None where it never does."""
        share = 1.0
        while share > MIN_SHARE:
            tried = self.mean(mean.weights + share * step, mean.v)
            if tried.value > mean.value:
                return tried
            share *= 0.5
        return None

    def factorised(self, precision: Array) -> tuple[Array, Array]:
        """The factor (R, R) of I + A^-1/2 P'diag(lam)P A^-1/2, and diag(P Sigma P') (N,)."""
        middle = self.columns.gram(precision)
        middle *= np.outer(self.root, self.root)
        middle.flat[:: len(middle) + 1] += 1.0
        lower = cholesky(middle)
        return lower, self.columns.squared_products(inverse_of_lower(lower) * self.root)

    def towards(self, gradient: Array) -> Array:
        """A^-1/2 P'g, (R,) or (R, K), of g (N,) or (N, K)."""
        return (self.root * self.columns.transposed_times(gradient).T).T

    def begun(self, forcing: float) -> _Iterate:
        """The first iterate, from the sites of the prior: exact where the likelihood is Gaussian."""
        f, v = self.likelihood.first(self.t, self.c + self.columns.weighted_squares(np.square(self.root)))
        first = self.likelihood.expected(self.t, f, v, self.beta)
        at = LatentSites(f, first.gradient, first.precision)
        return self.begun_at(at, inf if self.likelihood.is_conjugate else forcing)

    def begun_at(self, first: LatentSites, forcing: float) -> _Iterate:
        """The first iterate from given sites: its weights are the mean under the Gaussian targets that these are."""
        lower, own = self.factorised(first.precision)
        shift = _by_row(first.precision, first.f) * first.f + first.gradient
        weights = solve_lower_transposed(lower, solve_lower(lower, self.towards(shift)))
        return self.best_mean(first.precision, lower, own, weights, forcing)

    def extrapolated(self, found: _Iterate, steps: list[tuple[Array, Array]], forcing: float) -> _Iterate | None:
        """Anderson's extrapolation of the last steps; None with a single one, or where L falls there."""
        if len(steps) == 1:
            return None
        at, residue = steps[-1]
        moves = np.array([later[0] - earlier[0] for earlier, later in pairwise(steps)])
        turns = np.array([later[1] - earlier[1] for earlier, later in pairwise(steps)])
        shares, *_ = np.linalg.lstsq(turns @ turns.T, turns @ residue, rcond=1e-10)
        tried = np.maximum(at + residue - shares @ (moves + turns), MIN_FALL * at)
        there = self.at(tried, found.mean.weights, forcing)
        return there if there.value > found.value else None

    def plain(self, found: _Iterate, forcing: float) -> _Iterate | None:
        """A natural-gradient step of the precisions, halved while L falls; None where it never rises."""
        share, rounding = 1.0, ROUNDING * (1.0 + abs(found.value))
        while share > MIN_SHARE:
            there = self.at(found.precision + share * found.residual, found.mean.weights, forcing)
            if there.value >= found.value - rounding:
                return there if there.value > found.value else None
            share *= 0.5
        return None


def maximise_bound(
    columns: Columns,
    t: Array,
    c: Array,
    alpha: Array,
    likelihood: Likelihood,
    beta: ForRows,
    *,
    first: LatentSites | None = None,
    tolerance: float = TOLERANCE,
) -> Optimum:
    """L = sum_n ell(t_n, f_n, v_n) - KL(N(m, Sigma) || N(0, A^-1)), v = diag(P Sigma P') + c, maximised.

    `columns` P (N, R), t (N,), c (N,), alpha (R,); t (N, K) where K numbers of a row are independent. The
    iteration starts from the sites `first` at the same rows, where there are any.

    Where the sites depend on the latents, two updates alternate: the mean at a fixed covariance, by Newton's method
    with the inverse of that covariance as the Hessian, and the precisions lam, by natural-gradient steps, extrapolated
    from the last few while that raises L [THEORY 15]. A step costs N R^2; Sigma itself is formed at the end.
    """
    root = alpha**-0.5
    ascent = _Ascent(columns, root, t, c, likelihood, beta)
    forcing = max(0.1 * tolerance * len(c), MIN_FORCING)
    found = ascent.begun(forcing) if first is None else ascent.begun_at(first, forcing)
    steps: list[tuple[Array, Array]] = []
    for _ in range(0 if likelihood.is_conjugate else MAX_ITERATIONS):
        min_rise = tolerance * (1.0 + abs(found.value))
        if found.predicted_rise <= min_rise:
            break
        forcing = max(0.1 * min_rise, FORCING * found.predicted_rise)
        steps = [*steps[-MAX_HISTORY:], (found.precision, found.residual)]
        there = ascent.extrapolated(found, steps, forcing)
        if there is None:
            steps = steps[-1:]
            there = ascent.plain(found, forcing)
        if there is None:
            break
        found = there
    whitened = inverse_from_cholesky(found.lower)
    posterior = Posterior(
        alpha=alpha,
        mean=(root * found.mean.weights.T).T,
        covariance=whitened * np.outer(root, root),
        whitened=whitened,
        log_shrinkage=-log_determinant(found.lower),
    )
    mean = found.mean
    return Optimum(found.value, posterior, mean.sites, mean.f, mean.v, mean.likelihood)


def _by_row(precision: Array, f: Array) -> Array:
    """lam (N,), shaped to broadcast with latents f (N,) or (N, K)."""
    return precision if f.ndim == 1 else precision[:, None]
