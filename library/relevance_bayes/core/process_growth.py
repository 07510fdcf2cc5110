"""Further functions of a process: their gains at the current scales on all rows, in one pass [THEORY 13]."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from relevance_bayes.core.basis import Candidates
from relevance_bayes.core.choice import Chosen, choose_beside
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.linalg import cholesky, max_rows_of_gram, root_of_gram, solve_lower
from relevance_bayes.core.priors.gaussian_process import JITTER, Whitening
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.process import Vectors
from relevance_bayes.core.process_sums import RowSums
from relevance_bayes.core.row_source import RowBlock
from relevance_bayes.core.types import Array

MIN_RESIDUE = 1e-9
"""The least residual share of a candidate, jitter included: of less it is a copy."""


@dataclass(frozen=True, eq=False)
class Gram:
    """Y'WY of the columns Y of some rows."""

    products: Array

    def __add__(self, other: Self, /) -> "Gram":
        return Gram(self.products + other.products)


@dataclass(frozen=True, eq=False)
class GramBeside:
    """The reduction to the Gram matrix of Y = [P, Phi, r]: columns in the model, those of M candidates, residuals.

    Phi = (K_c - B reached') scale: `points` (M, d) are the candidates, mapped, `reached` (M, m) their whitened columns
    at the vectors, and `scale` (M,) makes the residual kernel of each with itself 1. r = t - P `mean`.
    """

    candidates: Candidates
    fixed: tuple[int, ...]
    covariance: Covariance | Additive
    h: Hyperparameters
    mapped: Array
    whitening: Whitening
    mean: Array
    points: Array
    reached: Array
    scale: Array

    @property
    def max_rows(self) -> int:
        """The number of rows for which it is called at once."""
        return max_rows_of_gram(max(len(self.mean) + len(self.points) + 1, self.mapped.shape[1]))

    def __call__(self, block: RowBlock, /) -> Gram:
        F, R, U = len(self.fixed), len(self.mean), self.h.input_map(block.X)
        Y = np.empty((len(block), R + len(self.points) + 1))
        Y[:, :F] = self.candidates.columns(block.X, self.fixed)
        B = self.whitening.columns(self.covariance(U, self.mapped), out=Y[:, F:R])
        Y[:, R:-1] = (self.covariance(U, self.points) - B @ self.reached.T) * self.scale
        Y[:, -1] = block.t - Y[:, :R] @ self.mean
        return Gram(Y.T @ block.weighted(Y))


def choose_more(
    problem: Problem,
    fixed: tuple[int, ...],
    vectors: Vectors,
    kernel: Covariance,
    h: Hyperparameters,
    sums: RowSums,
    X: Array,
    *,
    min_gain: float,
    max_functions: int,
) -> Chosen:
    """Choose among the candidates X (M, d) beside the functions in the model, by their gains on all rows.

    For Gaussian noise, rho of 0 and one target a row; `sums` are those of the model. The gains are those of `choose`,
    which depends on rows only through their Gram matrix: a root of that replaces the rows. Exact, jitter included.
    """
    V, U, covariance = vectors.mapped(h), h.input_map(X), h.covariance(kernel)
    jitter = JITTER if h.jitter is None else h.jitter
    whitening = Whitening.of(covariance(V, V), jitter=jitter)
    posterior = sums.at(h).posterior
    reached = whitening.columns(covariance(U, V))
    left = covariance(U, U) - reached @ reached.T
    left.flat[:: len(left) + 1] += jitter
    scale = np.maximum(left.diagonal(), MIN_RESIDUE * jitter) ** -0.5
    beside = GramBeside(problem.candidates, fixed, covariance, h, V, whitening, posterior.mean, U, reached, scale)
    root = root_of_gram(problem.source.reduce(beside, beside.max_rows).products)
    R, M, beta = len(posterior.mean), len(X), h.beta
    P, Phi, r = root[:, :R] * posterior.alpha**-0.5, root[:, R:-1], root[:, -1:]
    explained = solve_lower(cholesky(np.eye(R) + beta * (P.T @ P)), beta * P.T)
    return choose_beside(
        np.concatenate([left * scale * scale[:, None], Phi]),
        signal_variance=h.signal_variance,
        gradient=np.concatenate([np.zeros((M, 1)), beta * r]),
        precision=np.concatenate([np.zeros(M), np.full(len(root), beta)]),
        explained=np.hstack([np.zeros((R, M)), explained]),
        min_gain=min_gain,
        max_functions=max_functions,
        residue=MIN_RESIDUE,
    )
