"""Members of a pool before they are reduced to few functions: processes through as many functions as there are rows."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.algorithms.greedy import ProcessIterate
from relevance_bayes.core.algorithms.phases import BEFORE_TOGETHER
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.algorithms.task import Task, process_of
from relevance_bayes.core.choice import Chosen, choose
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fitting import iterates, learned
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.likelihoods.predictive import Latent, Prediction
from relevance_bayes.core.linalg import cholesky, solve_lower
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import predict
from relevance_bayes.core.priors.gaussian_process import JITTER
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

MIN_JITTER = 1e-8
JITTER_OF_NOISE = 0.01
"""The largest jitter as a share of the noise variance over the signal variance: more would act as noise."""

MIN_GAIN = 0.03
"""The least gain in nats of a member's last function, before functions are left out to save cost."""

CUT_RATIO = 10.0
"""An ordering whose last function gains more than this multiple of MIN_GAIN was cut."""

MAX_FUNCTIONS = 512

MAX_ROWS_FOR_EXACT = 5_000
"""The most rows of an exact process; of more, a member through few functions grows."""

FIRST_WITH_FUNCTIONS = "functions"
"""The phase of a fit in which its scales are learned, and no function is chosen yet."""


@dataclass(frozen=True, eq=False)
class Whole:
    """A member before its reduction: its spec, its problem, and the state at which its scales were learned."""

    spec: Spec
    problem: Problem
    state: State

    @property
    def task(self) -> Task:
        """The problem as a task of the process algorithm."""
        return Task.of(self.problem)

    @property
    def hyperparameters(self) -> Hyperparameters:
        """The learned hyperparameters."""
        return process_of(self.state).hyperparameters

    @property
    def evidence(self) -> LogEvidence:
        """The evidence of the full process."""
        return ProcessIterate(self.state).log_evidence(self.problem)

    def predict(self, X: Array, noise_sd: Array | None = None) -> Prediction:
        """The predictive distribution of the process at X (n, d), given all rows; O(N^3 + N^2 n).

        Exact [RASMUSSEN2006, eqs 2.25 and 2.26] up to MAX_ROWS_FOR_EXACT of them, above through MAX_FUNCTIONS.
        `noise_sd` (n,) where each row has its own. Raises NotPositiveDefiniteError.
        """
        if self.problem.rows > MAX_ROWS_FOR_EXACT:
            ordered = Ordered.of(self)
            return predict(ordered.at_scales(len(ordered.chosen.gains)), X, noise_sd)
        task, h, rows = self.task, self.hyperparameters, self.task.rows(self.state)
        kernel, U, V = h.covariance(task.kernel), h.input_map(rows.X), h.input_map(X)
        F = self.problem.candidates.columns(X, self.state.active[: len(h.alpha)])
        C = h.signal_variance * kernel(U, U) + (rows.F / h.alpha) @ rows.F.T
        C.flat[:: len(C) + 1] += 1.0 / rows.precision(h.beta)
        lower = cholesky(C)
        reached = solve_lower(lower, h.signal_variance * kernel(U, V) + (rows.F / h.alpha) @ F.T)
        mean = reached.T @ solve_lower(lower, rows.t) + self.problem.centre
        variance = np.maximum(h.signal_variance + np.square(F) @ (1.0 / h.alpha) - np.square(reached).sum(axis=0), 0.0)
        likelihood = self.spec.likelihood
        noise = likelihood.noise(self.problem.precision(h.beta)) if noise_sd is None else noise_sd
        return likelihood.predictive(Latent(mean, variance, np.zeros(len(X))), noise)


def whole(problem: Problem, spec: Spec, fit_log: FitLog) -> Iterator[Whole]:
    """The states of a fit until its scales are learned: the last is the member. Raises NotPositiveDefiniteError."""
    for now in fit_log.iterates(problem, spec):
        yield Whole(spec, problem, now.state)
        if process_of(now.state).phase == FIRST_WITH_FUNCTIONS:
            return


def jitter(h: Hyperparameters) -> float:
    """The jitter on the diagonal of the kernel matrix of few functions: less than the noise, where that is little."""
    return min(JITTER, max(MIN_JITTER, JITTER_OF_NOISE / (h.beta * h.signal_variance)))


@dataclass(frozen=True, eq=False)
class Ordered:
    """A member's functions in the order of their gains, on so many `rows`."""

    whole: Whole
    chosen: Chosen
    rows: int

    @classmethod
    def of(cls, member: Whole) -> "Ordered":
        """The ordering of all functions that gain MIN_GAIN, at most MAX_FUNCTIONS."""
        task, h = member.task, member.hyperparameters
        places, rows = task.rows_for_functions(member.state)
        U = h.input_map(rows.X)
        chosen = choose(
            h.covariance(task.kernel)(U, U[: len(places)]),
            signal_variance=h.signal_variance,
            gradient=rows.precision(h.beta) * rows.t,
            precision=np.array(np.broadcast_to(rows.precision(h.beta), len(rows.t))),
            fixed=rows.F,
            alpha=h.alpha,
            min_gain=MIN_GAIN,
            max_functions=MAX_FUNCTIONS,
            residue=min(1e-6, jitter(h)),
        )
        return cls(member, replace(chosen, places=places[chosen.places]), len(rows.t))

    @property
    def is_cut(self) -> bool:
        """True where MAX_FUNCTIONS or rounding ended the order while functions gained much more than MIN_GAIN."""
        gains = self.chosen.gains
        return 0 < len(gains) < self.rows and bool(gains[-1] > CUT_RATIO * MIN_GAIN)

    def worth(self, gain: float) -> int:
        """The number of functions before the first that gains less than `gain` nats."""
        below = np.flatnonzero(self.chosen.gains < gain)
        return int(below[0]) if len(below) else len(self.chosen.places)

    @property
    def grows(self) -> bool:
        """True where the order is of a part of many rows, and functions may be added by their gains on all rows."""
        return self.whole.task.grows and self.whole.problem.rows > MAX_ROWS_FOR_EXACT

    def growing(self, max_functions: int) -> Problem:
        """The problem of a fit that adds functions by the likelihood's least gain, up to `max_functions`."""
        prior = replace(self.whole.task.prior, min_gain=None, max_functions=max_functions)
        return replace(self.whole.problem, prior=prior)

    def through(self, functions: int, jitter: float, *, grows: bool = False) -> State:
        """The state from which a fit through the first functions continues with its noise, then with all
        hyperparameters, and then adds functions where it `grows`."""
        process = process_of(self.whole.state)
        gains = self.chosen.gains
        found = replace(
            process,
            phase="noise",
            round=BEFORE_TOGETHER if grows else None,
            hyperparameters=replace(process.hyperparameters, jitter=jitter),
            last_gain=float(gains[functions - 1]) if functions else None,
            next_gain=float(gains[functions]) if functions < len(gains) else self.chosen.next_gain,
        )
        numbers = (int(self.whole.task.first + place) for place in self.chosen.places[:functions])
        return replace(self.whole.state, active=(*self.whole.state.active, *numbers), process=found)

    def at_scales(self, functions: int) -> Model:
        """The model through the first functions at the member's scales: only noise and precisions are learned again.

        Raises NotPositiveDefiniteError.
        """
        problem, spec = self.whole.problem, self.whole.spec
        for now in iterates(problem, spec, self.through(functions, jitter(self.whole.hyperparameters))):
            if process_of(now.state).phase in {"vectors", "together"}:
                break
        rows = replace(now.state, process=replace(process_of(now.state), phase="rows", moved=None))
        (last,) = deque(iterates(problem, spec, rows), maxlen=1)
        return learned(problem, last)
