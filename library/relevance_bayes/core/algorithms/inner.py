"""The inner ascent: one function enters, then all hyperparameters are optimised, before candidates are evaluated again.

Additions and their precisions are those of [FAUL2002]; the joint ascent replaces its single moves.
"""

import numpy as np

from relevance_bayes.core.algorithms.ascent import ROUNDING, maximise
from relevance_bayes.core.algorithms.price import Price
from relevance_bayes.core.algorithms.state import EvidenceIterate, iterate_at
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.evidence import Evidence, evidence, gain, mean_square
from relevance_bayes.core.factors import SPAN, CandidateStatistics, Factors
from relevance_bayes.core.posterior import with_zero
from relevance_bayes.core.types import Indices

MIN_GAIN = 1e-2
"""The least gain in nats of a function that enters: less is rounding, or a near copy of a function in the model."""

ASCENT_SHARE = 0.1
"""Between evaluations of candidates the ascent stops where it predicts less than this share of the last function's
gain ..."""

ASCENT_TOLERANCE = 1e-3
"""... or less than this, in nats, ..."""

END_TOLERANCE = 1e-11
"""... and at the end at this tolerance."""

MAX_TRIED = 8
"""Candidates tried in each step, and ..."""

LARGER_ALPHAS = (1.0, 4.0, 16.0)
"""... multiples of alpha tried for each, where the gain is only an estimate (Laplace)."""

MAX_ACTIVE = 6
"""Where each addition needs a search for the mode, several functions are added only to models of fewer functions at a
maximum, ..."""

MAX_TOGETHER = {True: 16, False: 8}
"""... at most so many, by whether precisions are constant (True) or not, ..."""

PRIOR_SD = {True: 10.0, False: 3.0}
"""... each with a prior sd of this multiple of the targets' root mean square, since they cancel, ..."""

MAX_LOSS = 20.0
"""... while L does not fall by more nats than this, which no ascent recovers, ..."""

MIN_TOTAL_GAIN = 1.0
"""... and they are kept where the ascent gains so many nats in all.

Gaussian noise, Friedman 1 at .82 diameters: error 5.95 with 9 functions without, 3.40 with 35; 4.06 with 29 where 8
are added. A fit of 20 to 100 ms takes 10 to 70 ms more. Two classes gain nothing
beyond MAX_ACTIVE, and three take 2.5 times as long where 16 are added."""


def step(now: EvidenceIterate, price: Price) -> EvidenceIterate | None:
    """Add the best of all candidates and maximise; where none gains maximise to the end, and evaluate once more.

    None where no step raises the objective.
    """
    iteration = now.state.iteration + 1
    entered = _enter(now, price) if price.is_adding else None
    if entered is not None:
        gained = entered[1].value - now.evidence.value - price.entry(len(now.state.active))
        tolerance = max(ASCENT_SHARE * gained, ASCENT_TOLERANCE)
        return _maximise(*entered, price=price, iteration=iteration, tolerance=tolerance)
    if not now.state.is_maximum:
        return _maximise(now.factors, now.evidence, price=price, iteration=iteration, tolerance=END_TOLERANCE)
    try:
        return _add_several(now, price, iteration) if price.is_adding else None
    except NotPositiveDefiniteError:  # copies up to rounding: the model is unchanged
        return None


def _maximise(factors: Factors, found: Evidence, *, price: Price, iteration: int, tolerance: float) -> EvidenceIterate:
    maximum = maximise(factors, found, tolerance=tolerance, price=price)
    is_maximum = tolerance == END_TOLERANCE
    return iterate_at(price, maximum.factors, maximum.evidence, iteration=iteration, is_maximum=is_maximum)


def _enter(now: EvidenceIterate, price: Price) -> tuple[Factors, Evidence] | None:
    """The model with the best candidate, at its own best alpha; None when none gains enough."""
    here = now.evidence
    entry = price.entry(len(now.factors.active))
    found = now.factors.candidate_statistics(here.posterior, here.beta)
    squares = mean_square(found.Q)
    for number in _best_candidates(found, now.factors.active, entry):
        if now.factors.is_spanned(int(number)):  # else a copy would take the gain of its original, and both would stay
            continue
        more = now.factors.added(int(number), here.posterior.mean)
        alpha = found.S[number] ** 2 / (squares[number] - found.S[number])
        for larger in LARGER_ALPHAS:
            alphas = np.append(here.posterior.alpha, larger * alpha)
            there = evidence(more, alphas, here.beta, with_zero(here.posterior.mean))
            if there.value - entry > here.value + ROUNDING * (1.0 + abs(here.value)):
                return more, there
    return None


def _add_several(now: EvidenceIterate, price: Price, iteration: int) -> EvidenceIterate | None:
    """Add several functions at once, then maximise; None where that doesn't raise the objective by MIN_TOTAL_GAIN.

    Functions of a wide kernel are so correlated that two of opposite sign gain together what none gains alone, which no
    statistic of single functions shows [THEORY 4]. Each is the one with the greatest q^2/s, which explains most of the
    residual.
    """
    problem, factors, here = now.factors.problem, now.factors, now.evidence
    has_constant_precision = problem.likelihood.has_constant_precision
    if not has_constant_precision and len(factors.active) >= MAX_ACTIVE:
        return None
    size = PRIOR_SD[has_constant_precision] ** 2 * problem.square
    for _ in range(min(MAX_TOGETHER[has_constant_precision], problem.candidates.size - len(factors.active))):
        found = factors.candidate_statistics(here.posterior, here.beta)
        is_independent = found.S > SPAN * found.alone
        explained = np.divide(mean_square(found.Q), found.S, out=np.zeros_like(found.S), where=is_independent)
        explained[list(factors.active)] = 0.0
        best = np.argsort(-explained, kind="stable")[:MAX_TRIED].tolist()
        number = next((one for one in best if explained[one] > 0.0 and not factors.is_spanned(one)), None)
        if number is None:
            break
        factors = factors.added(number, here.posterior.mean)
        alphas = np.append(here.posterior.alpha, float(np.mean(factors.P[:, -1] ** 2)) / size)
        here = evidence(factors, alphas, here.beta, with_zero(here.posterior.mean))
        if here.value < now.evidence.value - MAX_LOSS:
            return None
    several = _maximise(factors, here, price=price, iteration=iteration, tolerance=ASCENT_TOLERANCE)
    return several if several.state.objective > now.state.objective + MIN_TOTAL_GAIN else None


def _best_candidates(found: CandidateStatistics, active: tuple[int, ...], entry: float) -> Indices:
    """Candidates outside the model whose gain exceeds their price by MIN_GAIN, best first, at most MAX_TRIED."""
    gains = np.where(found.S > SPAN * found.alone, gain(found.S, found.Q), 0.0)
    gains[list(active)] = 0.0
    best = np.argsort(-gains, kind="stable")[:MAX_TRIED]
    return best[gains[best] >= MIN_GAIN + max(entry, 0.0)]
