"""Where an algorithm stands: small, immutable, and all that is needed to go on."""

from dataclasses import dataclass
from enum import StrEnum

from app.sparse_bayes.evidence import Evidence, evidence
from app.sparse_bayes.factors import Factors, build
from app.sparse_bayes.problem import Problem
from app.sparse_bayes.types import Array


class Termination(StrEnum):
    """Why a fit ended. Not converging is a value, not an error."""

    CONVERGED = "converged"
    NOISE_FLOOR = "noise_floor"
    MAX_ITERATIONS = "max_iterations"


@dataclass(frozen=True, eq=False)
class State:
    """The functions in the model (candidates' numbers), their alpha (R,) and weights (R,), and the noise precision.

    The mode is looked for from the weights. `iteration` counts steps; `objective` is L in nats; `at_rest`: L is at a
    maximum in alpha and beta, not only on the way there; `termination` is None while there is more to do.
    """

    active: tuple[int, ...]
    alpha: Array
    beta: float
    weights: Array
    iteration: int
    objective: float
    at_rest: bool = False
    termination: Termination | None = None


@dataclass(frozen=True, eq=False)
class Standing:
    """A state with what belongs to it but is rebuilt, never stored: its factors and its evidence."""

    state: State
    factors: Factors
    evidence: Evidence


def standing(
    factors: Factors, found: Evidence, *, iteration: int, at_rest: bool = False, termination: Termination | None = None
) -> Standing:
    """The state of some factors and evidence."""
    rested = found.posterior
    state = State(factors.active, rested.alpha, found.beta, rested.mean, iteration, found.value, at_rest, termination)
    return Standing(state, factors, found)


def stand(problem: Problem, state: State) -> Standing:
    """Factors and evidence of a state, made from nothing but the state."""
    factors = build(problem, state.active, state.weights)
    return Standing(state, factors, evidence(factors, state.alpha, state.beta, state.weights))
