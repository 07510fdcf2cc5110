"""Terms of single inputs: each input in turn is tried as a term of its own, and the best is kept where L gains
enough."""

from dataclasses import replace
from math import log

import numpy as np

from relevance_bayes.core.algorithms.hyperparameter_space import CAUTIOUS_SIGNAL_TO_NOISE, maximise
from relevance_bayes.core.algorithms.sequential import of_process, with_hyperparameters
from relevance_bayes.core.algorithms.state import Process, State, Trial
from relevance_bayes.core.algorithms.task import IRRELEVANT, RISE, ProcessTask
from relevance_bayes.core.hyperparameters import Hyperparameters

GAIN = 8.0
"""The least gain of a term in nats: gains of 3 to 7 were false on concrete [THEORY 12]."""

SHARE = 0.3
"""The initial share of a new term in the variance. This start, at the current width, found each gain that ten times the
width, a tenth of it or a sixth of the share did (Friedman's first function)."""

TRIAL_ITERATIONS, FINAL_ITERATIONS = 8, 60
"""Iterations of a trial, and of the best."""


def separated(task: ProcessTask, state: State, process: Process) -> State:
    """One trial; after the last of a round the best is optimised to the end, and another round follows where it is
    kept.

    It comes before the inputs are columns: after that terms gain less, and on one of four draws of Friedman's first
    function the true term was missed (8.0 nats; error .30 for .16).
    """
    onward = replace(state, process=replace(process, phase="functions", starts=0, trial=None))
    places = _candidates(task, process.hyperparameters)
    if process.starts < len(places):
        h = process.hyperparameters
        tried_terms = replace(h, terms=h.terms.with_term(places[process.starts], SHARE))
        found = _maximise(task, state, tried_terms, TRIAL_ITERATIONS)
        best = process.trial if process.trial and process.trial.objective >= found.objective else found
        tried, structures = process.starts + 1, process.structures + 1
        return replace(state, process=replace(process, starts=tried, trial=best, structures=structures))
    if process.trial is None:
        return onward
    found = _maximise(task, state, process.trial.hyperparameters, FINAL_ITERATIONS)
    if found.objective <= state.objective + GAIN:
        return onward
    again = replace(state, objective=found.objective, process=replace(process, starts=0, trial=None))
    return with_hyperparameters(again, found.hyperparameters)


def _candidates(task: ProcessTask, h: Hyperparameters) -> tuple[int, ...]:
    """The inputs that may get a term of their own: the relevant ones, if there are at least two."""
    is_relevant = h.input_map.widths < IRRELEVANT * task.problem.spread
    is_relevant[list(h.terms.alone)] = False
    places = tuple(np.flatnonzero(is_relevant).tolist())
    return places if len(places) > 1 else ()


def _maximise(task: ProcessTask, state: State, h: Hyperparameters, iterations: int) -> Trial:
    rows = task.rows_for_scales(state)
    theta, value = maximise(
        of_process(task, rows, h),
        h.packed(),
        task.space.free(h),
        task.space.box(h, max(CAUTIOUS_SIGNAL_TO_NOISE, log(h.beta * task.problem.square))),
        iterations,
        origin=task.origin(rows),
        flat=RISE / len(rows.t),
        ties=task.space.ties(h),
    )
    return Trial(h.unpacked(theta), value)
