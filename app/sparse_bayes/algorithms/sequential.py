"""Sequential sparse Bayesian learning: functions enter and leave, one after the other."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.sparse_bayes.algorithms import inner, single
from app.sparse_bayes.algorithms.ascent import end_of
from app.sparse_bayes.algorithms.price import BACKWARD, FORWARD, first_phase, price_in
from app.sparse_bayes.algorithms.state import Standing, State, Termination, Walk, stand, walking
from app.sparse_bayes.evidence import evidence
from app.sparse_bayes.factors import build
from app.sparse_bayes.problem import Problem

Ascent = Literal["inner", "single"]

MOVES = {"inner": inner.step, "single": single.step}

MOST_STEPS_PER_ROW: dict[Ascent, int] = {"inner": 3, "single": 100}
"""Functions come and go, but seldom so often: the end is MAX_ITERATIONS then."""

FEWEST_ROWS = 100
"""Fewer rows are counted as so many."""


@dataclass(frozen=True)
class Sequential:
    """Start from nothing, add the function that gains most, let what is in climb, look again [FAUL2002].

    `ascent`: all that is in climbs between two looks, or a `single` move a step, the papers' way, for study. The
    objective is L, or under the price of choice L - 1/2 log C(M, R) and, once that rests, L - log C(M, R). It never
    falls: a move is made only where it rises.
    """

    __pydantic_config__ = {"extra": "forbid"}

    ascent: Ascent = "inner"
    type: Literal["sequential"] = "sequential"

    def init(self, problem: Problem) -> Walk:
        """Nothing in the model."""
        beta, _ = problem.likelihood.start(problem.t)
        empty = np.empty(0)
        factors = build(problem, (), empty)
        price = price_in(problem, first_phase(problem))
        return price.standing(factors, evidence(factors, empty, beta, empty), iteration=0)

    def stand(self, problem: Problem, state: State) -> Walk:
        """A state with its factors and its evidence, made anew."""
        return stand(problem, state)

    def step(self, problem: Problem, now: Standing) -> Walk:
        """A move of this ascent; where none is left the next phase, or the end."""
        now = walking(problem, now)
        if now.state.iteration >= max(problem.rows, FEWEST_ROWS) * MOST_STEPS_PER_ROW[self.ascent]:
            return _ended(problem, now, Termination.MAX_ITERATIONS)
        moved = MOVES[self.ascent](now, price_in(problem, now.state.phase))
        if moved is not None:
            return moved
        if now.state.phase == FORWARD:
            return _backward(problem, now)
        return _ended(problem, now, end_of(problem, now.evidence))


def _backward(problem: Problem, now: Walk) -> Walk:
    """The same functions under the whole price."""
    whole = price_in(problem, BACKWARD)
    return whole.standing(now.factors, now.evidence, iteration=now.state.iteration + 1)


def _ended(problem: Problem, now: Walk, why: Termination) -> Walk:
    """What is reported is L - log C(M, R), even where the end came before the second phase."""
    last = _backward(problem, now).state if now.state.phase == FORWARD else now.state
    return replace(now, state=replace(last, iteration=now.state.iteration, termination=why))
