"""The state of an algorithm: small, immutable, and sufficient to resume."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from math import log

import numpy as np

from relevance_bayes.core.algorithms.price import Price, paid
from relevance_bayes.core.augmentation import Augmentation
from relevance_bayes.core.basis import Functions
from relevance_bayes.core.evidence import Evidence, evidence
from relevance_bayes.core.factors import Factors, build
from relevance_bayes.core.fit_trace import FitTrace
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.integrated import (
    USUAL_LOG_BETA,
    EvidenceKind,
    Integral,
    LogEvidence,
    Peak,
    log_choices,
    normal,
)
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.types import Array


class Termination(StrEnum):
    """The reason why a fit ended. Not converging is a value, not an error."""

    CONVERGED = "converged"
    NOISE_FLOOR = "noise_floor"
    MAX_ITERATIONS = "max_iterations"


@dataclass(frozen=True, eq=False)
class Trial:
    """Alternative hyperparameters, and the objective there."""

    hyperparameters: Hyperparameters
    objective: float


@dataclass(frozen=True, eq=False)
class Process:
    """The part of a state under a Gaussian process prior: the phase, the hyperparameters and counters.

    `moved` (m, d) are the optimised inducing points, warped but unscaled, None where they are rows; `last_gain` and
    `next_gain` in nats, of the last function that entered and of the best that did not. `trial` is the best trial of
    this round of a phase, and `structures` the number of all trials; `evidence_per_row` the evidence of the full
    process in nats a row, in the targets' own units, once its scales are learned. `origin` (R,), or (R, K): the weights
    at which the sums over all rows are taken, kept so that recomputing them changes no bit. `round` is the number of
    times that functions were chosen on all rows, None where they are given.
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

    The search for the mode starts from the weights. `iteration` counts steps; `objective` is L in nats, minus infinity
    before it is first computed; `is_maximum`: L is at a maximum in alpha and beta; `termination` is None until the fit
    ends. Under a Gaussian process prior alpha are the precisions of the functions without kernel, and `process` has the
    rest. `phase` is that of an algorithm whose objective depends on it, and `best` the best state so far, whose
    objective is that of the last phase. `trace` are the steps so far, at checkpoints alone.
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
    trace: FitTrace | None = None


@dataclass(frozen=True, eq=False)
class Kept:
    """The part of the end of a fit that a model keeps: R functions, each array in their order.

    `mean` (R,), or (R, K), and `covariance` (R, R) of the weights, their prior precisions `alpha` (R,), `gamma` (R,) in
    [0, 1]. `likelihood` with what was learned of it. `signal_variance` is the variance s of the process that the kernel
    functions are part of, None where there is none, and `jitter` what their diagonal had added (None: JITTER);
    `augmentation` is for error bars away from the data where there is no process.
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
    """A state with derived quantities, which are rebuilt and never stored."""

    state: State

    @abstractmethod
    def kept(self, problem: Problem) -> Kept:
        """The part that a model keeps."""

    @abstractmethod
    def log_evidence(self, problem: Problem) -> LogEvidence:
        """The evidence in the targets' own units, in nats."""

    @abstractmethod
    def integral(self, problem: Problem) -> Integral:
        """The evidence with the hyperparameters integrated out: the end of a fit beside those under other priors."""

    @property
    @abstractmethod
    def evidence_per_row(self) -> float | None:
        """Nats a row in the targets' own units, estimated from some rows; None before that is possible."""


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
        """The evidence from the state's objective: that of a rebuilt iterate differs by rounding."""
        likelihood, prior = problem.likelihood, problem.prior
        value = self.state.objective + problem.log_jacobian
        approximate: EvidenceKind = "laplace" if likelihood.is_log_concave else "lower_bound"
        kind = "exact" if likelihood.is_conjugate else approximate
        if not isinstance(prior, Independent):
            return LogEvidence(value, kind)
        alpha, beta = self.state.alpha, self.state.beta
        pays = paid(problem.candidates.size, len(self.state.active)) if prior.price else 0.0
        value += pays - prior.log_hyperprior(alpha, beta)
        return LogEvidence(value, kind, prior.log_density(alpha, beta), pays)

    def integral(self, problem: Problem) -> Integral:
        """The integral over log alpha and log beta, less log C(M, R) for the functions chosen from each dictionary."""
        here, unit = self.evidence, log(problem.square)
        logs = np.append(np.log(here.posterior.alpha), log(here.beta) - USUAL_LOG_BETA) + unit
        learned = np.append(np.ones(len(logs) - 1, np.bool_), len(set(problem.likelihood.start(problem.t))) > 1)
        counts = zip(problem.candidates.dictionaries, problem.candidates.counts(self.state.active), strict=True)
        paid = sum(log_choices(dictionary.size, chosen) for dictionary, chosen in counts)
        peak = Peak(here.value - paid, *normal(logs[learned]), -here.hessian[np.ix_(learned, learned)])
        return Integral(peak.integral)

    @property
    def evidence_per_row(self) -> float | None:
        """None: there is no estimate before the end."""
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


def iterate_at(
    price: Price, factors: Factors, found: Evidence, *, iteration: int, is_maximum: bool = False
) -> EvidenceIterate:
    """The state of some factors and evidence in a phase: its objective is L less the price."""
    iterate = iterate_of(factors, found, iteration=iteration, is_maximum=is_maximum)
    objective = found.value - price.of(len(factors.active))
    return replace(iterate, state=replace(iterate.state, objective=objective, phase=price.phase))


def with_evidence(problem: Problem, now: Iterate) -> EvidenceIterate:
    """Return the iterate itself, or one that is rebuilt from its state."""
    return now if isinstance(now, EvidenceIterate) else rebuild(problem, now.state)


def rebuild(problem: Problem, state: State) -> EvidenceIterate:
    """The iterate of a state, with factors and evidence recomputed from it."""
    factors = build(problem, state.active, state.weights)
    return EvidenceIterate(state, factors, evidence(factors, state.alpha, state.beta, state.weights))
