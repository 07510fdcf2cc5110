"""Sequential sparse Bayes: one function added, re-estimated or deleted at a time.

forward    from an empty model, among all candidates
alone k    from an empty model, among one kind of functions and the small dictionaries
again      from the best, where it has one kind, among all
backward   from the best, at the whole price

Among several kinds the function of the greatest gain is often of the wrong kind: a wide bump explains more of a
staircase than any single step, and after 30 bumps no step gains enough. For 11 jumps in 1,024 values, among steps and
bumps of four widths: 40 functions and an error of .9 from an empty model, 12 and .1 from the best of the steps alone.

It ends at a stationary point that is not always a maximum: functions that gain only together don't move, and saddles
are not left [THEORY 3].

Additions and their precisions are those of [FAUL2002]; the joint ascent replaces its single moves.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp, inf, log
from typing import ClassVar, Literal, Protocol

import numpy as np

from relevance_bayes.core.algorithms.ascent import ROUNDING, end_of, evidence_loss, learns_noise, maximise, min_alpha
from relevance_bayes.core.algorithms.hyperparameter_space import Objective
from relevance_bayes.core.algorithms.state import (
    AGAIN,
    BACKWARD,
    FORWARD,
    ONE_KIND,
    EvidenceIterate,
    Iterate,
    Price,
    State,
    Termination,
    first_phase,
    iterate_at,
    price_in,
    rebuild,
)
from relevance_bayes.core.algorithms.task import ProcessTask, process_of
from relevance_bayes.core.basis import Functions, GroupFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.inference.evidence import (
    TINY,
    EvaluatedEvidence,
    evidence,
    gain,
    mean_square,
    sparsity_and_quality,
)
from relevance_bayes.core.inference.exact_process import ExactProcess
from relevance_bayes.core.inference.factors import SPAN, CandidateStatistics, Factors, build
from relevance_bayes.core.inference.posterior import Optimum, with_zero
from relevance_bayes.core.inference.problem import Problem
from relevance_bayes.core.inference.process import ProcessRows, RowSums, Vectors, bound_gradient, summed_bound
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.types import Array, Indices

MAX_CELLS = 64_000_000
"""Rows times candidates above which there are no phases of one kind, which about double the time.
Eleven jumps in 4,096 values among 13,000 steps, splines and bumps: 74 s and an error of .04, without 38 s and .52."""

SMALL = 0.1
"""Functions per row up to which a dictionary, such as the inputs, is part of every kind."""

MAX_BEHIND = 30.0
"""Nats by which the objective at the whole price may be below its best before a forward phase ends. At half the price
functions enter that the whole price would exclude, and the objective can rise again after them."""


MAX_PER_ROW = 0.5
"""Functions per row above which a forward phase ends where the noise is learned: beyond it the noise goes to 0, and the
unbounded evidence exceeds any price (5 relevant of 1,000 columns, 100 rows: 92 columns in 4 of 12 draws, no noise)."""


def kinds(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """The dictionaries of each kind, with the small ones; empty for one kind, and above MAX_CELLS."""
    dictionaries = problem.candidates.dictionaries
    if problem.rows * problem.candidates.size > MAX_CELLS:
        return ()
    small = [functions.size <= max(SMALL * problem.rows, 1) for functions in dictionaries]
    beside = [place for place, is_small in enumerate(small) if is_small]
    found: dict[tuple[object, ...], list[int]] = {}
    for place, functions in enumerate(dictionaries):
        if not small[place]:
            found.setdefault(_kind(functions), []).append(place)
    return tuple(tuple(sorted([*places, *beside])) for places in found.values()) if len(found) > 1 else ()


def _kind(functions: Functions) -> tuple[object, ...]:
    if isinstance(functions, GroupFunctions):
        return (*functions.columns.tolist(), type(functions.of))
    return (type(functions),)


def problem_of(problem: Problem, phase: str | None) -> Problem:
    """The problem with the candidates of a phase."""
    if phase is None or not phase.startswith(ONE_KIND):
        return problem
    return problem.only(kinds(problem)[_number(phase)])


def next_phase(problem: Problem, state: State) -> str:
    """The phase that follows the one of `state`."""
    phase, tried = str(state.phase), len(kinds(problem))
    first = 0 if phase == FORWARD else _number(phase) + 1 if phase.startswith(ONE_KIND) else tried
    if first < tried:
        return f"{ONE_KIND}{first}"
    best_phase = "" if state.best is None else str(state.best.phase)
    return AGAIN if phase.startswith(ONE_KIND) and best_phase.startswith(ONE_KIND) else BACKWARD


def with_best(problem: Problem, now: EvidenceIterate, best: State | None) -> EvidenceIterate:
    """The iterate with the best state so far, by L less the whole price, in the numbers of all candidates."""
    state = now.state
    value = now.evidence.value - price_in(problem, BACKWARD).of(len(state.active))
    if best is None or (value > best.objective and not _too_many(problem, state)):
        active = state.active
        if str(state.phase).startswith(ONE_KIND):
            active = problem.candidates.numbers(kinds(problem)[_number(str(state.phase))], active)
        best = replace(state, active=active, objective=value, is_maximum=False, best=None)
    return replace(now, state=replace(state, best=best))


def is_abandoned(problem: Problem, now: EvidenceIterate) -> bool:
    """True where a forward phase is too far below its best, or has too many functions."""
    best = now.state.best
    if best is None or best.phase != now.state.phase:
        return _too_many(problem, now.state)
    behind = best.objective - now.evidence.value + price_in(problem, BACKWARD).of(len(now.state.active))
    return behind > MAX_BEHIND or _too_many(problem, now.state)


def _too_many(problem: Problem, state: State) -> bool:
    return learns_noise(problem) and len(state.active) > MAX_PER_ROW * problem.rows


def _number(phase: str) -> int:
    return int(phase.removeprefix(ONE_KIND))


def with_hyperparameters(state: State, h: Hyperparameters) -> State:
    """The state at other hyperparameters."""
    return replace(state, alpha=h.alpha, beta=h.beta, process=replace(process_of(state), hyperparameters=h))


class Evaluate(Protocol):
    """L at some rows with its gradient, for hyperparameters and inducing points."""

    def __call__(self, vectors: Vectors, h: Hyperparameters, /) -> tuple[float, Array, Array | None]:
        """L, dL/dtheta, and dL/dmoved (m, d) where the vectors move; raises NotPositiveDefiniteError."""


@dataclass(eq=False)
class AtOnce:
    """L from the columns at all the rows, each time from the sites of the last evaluation."""

    task: ProcessTask
    rows: ProcessRows
    near: Optimum | None = None

    def __call__(self, vectors: Vectors, h: Hyperparameters, /) -> tuple[float, Array, Array | None]:
        found = self.task.bound(self.rows, vectors, h, self.near)
        self.near = found.optimum
        return found.value, *bound_gradient(self.rows, vectors, self.task.kernel, h, found)


@dataclass(eq=False)
class InBlocks:
    """L by sums over the blocks of a problem's rows, each time from the last mean, at first from `origin`."""

    task: ProcessTask
    problem: Problem
    fixed: tuple[int, ...]
    origin: Array

    def __call__(self, vectors: Vectors, h: Hyperparameters, /) -> tuple[float, Array, Array | None]:
        kernel = self.task.kernel
        reached, slope, places = summed_bound(self.problem, self.fixed, vectors, kernel, h, self.origin)
        self.origin = reached.posterior.mean
        return reached.value, slope, places


