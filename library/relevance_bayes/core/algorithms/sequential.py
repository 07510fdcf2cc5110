"""Sequential sparse Bayesian learning: functions enter and leave, one after the other."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from relevance_bayes.core.algorithms import inner, single
from relevance_bayes.core.algorithms.ascent import end_of
from relevance_bayes.core.algorithms.forward import after, hopeless, remembering, seen
from relevance_bayes.core.algorithms.price import ALONE, BACKWARD, first_phase, price_in
from relevance_bayes.core.algorithms.state import EvidenceIterate, Iterate, State, Termination, rebuild
from relevance_bayes.core.evidence import evidence
from relevance_bayes.core.factors import build
from relevance_bayes.core.problem import Problem

Ascent = Literal["inner", "single"]

MOVES = {"inner": inner.step, "single": single.step}

MAX_STEPS_PER_ROW: dict[Ascent, int] = {"inner": 3, "single": 100}
"""Functions come and go, but seldom so often: the end is MAX_ITERATIONS then."""

MIN_ROWS = 100
"""Fewer rows are counted as so many."""


@dataclass(frozen=True)
class Sequential:
    """Start from nothing, add the function that gains most, let what is in climb, look again [FAUL2002].

    `ascent`: all that is in climbs between two looks, or a `single` move a step, the papers' way, for study. The
    objective is L, or under the price of choice L - 1/2 log C(M, R) on the ways forward and, from the best met on them,
    L - log C(M, R), each function paying a nat at least. It never falls: a move is made only where it rises.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = True
    """True where a step goes over all rows and candidates."""

    ascent: Ascent = "inner"
    type: Literal["sequential"] = "sequential"

    def init(self, problem: Problem) -> EvidenceIterate:
        """Nothing in the model."""
        return _begun(problem, first_phase(problem), iteration=0)

    def rebuild(self, problem: Problem, state: State) -> EvidenceIterate:
        """A state with its factors and its evidence, made anew."""
        return rebuild(seen(problem, state.phase), state)

    def step(self, problem: Problem, now: Iterate) -> EvidenceIterate:
        """A move of this ascent; where none is left the next phase, or the end."""
        now = now if isinstance(now, EvidenceIterate) else self.rebuild(problem, now.state)
        if now.state.iteration >= max(problem.rows, MIN_ROWS) * MAX_STEPS_PER_ROW[self.ascent]:
            last = now if now.state.phase in {None, BACKWARD} else _next(problem, now, BACKWARD)
            return _ended(last, Termination.MAX_ITERATIONS)
        phase = now.state.phase
        forward = phase not in {None, BACKWARD}
        moved = None if forward and hopeless(problem, now) else MOVES[self.ascent](now, price_in(problem, phase))
        if moved is not None:
            return remembering(problem, moved, now.state.best) if forward else moved
        return _next(problem, now, after(problem, now.state)) if forward else _ended(now, end_of(problem, now.evidence))


def _begun(problem: Problem, phase: str | None, *, iteration: int, best: State | None = None) -> EvidenceIterate:
    """Nothing in the model, among the candidates of a phase."""
    problem_seen = seen(problem, phase)
    beta, _ = problem.likelihood.start(problem.t)
    none = problem.unweighted(0)
    factors = build(problem_seen, (), none)
    found = evidence(factors, np.empty(0), beta, none)
    begun = price_in(problem, phase).iterate(factors, found, iteration=iteration)
    return begun if phase is None else remembering(problem, begun, best)


def _next(problem: Problem, now: EvidenceIterate, phase: str) -> EvidenceIterate:
    """Where a phase begins: with nothing, or with the best so far."""
    iteration, best = now.state.iteration + 1, now.state.best
    if best is None or phase.startswith(ALONE):
        return _begun(problem, phase, iteration=iteration, best=best)
    there = rebuild(problem, best)
    begun = price_in(problem, phase).iterate(there.factors, there.evidence, iteration=iteration)
    return begun if phase == BACKWARD else remembering(problem, begun, best)


def _ended(now: EvidenceIterate, why: Termination) -> EvidenceIterate:
    return replace(now, state=replace(now.state, termination=why))
