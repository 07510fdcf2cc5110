"""The forward phases under the price of choice, and the best state of all of them.

forward    from an empty model, among all candidates
alone k    from an empty model, among one kind of functions and the small dictionaries
again      from the best, where it has one kind, among all
backward   from the best, at the whole price

Among several kinds the function of the greatest gain is often of the wrong kind: a wide bump explains more of a
staircase than any single step, and after 30 bumps no step gains enough. For 11 jumps in 1,024 values, among steps and
bumps of four widths: 40 functions and an error of .9 from an empty model, 12 and .1 from the best of the steps alone.
"""

from dataclasses import replace

from relevance_bayes.core.algorithms.ascent import learns_noise
from relevance_bayes.core.algorithms.price import AGAIN, BACKWARD, FORWARD, ONE_KIND, price_in
from relevance_bayes.core.algorithms.state import EvidenceIterate, State
from relevance_bayes.core.basis import Functions, GroupFunctions
from relevance_bayes.core.problem import Problem

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
