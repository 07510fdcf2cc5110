"""One hyperparameter at a time: the move that gains most in closed form, then the noise [FAUL2002; TIPPING2003].

It ends at a stationary point that is not always a maximum: functions that gain only together don't move, and saddles
are not left [THEORY 3].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, log

import numpy as np

from relevance_bayes.core.algorithms.ascent import ROUNDING, evidence_loss, learns_noise, min_alpha
from relevance_bayes.core.algorithms.inner import LARGER_ALPHAS, MAX_TRIED, MIN_GAIN
from relevance_bayes.core.algorithms.price import Price
from relevance_bayes.core.algorithms.state import EvidenceIterate, iterate_at
from relevance_bayes.core.evidence import TINY, Evidence, evidence, gain, mean_square, sparsity_and_quality
from relevance_bayes.core.factors import SPAN, Factors
from relevance_bayes.core.posterior import with_zero
from relevance_bayes.core.types import Array

MIN_RAISE = 1e-8
"""The least gain in nats of a re-estimation."""

MAX_STEP = 10.0
"""The largest step of log beta."""

HALVINGS = 10
"""The most halvings of a step, in the logarithm, while L falls."""


@dataclass(frozen=True)
class Move:
    """The precision of candidate `number` becomes `alpha`, infinite outside the model; `gain` in nats."""

    number: int
    alpha: float
    gain: float


def step(now: EvidenceIterate, price: Price) -> EvidenceIterate | None:
    """Make the move with the greatest gain, then re-estimate the noise; None where neither raises the objective."""
    factors, here = now.factors, now.evidence
    for move in _moves(now, price):
        made = _made(now, price, move)
        if made is not None:
            factors, here = made
            break
    there = _noise(factors, here)
    paid = price.of(len(factors.active)) - price.of(len(now.factors.active))
    if factors is now.factors and there.value - paid <= now.evidence.value + MIN_RAISE:
        return None
    return iterate_at(price, factors, there, iteration=now.state.iteration + 1)


def _moves(now: EvidenceIterate, price: Price) -> list[Move]:
    """The best, at most MAX_TRIED, by their gain at fixed beta, which s and q of all candidates give."""
    moves = [*_inside(now, price), *(_outside(now, price) if price.is_adding else ())]
    return sorted(moves, key=lambda move: -move.gain)[:MAX_TRIED]


def _inside(now: EvidenceIterate, price: Price) -> Iterator[Move]:
    """Re-estimate where q^2 > s, at alpha = s^2/(q^2 - s), or delete."""
    active, posterior = now.factors.active, now.evidence.posterior
    s, q = sparsity_and_quality(posterior)
    squares = mean_square(q)
    losses = evidence_loss(posterior)
    min_alphas = min_alpha(now.factors)
    refund = price.refund(len(active)) if active else 0.0
    for m, number in enumerate(active):
        is_relevant = bool(squares[m] > s[m] > 0.0)
        left = refund - float(losses[m])
        if left > 0.0 or (not is_relevant and left >= -ROUNDING):
            yield Move(number, inf, left)
        if is_relevant:
            alpha = max(float(s[m] ** 2 / max(squares[m] - s[m], TINY)), float(min_alphas[m]))
            gained = posterior.latents * _log_evidence_of(alpha, float(s[m]), float(squares[m])) - float(losses[m])
            if gained > MIN_RAISE:
                yield Move(number, alpha, gained)


def _outside(now: EvidenceIterate, price: Price) -> Iterator[Move]:
    """Add where q^2 > s, unless a function in the model is a copy."""
    active, posterior = now.factors.active, now.evidence.posterior
    entry = price.entry(len(active))
    seen = now.factors.candidate_statistics(posterior, now.evidence.beta)
    gains = np.where(seen.S > SPAN * seen.alone, gain(seen.S, seen.Q), 0.0)
    gains[list(active)] = 0.0
    squares = mean_square(seen.Q)
    best = np.argsort(-gains, kind="stable")[:MAX_TRIED]
    for number in best[gains[best] >= MIN_GAIN + max(entry, 0.0)]:
        if not now.factors.is_spanned(int(number)):
            alpha = seen.S[number] ** 2 / (squares[number] - seen.S[number])
            yield Move(int(number), float(alpha), float(gains[number]) - entry)


def _log_evidence_of(alpha: float, s: float, square: float) -> float:
    """l(alpha) = 1/2 (log alpha - log(alpha + s) + q^2/(alpha + s)), in nats, of one latent [FAUL2002, eq. 12]."""
    return 0.5 * (log(alpha) - log(alpha + s) + square / (alpha + s))


def _made(now: EvidenceIterate, price: Price, move: Move) -> tuple[Factors, Evidence] | None:
    """The move, shortened where its gain is only an estimate (Laplace), or None where the objective would fall."""
    R, here = len(now.factors.active), now.evidence
    threshold = here.value + (0.0 if move.alpha < inf else -ROUNDING * (1.0 + abs(here.value)))
    for factors, alphas, start in _tries(now, move):
        there = evidence(factors, alphas, here.beta, start)
        if there.value - price.of(len(factors.active)) + price.of(R) >= threshold:
            return factors, there
    return None


def _tries(now: EvidenceIterate, move: Move) -> Iterator[tuple[Factors, Array, Array]]:
    factors, posterior = now.factors, now.evidence.posterior
    if move.number not in factors.active:
        more = factors.added(move.number, posterior.mean)
        for larger in LARGER_ALPHAS:
            alpha = max(larger * move.alpha, float(min_alpha(more)[-1]))
            yield more, np.append(posterior.alpha, alpha), with_zero(posterior.mean)
        return
    place = factors.active.index(move.number)
    if move.alpha == inf:
        kept = np.flatnonzero(np.arange(len(factors.active)) != place)
        yield factors.keeping(kept, posterior.mean), posterior.alpha[kept], posterior.mean[kept]
        return
    whole = log(move.alpha / posterior.alpha[place])
    for halved in range(HALVINGS):
        alphas = posterior.alpha.copy()
        alphas[place] *= exp(whole * 0.5**halved)
        yield factors, alphas, posterior.mean


def _noise(factors: Factors, here: Evidence) -> Evidence:
    """1/beta = |t - P mu|^2 / (K N - K sum gamma), halved in the logarithm while L falls [TIPPING2001, eq. 18]."""
    if not learns_noise(factors.problem):
        return here
    _, max_beta = factors.problem.likelihood.start(factors.problem.t)
    left = here.posterior.latents * (factors.problem.rows - float(here.posterior.determined.sum()))
    residual_squares = left - 2.0 * float(here.gradient[-1])  # beta |t - P mu|^2
    whole = min(log(max(left, TINY)) - log(max(residual_squares, TINY)), MAX_STEP)
    for halved in range(HALVINGS):
        beta = min(here.beta * exp(whole * 0.5**halved), max_beta)
        there = evidence(factors, here.posterior.alpha, beta, here.posterior.mean)
        if there.value >= here.value:
            return there
    return here
