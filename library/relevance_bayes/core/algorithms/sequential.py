"""Sequential sparse Bayesian learning: functions enter and leave, one after the other."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.algorithms import inner, single
from relevance_bayes.core.algorithms.ascent import end_of
from relevance_bayes.core.algorithms.forward import is_abandoned, next_phase, problem_of, with_best
from relevance_bayes.core.algorithms.price import BACKWARD, ONE_KIND, first_phase, price_in
from relevance_bayes.core.algorithms.state import EvidenceIterate, Iterate, State, Termination, iterate_at, rebuild
from relevance_bayes.core.evidence import evidence
from relevance_bayes.core.factors import build
from relevance_bayes.core.problem import Problem

Ascent = Literal["inner", "single"]

MOVES = {"inner": inner.step, "single": single.step}

MAX_STEPS_PER_ROW: dict[Ascent, int] = {"inner": 3, "single": 100}
"""Steps per row at which a fit ends with MAX_ITERATIONS."""

MIN_ROWS = 100
"""The least number of rows that MAX_STEPS_PER_ROW is multiplied by."""


@dataclass(frozen=True)
class Sequential:
    """Start from an empty model, add the function of the greatest gain, optimise, and repeat [FAUL2002].

    `ascent`: all hyperparameters of the model are optimised after each addition, or each step is a `single` move, as in
    the papers. The objective is L, or under the price of choice L - 1/2 log C(M, R) in the forward phases and, from the
    best of them, L - log C(M, R), at least a nat for each function. It never falls: a move is made only where it rises.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = True
    """True where a step goes over all rows and candidates."""

    ascent: Ascent = "inner"
    type: Literal["sequential"] = "sequential"

    def init(self, problem: Problem) -> EvidenceIterate:
        """An empty model."""
        return _begun(problem, first_phase(problem), iteration=0)

    def rebuild(self, problem: Problem, state: State) -> EvidenceIterate:
        """The iterate of a state, with its factors and evidence recomputed."""
        return rebuild(problem_of(problem, state.phase), state)

    def step(self, problem: Problem, now: Iterate) -> EvidenceIterate:
        """A move of this ascent; where none raises the objective the next phase, or the end."""
        now = now if isinstance(now, EvidenceIterate) else self.rebuild(problem, now.state)
        if now.state.iteration >= max(problem.rows, MIN_ROWS) * MAX_STEPS_PER_ROW[self.ascent]:
            last = now if now.state.phase in {None, BACKWARD} else _next(problem, now, BACKWARD)
            return _ended(last, Termination.MAX_ITERATIONS)
        phase = now.state.phase
        forward = phase not in {None, BACKWARD}
        moved = None if forward and is_abandoned(problem, now) else MOVES[self.ascent](now, price_in(problem, phase))
        if moved is not None:
            return with_best(problem, moved, now.state.best) if forward else moved
        return (
            _next(problem, now, next_phase(problem, now.state))
            if forward
            else _ended(now, end_of(problem, now.evidence))
        )


def _begun(problem: Problem, phase: str | None, *, iteration: int, best: State | None = None) -> EvidenceIterate:
    """An empty model, among the candidates of a phase."""
    candidates_of_phase = problem_of(problem, phase)
    beta, _ = problem.likelihood.start(problem.t)
    none = problem.unweighted(0)
    factors = build(candidates_of_phase, (), none)
    found = evidence(factors, np.empty(0), beta, none)
    begun = iterate_at(price_in(problem, phase), factors, found, iteration=iteration)
    return begun if phase is None else with_best(problem, begun, best)


def _next(problem: Problem, now: EvidenceIterate, phase: str) -> EvidenceIterate:
    """The start of a phase: an empty model, or the best so far."""
    iteration, best = now.state.iteration + 1, now.state.best
    if best is None or phase.startswith(ONE_KIND):
        return _begun(problem, phase, iteration=iteration, best=best)
    there = rebuild(problem, best)
    begun = iterate_at(price_in(problem, phase), there.factors, there.evidence, iteration=iteration)
    return begun if phase == BACKWARD else with_best(problem, begun, best)


def _ended(now: EvidenceIterate, why: Termination) -> EvidenceIterate:
    return replace(now, state=replace(now.state, termination=why))
