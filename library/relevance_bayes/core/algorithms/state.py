"""The state of an algorithm: small, immutable, and all that is needed to go on."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from math import log

import numpy as np

from relevance_bayes.core.algorithms.choice_price import paid
from relevance_bayes.core.augmentation import Augmentation
from relevance_bayes.core.basis import Functions
from relevance_bayes.core.evidence import Evidence, evidence
from relevance_bayes.core.factors import Factors, build
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.integrated import USUAL_LOG_BETA, Integral, Peak, log_choices, normal
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.marginal import EvidenceKind, LogEvidence
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array


class Termination(StrEnum):
    """Why a fit ended. Not converging is a value, not an error."""

    CONVERGED = "converged"
    NOISE_FLOOR = "noise_floor"
    MAX_ITERATIONS = "max_iterations"


@dataclass(frozen=True, eq=False)
class Trial:
    """Hyperparameters that may take the place of those found so far, and the objective there."""

    hyperparameters: Hyperparameters
    objective: float


@dataclass(frozen=True, eq=False)
class Process:
    """The part of a state under a Gaussian process prior: the phase of its learning and what was found so far.

    `moved` (m, d) are the vectors that left their rows, warped but unscaled; `last_gain` and `next_gain` in nats, of
    the last function that entered and the best that did not. `trial` is the best of what was tried in this round of a
    phase, and `structures` how many in all; `evidence_per_row` is what the fit will be worth, in nats a row of the
    targets as they came, once its scales are learned. `origin` (R,), or (R, K): the weights that the sums over all rows
    are taken from, once they are, so that they are the same to the bit when they are made anew. `round` counts how
    often functions were chosen on all rows, None where they are given.
    """

    phase: str
    hyperparameters: Hyperparameters
    starts: int = 0
    moved: Array | None = None
    last_gain: float | None = None
    next_gain: float | None = None
    trial: Trial | None = None
    structures: int = 1
    evidence_per_row: float | None = None
    origin: Array | None = None
    round: int | None = 0


@dataclass(frozen=True, eq=False)
class State:
    """The functions in the model (candidates' numbers), their alpha (R,) and weights (R,), or (R, K), and the noise
    precision.

    The mode is looked for from the weights. `iteration` counts steps; `objective` is L in nats, minus infinity until it
    is first computed; `is_maximum`: L is at a maximum in alpha and beta, not only on the way there; `termination` is
    None while there is more to do. Under a Gaussian process prior alpha are the precisions of the functions without
    kernel, and `process` holds the rest. `phase` is that of an algorithm whose objective changes on the way, and `best`
    the best so far by the one that counts at the end, which is its objective.
    """

    active: tuple[int, ...]
    alpha: Array
    beta: float
    weights: Array
    iteration: int
    objective: float
    is_maximum: bool = False
    termination: Termination | None = None
    process: Process | None = None
    phase: str | None = None
    best: "State | None" = None


@dataclass(frozen=True, eq=False)
class Kept:
    """The part of the end of a fit that a model keeps: R functions, each array in their order.

    `mean` (R,), or (R, K), and `covariance` (R, R) of the weights, their prior precisions `alpha` (R,), `gamma` (R,) in
    [0, 1]. `likelihood` with what was learned of it. `signal_variance` is the variance s of the process that the kernel
    functions are part of, None where there is none, and `jitter` what their kernel matrix had added (None: JITTER);
    `augmentation` is for error bars away from the data where it is None.
    """

    functions: tuple[Functions, ...]
    mean: Array
    covariance: Array
    alpha: Array
    gamma: Array
    likelihood: Likelihood
    signal_variance: float | None = None
    last_gain: float | None = None
    next_gain: float | None = None
    augmentation: Augmentation | None = None
    jitter: float | None = None


@dataclass(frozen=True, eq=False)
class Iterate(ABC):
    """A state with what belongs to it but is rebuilt, never stored."""

    state: State

    @abstractmethod
    def kept(self, problem: Problem) -> Kept:
        """The part that a model keeps."""

    @abstractmethod
    def log_evidence(self, problem: Problem) -> LogEvidence:
        """The evidence of the targets as they came, in nats."""

    @abstractmethod
    def integral(self, problem: Problem) -> Integral:
        """The evidence with the hyperparameters integrated out: the end of a fit beside those under other priors."""

    @property
    @abstractmethod
    def evidence_per_row(self) -> float | None:
        """Nats a row, of the targets as they came, estimated from some rows; None before."""


@dataclass(frozen=True, eq=False)
class EvidenceIterate(Iterate):
    """Among fixed candidates with one precision each: the factors and the evidence of the state."""

    factors: Factors
    evidence: Evidence

    def kept(self, problem: Problem) -> Kept:
        """The functions in the model, by dictionary."""
        posterior = self.evidence.posterior
        functions, order = problem.candidates.take(self.state.active)
        covariance = posterior.covariance[np.ix_(order, order)]
        tuned = self.factors.tuned(posterior, self.evidence.beta)
        alpha, gamma = posterior.alpha[order], posterior.determined[order]
        augmentation = Augmentation.of(problem, functions)
        return Kept(functions, posterior.mean[order], covariance, alpha, gamma, tuned, augmentation=augmentation)

    def log_evidence(self, problem: Problem) -> LogEvidence:
        """That of the functions in the model, from the objective of the end: rebuilt, evidence differs by rounding."""
        likelihood, prior = problem.likelihood, problem.prior
        value = self.state.objective + problem.log_jacobian
        approximate: EvidenceKind = "laplace" if likelihood.log_concave else "lower_bound"
        kind = "exact" if likelihood.conjugate else approximate
        if not isinstance(prior, Independent):
            return LogEvidence(value, kind)
        alpha, beta = self.state.alpha, self.state.beta
        pays = paid(problem.candidates.size, len(self.state.active)) if prior.price else 0.0
        value += pays - prior.log_hyperprior(alpha, beta)
        return LogEvidence(value, kind, prior.log_density(alpha, beta), pays)

    def integral(self, problem: Problem) -> Integral:
        """Over log alpha and log beta, with the price of choice by dictionary: which of its functions each lent."""
        here, unit = self.evidence, log(problem.square)
        logs = np.append(np.log(here.posterior.alpha), log(here.beta) - USUAL_LOG_BETA) + unit
        learned = np.append(np.ones(len(logs) - 1, np.bool_), len(set(problem.likelihood.start(problem.t))) > 1)
        lent = zip(problem.candidates.dictionaries, problem.candidates.lent(self.state.active), strict=True)
        paid = sum(log_choices(dictionary.size, chosen) for dictionary, chosen in lent)
        peak = Peak(here.value - paid, *normal(logs[learned]), -here.hessian[np.ix_(learned, learned)])
        return Integral(peak.integral)

    @property
    def evidence_per_row(self) -> float | None:
        """None: there is no estimate on the way."""
        return None


def iterate_of(
    factors: Factors,
    found: Evidence,
    *,
    iteration: int,
    is_maximum: bool = False,
    termination: Termination | None = None,
) -> EvidenceIterate:
    """The state of some factors and evidence."""
    posterior = found.posterior
    state = State(
        factors.active, posterior.alpha, found.beta, posterior.mean, iteration, found.value, is_maximum, termination
    )
    return EvidenceIterate(state, factors, found)


def with_evidence(problem: Problem, now: Iterate) -> EvidenceIterate:
    """Return the iterate itself, or one that is rebuilt from its state."""
    return now if isinstance(now, EvidenceIterate) else rebuild(problem, now.state)


def rebuild(problem: Problem, state: State) -> EvidenceIterate:
    """Factors and evidence of a state, made from nothing but the state."""
    factors = build(problem, state.active, state.weights)
    return EvidenceIterate(state, factors, evidence(factors, state.alpha, state.beta, state.weights))
