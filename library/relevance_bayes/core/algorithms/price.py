"""The price of choice: what R functions pay for having been chosen among M candidates, phase by phase."""

from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from relevance_bayes.core.algorithms.choice_price import paid, paid_by_next
from relevance_bayes.core.algorithms.state import EvidenceIterate, iterate_of
from relevance_bayes.core.evidence import Evidence
from relevance_bayes.core.factors import Factors
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.problem import Problem

FORWARD: Literal["forward"] = "forward"
"""Functions enter, are optimised and leave at half the price: at the whole one the phase gets stuck ..."""

ALONE = "alone "
"""The same among one kind of functions, whose number follows."""

AGAIN: Literal["again"] = "again"
"""The same among all, from the best that was found alone."""

BACKWARD: Literal["backward"] = "backward"
"""... and then are optimised and leave at the whole price, and none enters: the two mixed would cycle [THEORY 7]."""


@dataclass(frozen=True)
class Price:
    """The objective is L less what the R functions in the model pay, one after the other, M the `candidates`.

    The one that comes to r others pays share * log((M - r)/(r + 1)), which is share * log C(M, R) for all together, but
    MIN_PRICE where that is more. `adding`: whether functions may enter.
    """

    candidates: int
    share: float
    phase: str | None = None
    adding: bool = True

    def of(self, chosen: int) -> float:
        """The price of R functions, in nats."""
        return paid(self.candidates, chosen, self.share) if self.share else 0.0

    def entry(self, chosen: int) -> float:
        """The price of one more where R are in; infinite where all are in."""
        if not self.share:
            return 0.0
        return paid_by_next(self.candidates, chosen, self.share) if chosen < self.candidates else inf

    def refund(self, chosen: int) -> float:
        """The price that one of R gets back by leaving: that of entering again."""
        return self.entry(chosen - 1)

    def iterate(
        self, factors: Factors, found: Evidence, *, iteration: int, is_maximum: bool = False
    ) -> EvidenceIterate:
        """The state of some factors and evidence, with its phase and the objective of that phase."""
        iterate = iterate_of(factors, found, iteration=iteration, is_maximum=is_maximum)
        objective = found.value - self.of(len(factors.active))
        return replace(iterate, state=replace(iterate.state, objective=objective, phase=self.phase))


FREE = Price(0, 0.0)
"""Nothing is paid: the objective is L."""


def first_phase(problem: Problem) -> str | None:
    """Where a fit begins; None where nothing is paid."""
    return FORWARD if isinstance(problem.prior, Independent) and problem.prior.price else None


def price_in(problem: Problem, phase: str | None) -> Price:
    """The price in a phase. All functions count as candidates, those without kernel too."""
    match phase:
        case None:
            return FREE
        case "backward":
            return Price(problem.candidates.size, 1.0, phase, adding=False)
        case _:
            return Price(problem.candidates.size, 0.5, phase)
