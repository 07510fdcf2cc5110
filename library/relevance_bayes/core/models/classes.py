"""Models of several classes: one of each class against the others, and softmax regression.

Softmax regression has the weights of all classes together, under one precision that the evidence learns. The posterior
is Laplace's approximation about its mode. A step costs some products of the rows' inputs with as many numbers as there
are classes, so that the cost of a fit grows as rows times inputs times classes.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import scipy

from relevance_bayes.core.algorithms import ReEstimation
from relevance_bayes.core.algorithms.state import Termination
from relevance_bayes.core.basis import Bias, ConstantFunction, Inputs
from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.inference.coupled import mode_of_coupled
from relevance_bayes.core.inference.evidence import TINY
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.likelihoods import BernoulliPerClass, Categorical
from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian
from relevance_bayes.core.likelihoods.bernoulli import integrated_sigmoid
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.prediction import Ready
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.rows import Step
from relevance_bayes.core.types import Array, Mask
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


CONSTANT_SD = 10.0
"""The prior sd of the constant's weights, which is not learned: under a precision of its own, which the evidence drives
to infinity where all classes have as many rows, the log loss of 100 classes is .50 where it is .46 with this one."""

MAX_ITERATIONS = 30

CONVERGED = 0.02
"""The change of the logarithm of the precision at which it has converged."""


def softmax_regression_spec(classes: int) -> Spec:
    """The spec of a softmax regression on all inputs."""
    return Spec(Categorical(classes), (Inputs(), Bias()), Independent(), ReEstimation())


def is_softmax_regression(spec: Spec) -> bool:
    """True where a spec has coupled classes, and the inputs and a constant as its only functions."""
    return isinstance(spec.likelihood, Categorical) and (spec.basis, spec.prior, spec.algorithm) == (
        (Inputs(), Bias()),
        Independent(),
        ReEstimation(),
    )


def softmax_regression(problem: Problem) -> Generator[Step, None, Model]:
    """The model of a problem of coupled classes whose candidates are the inputs and a constant: all are in the model.

    Each class has w_r ~ N(0, 1/(a s_r)) for input r, of mean square s_r about its mean, so that no unit matters; a
    becomes K sum_r gamma_r / sum_r s_r |w_r|^2 until it converges, the re-estimate of one precision
    [TIPPING1999, eqs 8 to 10].
    """
    likelihood = problem.likelihood
    if not isinstance(likelihood, Categorical):
        raise SparseBayesError(f"expected coupled classes, got {likelihood.type}")
    every = tuple(range(problem.candidates.size))
    P, is_input = problem.columns(every), _is_input(problem)
    units = np.where(is_input, np.square(_spread(P)), CONSTANT_SD**-2)
    log_a, alpha, why = 0.0, units, Termination.MAX_ITERATIONS
    value, found = mode_of_coupled(P, problem.t, alpha, likelihood, problem.unweighted(len(every)))
    for number in range(MAX_ITERATIONS):
        yield Step("fit", number, None, "iterations", value, len(every), None)
        size = float(units[is_input] @ found.squares[is_input])
        determined = found.latents * float(found.determined[is_input].sum())
        step = float(np.log(max(determined, TINY) / max(size, TINY))) - log_a
        if abs(step) < CONVERGED:
            why = Termination.CONVERGED
            break
        log_a += step
        alpha = np.where(is_input, np.exp(log_a), 1.0) * units
        value, found = mode_of_coupled(P, problem.t, alpha, likelihood, found.mean)
    functions, _ = problem.candidates.take(every)
    evidence, size = Evidence(value, "laplace", 0.0, 0.0), problem.candidates.size
    weights, rows = (found.mean, found.covariance, alpha, found.determined), problem.rows
    return Model(likelihood, functions, *weights, None, evidence, problem.inputs, rows, size, str(why))


def _is_input(problem: Problem) -> Mask:
    dictionaries = problem.candidates.dictionaries
    return np.concatenate([np.full(one.size, not isinstance(one, ConstantFunction)) for one in dictionaries])


def _spread(P: Array) -> Array:
    """The sds (R,) of columns (N, R), 1 for those that are constant."""
    sd = P.std(axis=0)
    return np.where(sd > 0.0, sd, 1.0)
