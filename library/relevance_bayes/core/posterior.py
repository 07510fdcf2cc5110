"""The posterior of the weights, and the columns that it is of.

Augmentation is one more function at each new point, so that error bars grow away from the functions of the model.

[RASMUSSEN2005] is Rasmussen & Quiñonero-Candela, Healing the relevance vector machine through augmentation, ICML 22.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from relevance_bayes.core.basis import Functions, KernelFunctions, evaluate
from relevance_bayes.core.folds import subset
from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.linalg import (
    cholesky,
    factors_of_sum,
    inverse_from_cholesky,
    log_determinant,
    pieces,
    solve_lower,
    solve_with_cholesky,
    squared_products,
    weighted_gram,
)
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array, ForRows

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
