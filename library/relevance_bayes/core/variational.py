"""The variational posterior: sites at latents N(f, v), iterated until the bound has converged."""

from dataclasses import dataclass
from itertools import pairwise
from math import inf

import numpy as np

from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.likelihoods.base import Sites
from relevance_bayes.core.linalg import (
    cholesky,
    inverse_from_cholesky,
    inverse_of_lower,
    log_determinant,
    solve_lower,
    solve_lower_transposed,
)
from relevance_bayes.core.posterior import Columns, Posterior
from relevance_bayes.core.types import Array, ForRows, Indices

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
