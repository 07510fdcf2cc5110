"""The inner ascent: one function enters, then all hyperparameters are optimised, before candidates are evaluated again.

What enters, at which precision, is as in [FAUL2002]; the joint ascent in the place of its single moves is not.
"""

import numpy as np

from relevance_bayes.core.algorithms.ascent import ROUNDING, maximise
from relevance_bayes.core.algorithms.price import Price
from relevance_bayes.core.algorithms.state import EvidenceIterate
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.evidence import Evidence, evidence, gain, mean_square
from relevance_bayes.core.factors import SPAN, CandidateStatistics, Factors
from relevance_bayes.core.posterior import with_zero
from relevance_bayes.core.types import Indices

MIN_GAIN = 1e-2
"""Nats that a function must bring to enter: what is below is rounding, or a near copy of a function already in."""

ASCENT_SHARE = 0.1
"""Between evaluations of candidates the ascent stops where it predicts less than this share of what the last function
brought ..."""

ASCENT_TOLERANCE = 1e-3
"""... or less than this, in nats, ..."""

END_TOLERANCE = 1e-11
"""... and at the end at this."""

MAX_TRIED = 8
"""Candidates tried at a time, and ..."""

LARGER_ALPHAS = (1.0, 4.0, 16.0)
"""... multiples of alpha tried for each, where the gain is only an estimate (Laplace)."""

MAX_ACTIVE = 6
"""Where each function that is let in takes a search for the mode: only where fewer are in the model at a maximum,
..."""

PURSUED = {True: 16, False: 8}
"""... so many are let in together, whether precisions are constant (True) or not, ..."""

AMPLE = {True: 10.0, False: 3.0}
"""... each with a prior sd of so many times the targets' root mean square, since they cancel, ..."""

MAX_LOSS = 20.0
"""... as long as L does not fall so many nats behind, which no ascent makes up for, ..."""

MIN_TOTAL_GAIN = 1.0
"""... and they stay where after the ascent they gain so many.

Gaussian noise, Friedman 1 at .82 diameters: error 5.95 with 9 functions without, 3.40 with 35; 4.06 with 29 where 8
were let in. A fit of 20 to 100 ms takes 10 to 70 more. Two classes gain
beyond MAX_ACTIVE nothing, and three take 2.5 times as long where 16 are let in."""


def step(now: EvidenceIterate, price: Price) -> EvidenceIterate | None:
    """Add the best of all candidates and maximise; where none gains maximise to the end, and evaluate once more.

    None where nothing is left to do.
    """
    iteration = now.state.iteration + 1
    entered = _enter(now, price) if price.adding else None
    if entered is not None:
        gained = entered[1].value - now.evidence.value - price.entry(len(now.state.active))
        tolerance = max(ASCENT_SHARE * gained, ASCENT_TOLERANCE)
        return _maximise(*entered, price=price, iteration=iteration, tolerance=tolerance)
    if not now.state.is_maximum:
        return _maximise(now.factors, now.evidence, price=price, iteration=iteration, tolerance=END_TOLERANCE)
    try:
        return _pursue(now, price, iteration) if price.adding else None
    except NotPositiveDefiniteError:  # so much alike that rounding decides: what is in the model stays
        return None


def _maximise(factors: Factors, found: Evidence, *, price: Price, iteration: int, tolerance: float) -> EvidenceIterate:
    maximum = maximise(factors, found, tolerance=tolerance, price=price)
    is_maximum = tolerance == END_TOLERANCE
    return price.iterate(maximum.factors, maximum.evidence, iteration=iteration, is_maximum=is_maximum)


def _enter(now: EvidenceIterate, price: Price) -> tuple[Factors, Evidence] | None:
    """The best candidate let in, at the alpha that is best for it alone; None when none gains enough."""
    here = now.evidence
    entry = price.entry(len(now.factors.active))
    seen = now.factors.candidate_statistics(here.posterior, here.beta)
    squares = mean_square(seen.Q)
    for number in _promising(seen, now.factors.active, entry):
        if now.factors.spanned(int(number)):  # else a copy gains what its original still has to, then both stay
            continue
        more = now.factors.added(int(number), here.posterior.mean)
        alpha = seen.S[number] ** 2 / (squares[number] - seen.S[number])
        for larger in LARGER_ALPHAS:
            alphas = np.append(here.posterior.alpha, larger * alpha)
            there = evidence(more, alphas, here.beta, with_zero(here.posterior.mean))
            if there.value - entry > here.value + ROUNDING * (1.0 + abs(here.value)):
                return more, there
    return None


def _pursue(now: EvidenceIterate, price: Price, iteration: int) -> EvidenceIterate | None:
    """Several functions let in together, then the ascent; None where it doesn't raise the objective by MIN_TOTAL_GAIN.

    Functions of a wide kernel are so much alike that none gains alone what two of opposite sign gain together, and no
    statistic shows it [THEORY 4]. Each time the one with the greatest q^2/s, which explains most of what is left.
    """
    problem, factors, here = now.factors.problem, now.factors, now.evidence
    steady = problem.likelihood.constant_precision
    if not steady and len(factors.active) >= MAX_ACTIVE:
        return None
    size = AMPLE[steady] ** 2 * problem.square
    for _ in range(min(PURSUED[steady], problem.candidates.size - len(factors.active))):
        seen = factors.candidate_statistics(here.posterior, here.beta)
        is_independent = seen.S > SPAN * seen.alone
        explained = np.divide(mean_square(seen.Q), seen.S, out=np.zeros_like(seen.S), where=is_independent)
        explained[list(factors.active)] = 0.0
        best = np.argsort(-explained, kind="stable")[:MAX_TRIED].tolist()
        number = next((one for one in best if explained[one] > 0.0 and not factors.spanned(one)), None)
        if number is None:
            break
        factors = factors.added(number, here.posterior.mean)
        alphas = np.append(here.posterior.alpha, float(np.mean(factors.P[:, -1] ** 2)) / size)
        here = evidence(factors, alphas, here.beta, with_zero(here.posterior.mean))
        if here.value < now.evidence.value - MAX_LOSS:
            return None
    pursued = _maximise(factors, here, price=price, iteration=iteration, tolerance=ASCENT_TOLERANCE)
    return pursued if pursued.state.objective > now.state.objective + MIN_TOTAL_GAIN else None


def _promising(seen: CandidateStatistics, active: tuple[int, ...], entry: float) -> Indices:
    """Candidates outside the model that gain enough beyond what they pay, best first, at most MAX_TRIED."""
    gains = np.where(seen.S > SPAN * seen.alone, gain(seen.S, seen.Q), 0.0)
    gains[list(active)] = 0.0
    best = np.argsort(-gains, kind="stable")[:MAX_TRIED]
    return best[gains[best] >= MIN_GAIN + max(entry, 0.0)]
