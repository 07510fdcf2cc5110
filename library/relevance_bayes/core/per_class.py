"""A model for each of K classes as one: their probabilities against all other classes, normalised."""

from dataclasses import dataclass

import numpy as np
import scipy

from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.basis import ConstantFunction
from relevance_bayes.core.likelihoods import BernoulliPerClass
from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian
from relevance_bayes.core.likelihoods.bernoulli import integrated_sigmoid
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.types import Array
from relevance_bayes.records.reports import Evidence

MIN_CLASSES = 3
"""Two classes have one model for both."""

MAX_LOG_ODDS = 60.0
"""Log odds of a class lie within this of 0, however many rows there are."""


@dataclass(frozen=True, eq=False)
class PerClass:
    """Bernoulli models (K,), in the order of the classes, of each class against all others; `likelihood` is that of
    the whole."""

    members: tuple[Model, ...]
    likelihood: BernoulliPerClass


@dataclass(frozen=True, eq=False)
class ReadyPerClass:
    """Models of classes, factorised for predictions."""

    members: tuple[Ready, ...]
    likelihood: BernoulliPerClass

    def predict(self, X: Array, noise_sd: Array | None = None) -> tuple[ClassPrediction, Array | None]:
        """The predictive distribution at X (N, d), and its `support` (N,): the mean over the models that have one.

        There is no noise: `noise_sd` is None. Raises DataError.
        """
        found = LatentGaussian.of_each([member.checked(X, noise_sd) for member in self.members])
        return self.likelihood.predictive(found, None), found.support


def without_functions(inputs: int, t: Array, candidates: int) -> Model:
    """The model of a class, t (N,) 0 or 1, of constant probability: the constant function alone.

    With n rows of the class its probability is (n + 1/2)/(N + 1), the mean under Jeffreys' prior, and its evidence that
    of t under it, log B(n + 1/2, N - n + 1/2) - log B(1/2, 1/2). The log odds have the variance of Anscombe's estimate,
    1/(n + 1/2) + 1/(N - n + 1/2), which exists where a class has no row, or all.
    """
    rows, positive = len(t), float(t.sum())
    one, other = positive + 0.5, rows - positive + 0.5
    variance = 1.0 / one + 1.0 / other

    def excess(mean: float) -> float:
        return integrated_sigmoid(np.array([mean]), np.array([variance])).item() - one / (one + other)

    log_odds = float(scipy.optimize.brentq(excess, -MAX_LOG_ODDS, MAX_LOG_ODDS, xtol=1e-12))
    moment = log_odds**2 + variance
    log_evidence = float(scipy.special.betaln(one, other) - scipy.special.betaln(0.5, 0.5))
    return Model(
        likelihood=BernoulliPerClass.member,
        functions=(ConstantFunction(),),
        mean=np.array([log_odds]),
        covariance=np.array([[variance]]),
        alpha=np.array([1.0 / moment]),
        gamma=np.array([1.0 - variance / moment]),
        noise_sd=None,
        evidence=Evidence(log_evidence, "exact", 0.0, 0.0),
        inputs=inputs,
        rows=rows,
        candidates=candidates,
        termination=str(Termination.CONVERGED),
    )


def constant_latent(model: Model, rows: int) -> LatentGaussian:
    """The latent at so many rows of a class of constant probability."""
    return LatentGaussian(np.full(rows, model.mean[0]), np.full(rows, model.covariance[0, 0]), np.zeros(rows))
