"""The nats that functions pay for having been chosen among many candidates."""

from math import ceil, exp, log

from relevance_bayes.core.integrated import log_choices

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
