"""The states of an algorithm with the trace of its steps, and the price of the choice among candidates."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, exp, inf, log
from typing import Literal

import numpy as np

from relevance_bayes.core.basis import Functions
from relevance_bayes.core.inference.evidence import (
    USUAL_LOG_BETA,
    EvaluatedEvidence,
    Integral,
    Peak,
    evidence,
    log_choices,
    normal,
)
from relevance_bayes.core.inference.factors import Factors, build
from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods import Likelihood
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.records.reports import Evidence, EvidenceKind

MAX_STEPS = 500
"""The number of steps that a trace keeps: every one, then every second, fourth and so on, and always the last."""


TRACE_COLUMNS = 9
"""The numbers of a step in a trace."""


@dataclass(frozen=True)
class FitStep:
    """One step of a fit, in the units of t.

    `objective` is what the fit maximises in this `phase`, in nats, NaN before it is first computed, and `gain` its rise
    by this step, NaN at the beginning of a phase. It never falls within a phase, unless a process learns its scales
    from more rows than it was started on. `noise_sd` is NaN where the likelihood has none. `entered` and `left` are the
    training rows of the function that entered and of the one that left: NaN without one, with several, and for a
    function that has no row.
    """

    phase: str
    iteration: int
    objective: float
    gain: float
    noise_sd: float
    functions: int
    entered: float
    left: float


@dataclass(frozen=True, eq=False)
class FitTrace:
    """The steps (m, 9) whose number is a multiple of `stride`, and the last, of all `steps`.

    The columns are the number of the step, the index of its phase in `phases`, then the other members of `FitStep`.
    """

    steps: int
    stride: int
    phases: tuple[str, ...]
    numbers: Array

    def each(self) -> tuple[FitStep, ...]:
        """The steps that were kept."""
        return tuple(
            FitStep(self.phases[int(phase)], int(iteration), objective, gain, noise_sd, int(functions), *rows)
            for _, phase, iteration, objective, gain, noise_sd, functions, *rows in self.numbers.tolist()
        )

    def renumbered(self, numbers: Indices) -> "FitTrace":
        """The trace of a fit to some rows with the numbers (n,) that these have among all rows."""
        steps = self.numbers.copy()
        rows = steps[:, -2:]  # entered and left
        known = np.isfinite(rows)
        rows[known] = numbers[rows[known].astype(np.intp)]
        return replace(self, numbers=steps)


class FitTracer:
    """The trace of a fit that goes on, from that of its last checkpoint."""

    def __init__(self, begun: FitTrace | None = None) -> None:
        self._steps, self._stride = (0, 1) if begun is None else (begun.steps, begun.stride)
        self._phases = [] if begun is None else list(begun.phases)
        self._numbers = np.empty((MAX_STEPS + 1, TRACE_COLUMNS))
        self._kept = 0 if begun is None else len(begun.numbers)
        if begun is not None:
            self._numbers[: self._kept] = begun.numbers
        self.iteration = int(self._numbers[self._kept - 1, 2]) if self._kept else -1
        """The iteration of the last step, -1 before the first."""
        self.phase = self._phases[int(self._numbers[self._kept - 1, 1])] if self._kept else None
        """The phase of the last step, None before the first."""

    def add(
        self,
        phase: str,
        iteration: int,
        objective: float,
        gain: float,
        noise_sd: float,
        functions: int,
        *,
        entered: float,
        left: float,
    ) -> None:
        """Add the next step, with the members of `FitStep`; where there are too many, leave out every second one."""
        if self._steps and (self._steps - 1) % self._stride:
            self._kept -= 1
        if phase != self.phase and phase not in self._phases:
            self._phases.append(phase)
        place = self._phases.index(phase)
        step = (self._steps, place, iteration, objective, gain, noise_sd, functions, entered, left)
        self._numbers[self._kept] = step
        self._steps, self._kept, self.iteration, self.phase = self._steps + 1, self._kept + 1, iteration, phase
        if self._kept > MAX_STEPS:
            self._stride *= 2
            stays = self._numbers[:, 0] % self._stride == 0.0
            stays[-1] = True
            self._kept = int(stays.sum())
            self._numbers[: self._kept] = self._numbers[stays]

    @property
    def trace(self) -> FitTrace:
        """The trace so far."""
        return FitTrace(self._steps, self._stride, tuple(self._phases), self._numbers[: self._kept].copy())


FORWARD: Literal["forward"] = "forward"
"""Functions enter, are optimised and are pruned at half the price: at the whole price too few enter ..."""

ONE_KIND = "alone "
"""The same among one kind of functions, whose number is the suffix."""

AGAIN: Literal["again"] = "again"
"""The same among all, from the best model of one kind."""

BACKWARD: Literal["backward"] = "backward"
"""... and then are optimised and pruned at the whole price, and none enters: both at one price would cycle [THEORY
7]."""


MIN_PRICE = 1.0
"""Nats that a function pays at least. A precision learned from one weight raises L by .64 nats in the mean where the
weight is noise: of as many candidates as rows (512 waves, N = 512) all came in, once half of them were and log C fell,
and nothing was left for the noise. From about .8 nats on they don't."""