def of_process(task: ProcessTask, rows: ProcessRows, like: Hyperparameters) -> Objective:
    """The objective of the full process on few rows, or through pivots without a closed form."""
    vectors, through = task.spread(rows), AtOnce(task, rows)

    def objective(theta: Array) -> tuple[float, Array]:
        h = like.unpacked(theta)
        prior, slope = task.space.log_prior(h)
        if vectors is None:
            process = ExactProcess.of(rows, task.kernel, h)
            value, gradient = process.value, process.gradient
        else:
            value, gradient, _ = through(vectors, h)
        return value + prior, gradient + slope

    return objective


def of_bound(task: ProcessTask, state: State, some: ProcessRows | Problem, like: Hyperparameters) -> Objective:
    """The objective of the sparse process in theta and the optimised inducing points.

    `some` is as in `ProcessTask.together`.
    """
    own, n = task.vectors(state), len(like.packed())
    through: Evaluate
    if isinstance(some, ProcessRows):
        through = AtOnce(task, some)
    else:
        through = InBlocks(task, some, state.active[: len(state.alpha)], task.near(some, state, like))

    def objective(joined: Array) -> tuple[float, Array]:
        h = like.unpacked(joined[:n])
        vectors = own if own.moved is None else replace(own, moved=joined[n:].reshape(own.moved.shape))
        value, gradient, places = through(vectors, h)
        prior, slope = task.space.log_prior(h)
        whole = gradient + slope if places is None else np.append(gradient + slope, places)
        return value + prior, whole

    return objective


def with_head(h: Hyperparameters, head: Array) -> Hyperparameters:
    """With other values of those that the kernel's columns don't depend on: `head` (2 + F,) = [log beta, log s, log
    alpha]."""
    return replace(h, beta=float(np.exp(head[0])), signal_variance=float(np.exp(head[1])), alpha=np.exp(head[2:]))


def of_sums(sums: RowSums, h: Hyperparameters) -> Objective:
    """The objective of summed rows, in [log beta, log s, log alpha]."""

    def objective(head: Array) -> tuple[float, Array]:
        found = sums.at(with_head(h, head))
        return found.value, found.gradient

    return objective


MIN_RAISE = 1e-8
"""The least gain in nats of a re-estimation."""

MAX_STEP = 10.0
"""The largest single_step of log beta."""

HALVINGS = 10
"""The most halvings of a single_step, in the logarithm, while L falls."""


