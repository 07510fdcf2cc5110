"""The posterior at rest where the latents' uncertainty counts: sites at N(f, v), repeated until the bound rests."""

from dataclasses import dataclass

import numpy as np

from app.sparse_bayes.likelihoods import Likelihood
from app.sparse_bayes.likelihoods.sites import Sites
from app.sparse_bayes.posterior import Posterior, Sums, posterior
from app.sparse_bayes.types import Array, ForRows

MOST_STEPS = 100
TOLERANCE = 1e-13
"""The iteration rests when a step raises L by less than this share of 1 + |L|."""

LEAST_SHARE = 2.0**-10
"""Of a step of the sites, until L rises."""


@dataclass(frozen=True, eq=False)
class Settled:
    """L in nats, the posterior of the weights, and at its latents N(f, v), each (N,), the `sites`.

    `likelihood` with what it learns itself at its best there.
    """

    value: float
    posterior: Posterior
    sites: Sites
    f: Array
    v: Array
    likelihood: Likelihood


def settle(P: Array, t: Array, c: Array, alpha: Array, likelihood: Likelihood, beta: ForRows) -> Settled:
    """L = sum_n ell(t_n, f_n, v_n) - KL(N(m, Sigma) || N(0, A^-1)), v = diag(P Sigma P') + c, at its greatest.

    P (N, R), t (N,), c (N,), alpha (R,); t (N, K) where K numbers of a row are independent.

    Where the sites depend on the latents: natural-gradient steps, in lam and lam f + g, of length 1, halved while L
    falls [SPARSE_GP 5].
    """

    def after(weights: Array, f: Array, precision: Array, shift: Array) -> Settled:
        slope = P.T @ (shift - _by_row(precision, f) * f)
        rested = posterior(Sums(0.0, 0.0, 0.0, slope, P.T @ (precision[:, None] * P)), weights, alpha)
        f = P @ rested.mean
        v = c + np.einsum("nr,nr->n", P @ rested.covariance, P)
        tuned = likelihood.tuned(t, f, v, beta)
        sites = tuned.expected(t, f, v, beta)
        return Settled(float(sites.value.sum()) - rested.divergence, rested, sites, f, v, tuned)

    f, v = likelihood.first(t, c + np.square(P) @ (1.0 / alpha))
    sites = likelihood.expected(t, f, v, beta)
    precision, shift = sites.precision, _by_row(sites.precision, f) * f + sites.gradient
    found = after(np.zeros((P.shape[1], *f.shape[1:])), np.zeros_like(f), precision, shift)
    if likelihood.conjugate:
        return found
    for _ in range(MOST_STEPS):
        least = TOLERANCE * (1.0 + abs(found.value))
        wanted, share = found.sites.precision, 1.0
        wanted_shift = wanted * found.f + found.sites.gradient
        there = after(found.posterior.mean, found.f, wanted, wanted_shift)
        while there.value < found.value - least and share > LEAST_SHARE:
            share *= 0.5
            tried = precision + share * (wanted - precision)
            there = after(found.posterior.mean, found.f, tried, shift + share * (wanted_shift - shift))
        if not there.value > found.value + least:
            return there if there.value > found.value else found
        precision = precision + share * (wanted - precision)
        shift = shift + share * (wanted_shift - shift)
        found = there
    return found


def _by_row(precision: Array, f: Array) -> Array:
    """lam (N,), shaped to go with latents f (N,) or (N, K)."""
    return precision if f.ndim == 1 else precision[:, None]