def paid(candidates: int, chosen: int, share: float = 1.0) -> float:
    """The price of `chosen` of M `candidates`, one after the other, in nats.

    The one that comes to r others pays share * log((M - r)/(r + 1)), which is share * log C(M, R) for all together, but
    MIN_PRICE where that is more.
    """
    few = min(chosen, by_choice(candidates, share))
    return share * log_choices(candidates, few) + MIN_PRICE * (chosen - few)


def paid_by_next(candidates: int, chosen: int, share: float = 1.0) -> float:
    """The price of one more where fewer than all are in."""
    return max(share * log((candidates - chosen) / (chosen + 1.0)), MIN_PRICE)


def by_choice(candidates: int, share: float) -> int:
    """The number of the first that pay more than MIN_PRICE: those with (M - r)/(r + 1) above e^(MIN_PRICE/share)."""
    odds = exp(MIN_PRICE / share)
    return max(ceil((candidates - odds) / (1.0 + odds)), 0)


@dataclass(frozen=True)
class Price:
    """The objective is L less the price of the R functions in the model, M the `candidates`.

    The price of one more beside r others is share * log((M - r)/(r + 1)), which is share * log C(M, R) for all
    together, but MIN_PRICE where that is more. `is_adding`: whether functions may enter.
    """

    candidates: int
    share: float
    phase: str | None = None
    is_adding: bool = True

    def of(self, chosen: int) -> float:
        """The price of R functions, in nats."""
        return paid(self.candidates, chosen, self.share) if self.share else 0.0

    def entry(self, chosen: int) -> float:
        """The price of one more beside R; infinite where all candidates are in the model."""
        if not self.share:
            return 0.0
        return paid_by_next(self.candidates, chosen, self.share) if chosen < self.candidates else inf

    def refund(self, chosen: int) -> float:
        """The price saved by pruning one of R: that of entering again."""
        return self.entry(chosen - 1)


FREE = Price(0, 0.0)
"""No price: the objective is L."""


def first_phase(problem: Problem) -> str | None:
    """The phase in which a fit begins; None without a price."""
    return FORWARD if isinstance(problem.prior, Independent) and problem.prior.price else None


def price_in(problem: Problem, phase: str | None) -> Price:
    """The price in a phase. All functions count as candidates, those without kernel included."""
    match phase:
        case None:
            return FREE
        case "backward":
            return Price(problem.candidates.size, 1.0, phase, is_adding=False)
        case _:
            return Price(problem.candidates.size, 0.5, phase)


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
    times that functions were chosen on all rows, None where they are given. `start` is the number of the start that the
    scales were learned from, None where it was another.
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
    start: int | None = None


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
class KeptFunctions:
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
    def kept(self, problem: Problem) -> KeptFunctions:
        """The part that a model keeps."""

    @abstractmethod
    def log_evidence(self, problem: Problem) -> Evidence:
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
    evidence: EvaluatedEvidence

    def kept(self, problem: Problem) -> KeptFunctions:
        """The functions in the model, by dictionary."""
        posterior = self.evidence.posterior
        functions, order = problem.candidates.take(self.state.active)
        covariance = posterior.covariance[np.ix_(order, order)]
        tuned = self.factors.tuned(posterior, self.evidence.beta)
        alpha, gamma = posterior.alpha[order], posterior.determined[order]
        augmentation = Augmentation.of(problem, functions)
        return KeptFunctions(
            functions, posterior.mean[order], covariance, alpha, gamma, tuned, augmentation=augmentation
        )

    def log_evidence(self, problem: Problem) -> Evidence:
        """The evidence from the state's objective: that of a rebuilt iterate differs by rounding."""
        likelihood, prior = problem.likelihood, problem.prior
        value = self.state.objective + problem.log_jacobian
        approximate: EvidenceKind = "laplace" if likelihood.is_log_concave else "lower_bound"
        kind = "exact" if likelihood.is_conjugate else approximate
        if not isinstance(prior, Independent):
            return Evidence(value, kind, 0.0, 0.0)
        alpha, beta = self.state.alpha, self.state.beta
        pays = paid(problem.candidates.size, len(self.state.active)) if prior.price else 0.0
        value += pays - prior.log_hyperprior(alpha, beta)
        return Evidence(value, kind, prior.log_density(alpha, beta), pays)

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
    found: EvaluatedEvidence,
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
    price: Price, factors: Factors, found: EvaluatedEvidence, *, iteration: int, is_maximum: bool = False
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
