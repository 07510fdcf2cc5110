"""Predictions from the rows near each row, and the model of such predictions.

Predictions of a nearest-neighbour process: each new row given its nearest training rows [THEORY 22].

A nearest-neighbour process as a model, alone or of the residuals of a sparse model [THEORY 22].
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from relevance_bayes.core.algorithms.state import FitTrace, Termination
from relevance_bayes.core.basis import Functions, evaluate
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise, RealPrediction
from relevance_bayes.core.models.local.likelihood import Stack, correlations, slices, solved
from relevance_bayes.core.models.local.neighbours import LocalKernel, NeighbourSearch
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.types import Array, Indices

MAX_MAPPED = 1e75
"""The bound of mapped inputs."""

ROWS_AT_ONCE = 1_024
"""New rows whose neighbours are searched for at once, which bounds the memory."""

MeanFunction = Callable[[Array], Array]
"""The mean (n,) of another model at X (n, d), in the targets' units."""


@dataclass(frozen=True, eq=False)
class LocalProcess:
    """A process with the rows that it predicts from: `rows`, in the order of content, and `functions` without kernel.

    `centre` was subtracted from the targets, and is added to the mean.
    """

    kernel: LocalKernel
    hyperparameters: Hyperparameters
    rows: ProcessRows
    functions: tuple[Functions, ...]
    neighbours: int
    centre: float = 0.0

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise."""
        return float(self.hyperparameters.beta**-0.5)

    @property
    def bytes(self) -> int:
        """Memory of the rows, raw and mapped, and of the search tree, about twice that."""
        return 4 * self.rows.X.nbytes + self.rows.F.nbytes + 2 * self.rows.t.nbytes

    def latent(self, X: Array) -> LatentGaussian:
        """The latent at X (n, d), with all of its variance in `weights`; raises DataError.

        The `support` is the share of the prior variance that the neighbours explain.
        """
        if X.ndim != 2 or X.shape[1] != self.rows.X.shape[1]:
            raise DataError(f"expected X (N, {self.rows.X.shape[1]}), got shape {X.shape}")
        mean, variance, prior = np.empty(len(X)), np.empty(len(X)), np.empty(len(X))
        for first in range(0, len(X), ROWS_AT_ONCE):
            some = slice(first, min(first + ROWS_AT_ONCE, len(X)))
            mean[some], variance[some], prior[some] = self._of(X[some])
        return LatentGaussian(mean + self.centre, variance, np.zeros(len(X)), np.clip(1.0 - variance / prior, 0.0, 1.0))

    def _of(self, X: Array) -> tuple[Array, Array, Array]:
        """The latent at few rows X (n, d): mean, variance and prior variance, each (n,)."""
        U, F = self._mapped(X), evaluate(self.functions, X)
        _, numbers = self._search.nearest(U, self.neighbours)
        parts = [self._given(U[piece], F[piece], numbers[piece]) for piece in slices(len(X), numbers.shape[1] + 1)]
        mean, variance, prior = (np.concatenate(part) for part in zip(*parts, strict=True))
        return mean, variance, prior

    def _given(self, U: Array, F: Array, numbers: Indices) -> tuple[Array, Array, Array]:
        """The latent at U (B, d) and F (B, F) given the rows `numbers` (B, k): mean, variance, prior variance."""
        stack = Stack(
            np.concatenate([self._U[numbers], U[:, None]], axis=1),
            np.concatenate([self.rows.F[numbers], F[:, None]], axis=1),
            np.concatenate([self._noise[numbers], np.zeros((len(U), 1))], axis=1),
        )
        C = stack.covariance(correlations(self.kernel, stack.squares()), self.hyperparameters)
        w = solved(C, C[:, :-1, -1:])[:, :, 0]
        prior = C[:, -1, -1]
        return np.vecdot(w, self.rows.t[numbers]), np.maximum(prior - np.vecdot(C[:, :-1, -1], w), 0.0), prior

    def _mapped(self, X: Array) -> Array:
        """U of rows X (n, d), within MAX_MAPPED: so that squared distances are finite."""
        with np.errstate(over="ignore"):
            return np.clip(self.hyperparameters.input_map(X), -MAX_MAPPED, MAX_MAPPED)

    @cached_property
    def _U(self) -> Array:
        return self._mapped(self.rows.X)

    @cached_property
    def _noise(self) -> Array:
        return np.ones(len(self.rows.t)) / self.rows.precision(self.hyperparameters.beta)

    @cached_property
    def _search(self) -> NeighbourSearch:
        return NeighbourSearch(self._U)


def residuals(problem: Problem, mean: MeanFunction) -> Problem:
    """The problem of the residuals of another model's mean, for a process that is added to it."""
    left = problem.t + problem.centre - mean(problem.X)
    source = problem.source.with_targets(left, problem.precisions)
    return replace(problem, source=source, centre=np.zeros(()))


@dataclass(frozen=True, eq=False)
class LocalModel:
    """A process that predicts from the rows nearest to a new one, with homoscedastic noise.

    `trend` is the sparse model whose residuals the process models; None where it models the targets. `trace`
    are the steps of learning its scales, with the mean log density of held-out rows, in nats a row, as the objective;
    None for a model that was stored.
    """

    process: LocalProcess
    likelihood: GaussianNoise
    trend: Model | None = None
    trace: FitTrace | None = None

    @property
    def inputs(self) -> int:
        """d."""
        return int(self.process.rows.X.shape[1])

    @property
    def rows(self) -> int:
        """N."""
        return len(self.process.rows.t)

    @property
    def candidates(self) -> int:
        """The number of candidates of the trend; 0 without."""
        return 0 if self.trend is None else self.trend.candidates

    @property
    def termination(self) -> Termination:
        """Scales are learned for a fixed number of iterations."""
        return Termination.MAX_ITERATIONS


@dataclass(frozen=True, eq=False)
class ReadyLocal:
    """A nearest-neighbour process whose trend is factorised for predictions."""

    model: LocalModel
    trend: Ready | None

    @classmethod
    def of(cls, model: LocalModel) -> "ReadyLocal":
        """The model with its trend factorised; raises NotPositiveDefiniteError."""
        return cls(model, None if model.trend is None else Ready.of(model.trend))

    @property
    def members(self) -> tuple[Ready, ...]:
        """The trend, where there is one."""
        return () if self.trend is None else (self.trend,)

    def predict(self, X: Array, noise_sd: Array | None = None) -> tuple[RealPrediction, Array | None]:
        """The predictive distribution at X (N, d), and its `support` (N,); raises DataError.

        The variance of the trend is not added: the residuals that the process models include its error.
        """
        if noise_sd is not None:
            raise DataError("expected noise of one size")
        found = self.latent(X)
        return self.model.likelihood.predictive(found, self.model.process.noise_sd), found.support

    def latent(self, X: Array) -> LatentGaussian:
        """The latent at X (N, d)."""
        found = self.model.process.latent(X)
        if self.trend is None:
            return found
        return replace(found, mean=np.asarray(found.mean + self.trend.latent(X).mean))
