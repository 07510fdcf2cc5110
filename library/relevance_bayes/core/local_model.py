"""A nearest-neighbour process as a model, alone or of the residuals of a sparse model [THEORY 22]."""

from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.algorithms.state import FitTrace, Termination
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.likelihoods.base import LatentGaussian
from relevance_bayes.core.likelihoods.gaussian import GaussianNoise, RealPrediction
from relevance_bayes.core.local.prediction import LocalProcess
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.types import Array


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
