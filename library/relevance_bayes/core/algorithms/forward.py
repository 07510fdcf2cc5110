"""The ways forward under the price of choice, and the best that was found on them.

forward    from nothing, among all candidates
alone k    from nothing, among one kind of functions and the small dictionaries
again      from the best, where it was found alone, among all
backward   from the best, at the whole price

Which function gains most says little where kinds are mixed: a wide bump explains more of a staircase than any of its
steps does, and once 30 bumps are in, no step gains what it would. 11 jumps in 1,024 values, among steps and bumps of
four widths: 40 functions and an error of .9 from nothing, 12 and .1 from the best of the steps alone.
"""

from dataclasses import replace

from relevance_bayes.core.algorithms.ascent import learns_noise
from relevance_bayes.core.algorithms.price import AGAIN, ALONE, BACKWARD, FORWARD, price_in
from relevance_bayes.core.algorithms.state import EvidenceIterate, State
from relevance_bayes.core.basis import Functions, GroupFunctions
from relevance_bayes.core.problem import Problem

MAX_CELLS = 64_000_000
"""Rows times candidates above which kinds are not tried alone: together they take about as long again as all did.
Eleven jumps in 4,096 values among 13,000 steps, splines and bumps: 74 s and an error of .04, without 38 s and .52."""

SMALL = 0.1
"""A dictionary of at most so many functions a row, as the inputs are, goes with every kind: it drowns none."""

TIMEOUT = 30.0
"""Nats by which the whole objective may lie behind its best before a way is left: half the price lets in what the whole
one would not pay for, and what enters makes room for more."""


MAX_PER_ROW = 0.5
"""Functions a row above which a way is left where the noise is learned: past that it falls to nothing, and an evidence
without bound pays any price (5 relevant of 1,000 columns, 100 rows: 92 columns in 4 of 12 draws, and no noise)."""


def kinds(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """The dictionaries of each kind, with the small ones; none where there is but one kind, or far too many."""
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


def seen(problem: Problem, phase: str | None) -> Problem:
    """The problem with the candidates of a phase."""
    if phase is None or not phase.startswith(ALONE):
        return problem
    return problem.only(kinds(problem)[_number(phase)])


def after(problem: Problem, state: State) -> str:
    """The phase that follows where nothing more enters."""
    phase, tried = str(state.phase), len(kinds(problem))
    first = 0 if phase == FORWARD else _number(phase) + 1 if phase.startswith(ALONE) else tried
    if first < tried:
        return f"{ALONE}{first}"
    best_phase = "" if state.best is None else str(state.best.phase)
    return AGAIN if phase.startswith(ALONE) and best_phase.startswith(ALONE) else BACKWARD


def remembering(problem: Problem, now: EvidenceIterate, best: State | None) -> EvidenceIterate:
    """With the best state so far, by L less the whole price, in the numbers of all candidates."""
    state = now.state
    value = now.evidence.value - price_in(problem, BACKWARD).of(len(state.active))
    if best is None or (value > best.objective and not _too_many(problem, state)):
        active = state.active
        if str(state.phase).startswith(ALONE):
            active = problem.candidates.numbers(kinds(problem)[_number(str(state.phase))], active)
        best = replace(state, active=active, objective=value, is_maximum=False, best=None)
    return replace(now, state=replace(state, best=best))


def hopeless(problem: Problem, now: EvidenceIterate) -> bool:
    """True where a way has left its best too far behind, or let in too many."""
    best = now.state.best
    if best is None or best.phase != now.state.phase:
        return _too_many(problem, now.state)
    behind = best.objective - now.evidence.value + price_in(problem, BACKWARD).of(len(now.state.active))
    return behind > TIMEOUT or _too_many(problem, now.state)


def _too_many(problem: Problem, state: State) -> bool:
    return learns_noise(problem) and len(state.active) > MAX_PER_ROW * problem.rows


def _number(phase: str) -> int:
    return int(phase.removeprefix(ALONE))
