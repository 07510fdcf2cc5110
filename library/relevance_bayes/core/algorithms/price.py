"""The price of choice: the nats of R functions for having been chosen among M candidates, by phase."""

from dataclasses import dataclass
from math import ceil, exp, inf, log
from typing import Literal

from relevance_bayes.core.integrated import log_choices
from relevance_bayes.core.priors import Independent
from relevance_bayes.core.problem import Problem

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
