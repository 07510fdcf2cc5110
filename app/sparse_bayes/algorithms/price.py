"""The price of choice: what R functions pay for having been chosen among M candidates, phase by phase."""

from dataclasses import dataclass, replace
from math import inf, log
from typing import Literal

from app.sparse_bayes.algorithms.state import Walk, standing
from app.sparse_bayes.evidence import Evidence
from app.sparse_bayes.factors import Factors
from app.sparse_bayes.integrated import log_choices
from app.sparse_bayes.priors import Independent
from app.sparse_bayes.problem import Problem

FORWARD: Literal["forward"] = "forward"
"""Functions enter, climb and leave at half the price: at the whole one the phase gets stuck ..."""

BACKWARD: Literal["backward"] = "backward"
"""... and then climb and leave at the whole price, and none enters: the two mixed would cycle [SPARSE_GP 7]."""


@dataclass(frozen=True)
class Price:
    """The objective is L - share * log C(M, R), M the `candidates`. `adding`: whether functions may enter."""

    candidates: int
    share: float
    phase: str | None = None
    adding: bool = True

    def of(self, chosen: int) -> float:
        """What R functions pay, in nats."""
        return self.share * log_choices(self.candidates, chosen) if self.share else 0.0

    def entry(self, chosen: int) -> float:
        """What one more pays where R are in: share * log((M - R)/(R + 1)); infinite where all are in."""
        if not self.share:
            return 0.0
        left = self.candidates - chosen
        return self.share * log(left / (chosen + 1.0)) if left else inf

    def refund(self, chosen: int) -> float:
        """What one of R gets back by leaving: share * log((M - R + 1)/R). Below zero for R above (M + 1)/2."""
        return self.share * log((self.candidates - chosen + 1.0) / chosen) if self.share else 0.0

    def standing(self, factors: Factors, found: Evidence, *, iteration: int, at_rest: bool = False) -> Walk:
        """The state of some factors and evidence, with its phase and the objective of that phase."""
        walk = standing(factors, found, iteration=iteration, at_rest=at_rest)
        objective = found.value - self.of(len(factors.active))
        return replace(walk, state=replace(walk.state, objective=objective, phase=self.phase))


FREE = Price(0, 0.0)
"""Nothing is paid: the objective is L."""


def first_phase(problem: Problem) -> str | None:
    """Where a fit begins; None where nothing is paid."""
    return FORWARD if isinstance(problem.prior, Independent) and problem.prior.price else None


def price_in(problem: Problem, phase: str | None) -> Price:
    """What is paid in a phase. All functions count as candidates, those without kernel too."""
    match phase:
        case None:
            return FREE
        case "forward":
            return Price(problem.candidates.size, 0.5, FORWARD)
        case _:
            return Price(problem.candidates.size, 1.0, BACKWARD, adding=False)
