"""The protocol of factors, and the statistics of candidates."""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.posterior import DataTerm, Posterior, Sums
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array, Indices

SPAN = 1e-10
"""A candidate with less than this share of its squared norm outside the span of those in the model counts as a copy.
The statistics can't show it: where functions are nearly in each other's span, S is a difference of large terms and
consists of rounding, more so with each such function that enters."""


@dataclass(frozen=True, eq=False)
class CandidateStatistics:
    """S (M,) = phi'C^-1 phi and Q (M,), or (M, K), = phi'C^-1 t of every candidate [THEORY 3].

    `alone` (M,) = phi'diag(lam)phi is S for an empty model.
    """

    S: Array
    Q: Array
    alone: Array


class Factors(Protocol):
    """Columns P (N, R) of the functions in the model, with what makes sums over rows and statistics of candidates
    cheap."""

    @property
    def problem(self) -> Problem: ...

    @property
    def active(self) -> tuple[int, ...]: ...

    @property
    def P(self) -> Array:
        """P (N, R)."""

    def is_spanned(self, number: int) -> bool:
        """True where candidate `number` is in the span of the functions in the model, up to a share SPAN of its
        square."""

    @property
    def heights(self) -> Array:
        """The greatest size of each function in the model on the rows, (R,)."""

    def added(self, number: int, weights: Array) -> Self:
        """With candidate `number` last; `weights` (R,), or (R, K), of those already in are near the mean."""

    def keeping(self, kept: Indices, weights: Array) -> Self:
        """With only the functions at the positions `kept` (S,), each from 0 to R - 1; `weights` as before."""

    def posterior(self, alpha: Array, beta: float, start: Array) -> tuple[Posterior, DataTerm]:
        """The posterior under alpha (R,) and beta, searched for from `start`, and its data term."""

    def tuned(self, posterior: Posterior, beta: float) -> Likelihood:
        """The likelihood with its own parameters at their maximum."""

    def skew(self, posterior: Posterior) -> Array:
        """P'(h o d lam/d f), h = diag(P Sigma P'), as the mean (R,) or (R, K): the change of the curvature by the mode.

        0 where the curvature does not change.
        """

    def pull(self, posterior: Posterior, beta: float) -> Array:
        """dL/dP (N, R) at the posterior, at fixed precisions, summed over the latents."""

    def candidate_statistics(self, posterior: Posterior, beta: float) -> CandidateStatistics:
        """The statistics of every candidate, given all functions in the model."""


def is_in_span(p: Array, span: Array) -> bool:
    """True where p (N,) is in the span of orthonormal columns (N, R), up to a share SPAN of its square."""
    return _is_nothing(_residual(p, span), p)


def extended(span: Array, p: Array) -> Array:
    """Orthonormal columns (N, R) extended so that their span contains p (N,); unchanged where it does."""
    left = _residual(p, span)
    return span if _is_nothing(left, p) else np.column_stack([span, left / np.linalg.norm(left)])


def _is_nothing(left: Array, p: Array) -> bool:
    return bool(left @ left <= SPAN * (p @ p))


def _residual(p: Array, span: Array) -> Array:
    """The part of p (N,) outside a span, which is projected out twice: once leaves rounding of the size of p."""
    left = p - span @ (p @ span)
    return np.asarray(left - span @ (left @ span))


def with_uncertainty(posterior: Posterior, sums: Sums) -> DataTerm:
    """ell = log p(t_n | f_n) - lam_n v_n / 2, the latter for each latent: sum lam v = sum gamma."""
    half = 0.5 * posterior.latents * float(posterior.determined.sum())
    return DataTerm(sums.value - half, sums.noise_slope - half, sums.noise_curvature)