@dataclass(frozen=True)
class Move:
    """The precision of candidate `number` becomes `alpha`, infinite outside the model; `gain` in nats."""

    number: int
    alpha: float
    gain: float


def single_step(now: EvidenceIterate, price: Price) -> EvidenceIterate | None:
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


def _made(now: EvidenceIterate, price: Price, move: Move) -> tuple[Factors, EvaluatedEvidence] | None:
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


def _noise(factors: Factors, here: EvaluatedEvidence) -> EvaluatedEvidence:
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
"""Candidates tried in each inner_step, and ..."""

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


def inner_step(now: EvidenceIterate, price: Price) -> EvidenceIterate | None:
    """Add the best of all candidates and maximise; where none gains maximise to the end, and evaluate once more.

    None where no inner_step raises the objective.
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


def _maximise(
    factors: Factors, found: EvaluatedEvidence, *, price: Price, iteration: int, tolerance: float
) -> EvidenceIterate:
    maximum = maximise(factors, found, tolerance=tolerance, price=price)
    is_maximum = tolerance == END_TOLERANCE
    return iterate_at(price, maximum.factors, maximum.evidence, iteration=iteration, is_maximum=is_maximum)


def _enter(now: EvidenceIterate, price: Price) -> tuple[Factors, EvaluatedEvidence] | None:
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


Ascent = Literal["inner", "single"]

MOVES = {"inner": inner_step, "single": single_step}

MAX_STEPS_PER_ROW: dict[Ascent, int] = {"inner": 3, "single": 100}
"""Steps per row at which a fit ends with MAX_ITERATIONS."""

MIN_ROWS = 100
"""The least number of rows that MAX_STEPS_PER_ROW is multiplied by."""


@dataclass(frozen=True)
class Sequential:
    """Start from an empty model, add the function of the greatest gain, optimise, and repeat [FAUL2002].

    `ascent`: all hyperparameters of the model are optimised after each addition, or each step is a `single` move, as in
    the papers. The objective is L, or under the price of choice L - 1/2 log C(M, R) in the forward phases and, from the
    best of them, L - log C(M, R), at least a nat for each function. It never falls: a move is made only where it rises.
    """

    __pydantic_config__ = {"extra": "forbid"}
    has_full_passes: ClassVar[bool] = True
    """True where a step goes over all rows and candidates."""

    ascent: Ascent = "inner"
    type: Literal["sequential"] = "sequential"

    def init(self, problem: Problem) -> EvidenceIterate:
        """An empty model."""
        return _begun(problem, first_phase(problem), iteration=0)

    def rebuild(self, problem: Problem, state: State) -> EvidenceIterate:
        """The iterate of a state, with its factors and evidence recomputed."""
        return rebuild(problem_of(problem, state.phase), state)

    def step(self, problem: Problem, now: Iterate) -> EvidenceIterate:
        """A move of this ascent; where none raises the objective the next phase, or the end."""
        now = now if isinstance(now, EvidenceIterate) else self.rebuild(problem, now.state)
        if now.state.iteration >= max(problem.rows, MIN_ROWS) * MAX_STEPS_PER_ROW[self.ascent]:
            last = now if now.state.phase in {None, BACKWARD} else _next(problem, now, BACKWARD)
            return _ended(last, Termination.MAX_ITERATIONS)
        phase = now.state.phase
        forward = phase not in {None, BACKWARD}
        moved = None if forward and is_abandoned(problem, now) else MOVES[self.ascent](now, price_in(problem, phase))
        if moved is not None:
            return with_best(problem, moved, now.state.best) if forward else moved
        return (
            _next(problem, now, next_phase(problem, now.state))
            if forward
            else _ended(now, end_of(problem, now.evidence))
        )


def _begun(problem: Problem, phase: str | None, *, iteration: int, best: State | None = None) -> EvidenceIterate:
    """An empty model, among the candidates of a phase."""
    candidates_of_phase = problem_of(problem, phase)
    beta, _ = problem.likelihood.start(problem.t)
    none = problem.unweighted(0)
    factors = build(candidates_of_phase, (), none)
    found = evidence(factors, np.empty(0), beta, none)
    begun = iterate_at(price_in(problem, phase), factors, found, iteration=iteration)
    return begun if phase is None else with_best(problem, begun, best)


def _next(problem: Problem, now: EvidenceIterate, phase: str) -> EvidenceIterate:
    """The start of a phase: an empty model, or the best so far."""
    iteration, best = now.state.iteration + 1, now.state.best
    if best is None or phase.startswith(ONE_KIND):
        return _begun(problem, phase, iteration=iteration, best=best)
    there = rebuild(problem, best)
    begun = iterate_at(price_in(problem, phase), there.factors, there.evidence, iteration=iteration)
    return begun if phase == BACKWARD else with_best(problem, begun, best)


def _ended(now: EvidenceIterate, why: Termination) -> EvidenceIterate:
    return replace(now, state=replace(now.state, termination=why))
