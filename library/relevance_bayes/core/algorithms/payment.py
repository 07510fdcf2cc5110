"""The nats that functions pay for having been chosen among many candidates."""

from math import ceil, exp, log

from relevance_bayes.core.integrated import log_choices

LEAST = 1.0
"""Nats that a function pays at least. A precision learned from one weight raises L by .64 nats in the mean where the
weight is noise: of as many candidates as rows (512 waves, N = 512) all came in, once half of them were and log C fell,
and nothing was left for the noise. From about .8 nats on they don't."""


def paid(candidates: int, chosen: int, share: float = 1.0) -> float:
    """What `chosen` of M `candidates` pay, one after the other, in nats.

    The one that comes to r others pays share * log((M - r)/(r + 1)), which is share * log C(M, R) for all together, but
    LEAST where that is more.
    """
    few = min(chosen, by_choice(candidates, share))
    return share * log_choices(candidates, few) + LEAST * (chosen - few)


def paid_by_next(candidates: int, chosen: int, share: float = 1.0) -> float:
    """What one more pays where fewer than all are in."""
    return max(share * log((candidates - chosen) / (chosen + 1.0)), LEAST)


def by_choice(candidates: int, share: float) -> int:
    """How many of the first pay more than LEAST: those with (M - r)/(r + 1) above e^(LEAST/share)."""
    odds = exp(LEAST / share)
    return max(ceil((candidates - odds) / (1.0 + odds)), 0)
