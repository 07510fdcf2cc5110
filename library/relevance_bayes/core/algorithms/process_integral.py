"""The evidence of a Gaussian process integrated over its hyperparameters."""

from math import log, pi

import numpy as np

from relevance_bayes.core.algorithms.state import Process, State
from relevance_bayes.core.algorithms.task import IRRELEVANT, ProcessTask
from relevance_bayes.core.inference.evidence import USUAL_LOG_BETA, Integral, Peak, cauchy, log_choices, normal
from relevance_bayes.core.inference.process import bound_gradient, summed_bound
from relevance_bayes.core.kernels import hyperparameters as terms
from relevance_bayes.core.kernels.hyperparameters import WARP_SCALE, Hyperparameters
from relevance_bayes.core.types import Array, Indices, Mask

MAX_ROWS = 1_000
"""Rows on which the curvature is measured; it is scaled to all rows."""

STEP = 1e-3
"""Step of the differences of gradients, in logarithms and warps."""

MIN_BEND = 0.02
"""Warps smaller than this, as inputs that are IRRELEVANT, don't change L: integrating over them adds nothing."""

USUAL_SQUARE = 0.25
"""The median of each input's variance over its squared width under its hyperprior, times d."""


def integral(task: ProcessTask, state: State, process: Process) -> Integral:
    """The integral over all hyperparameters except the inducing points, which are variational [THEORY 17].

    The columns without kernel and the relevant inputs were chosen: log C(d, k) for each; the inputs with a term of
    their own were chosen among the structures tried: log of their number.
    """
    h = process.hyperparameters
    F, widths, bends = len(h.alpha), len(h.input_map.widths), _bends(h)
    own = np.append(task.space.free(h)[:1], np.ones(1 + F, np.bool_))
    relevant, bent = _relevant(task, h), np.abs(bends) > MIN_BEND
    active = np.flatnonzero(np.concatenate([own, relevant, bent, np.ones(len(h.terms.logits), np.bool_)]))
    curvature = _curvature(task, state, process, active)
    unit = log(task.problem.square)
    logs = np.concatenate(
        [[log(h.beta) + unit - USUAL_LOG_BETA, log(h.signal_variance) - unit], np.log(h.alpha) + unit]
    )
    given = normal(logs[own])
    n = int(own.sum())
    drawn, shrunk = _common_width(task, h)
    curvature = curvature + shrunk[np.ix_(active, active)]
    paid = sum(log_choices(size, chosen) for size, chosen in _without_kernel(task, state))
    value = Peak(state.objective - paid, *given, curvature[:n, :n]).integral
    scales = _log_squares(task, h)[relevant]
    of_squares = normal(scales - log(USUAL_SQUARE / task.problem.inputs))
    of_widths = of_squares[0] + len(scales) * log(2.0), -2.0 * of_squares[1], 4.0 * of_squares[2]
    parts = (given, of_widths, cauchy(bends[bent], WARP_SCALE), normal(h.terms.logits, terms.WIDE))
    paid += log(process.structures) + (log_choices(widths, len(scales)) if task.space.learns else 0.0)
    whole = Peak(
        state.objective + drawn - paid,
        sum(part[0] for part in parts),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        curvature,
    )
    return Integral(value, whole.integral - value)


def _common_width(task: ProcessTask, h: Hyperparameters) -> tuple[float, Array]:
    """The log normaliser of the hyperprior that shrinks log widths to a common one, and minus its Hessian in theta.

    The Hessian of k widths is shrinkage (I - 11'/k), of rank k - 1: the common one is free.
    """
    F, k, shrinkage = len(h.alpha), len(h.input_map.widths), task.problem.learning.shrinkage
    precision = np.zeros((len(h.packed()),) * 2)
    if not shrinkage or k == 1:
        return 0.0, precision
    precision[2 + F : 2 + F + k, 2 + F : 2 + F + k] = shrinkage * (np.eye(k) - 1.0 / k)
    return 0.5 * (k - 1) * log(shrinkage / (2.0 * pi)), precision


def _without_kernel(task: ProcessTask, state: State) -> list[tuple[int, int]]:
    """The size of each dictionary without kernel, and the number of its functions in the model."""
    candidates = task.problem.candidates
    counts = zip(candidates.dictionaries, candidates.counts(state.active[: len(state.alpha)]), strict=True)
    return [(dictionary.size, chosen) for dictionary, chosen in counts if dictionary is not task.functions]


def _bends(h: Hyperparameters) -> Array:
    warp = [part for part in (h.input_map.skew, h.input_map.tail) if part is not None]
    return np.concatenate(warp) if warp else np.empty(0)


def _log_squares(task: ProcessTask, h: Hyperparameters) -> Array:
    """log of the inputs' variance over the squared widths, (k,)."""
    variances = np.square(task.problem.spread)
    shared = len(h.input_map.widths) < len(variances)
    own = variances.mean(keepdims=True) if shared else variances
    return np.asarray(np.log(own / np.square(h.input_map.widths)))


def _relevant(task: ProcessTask, h: Hyperparameters) -> Mask:
    return (_log_squares(task, h) > -2.0 * log(IRRELEVANT)) & task.space.learns


def _curvature(task: ProcessTask, state: State, process: Process, active: Indices) -> Array:
    """Minus the Hessian of L in the active entries of theta, by differences of its gradient on at most MAX_ROWS."""
    h, vectors = process.hyperparameters, task.vectors(state)
    rows = task.sample(state, MAX_ROWS)
    theta, part = h.packed(), task.in_blocks(rows)
    near = None if part is None else task.near(part, state, h)

    def gradient(place: int, step: float) -> Array:
        moved = theta.copy()
        moved[place] += step
        there = h.unpacked(moved)
        if part is None or near is None:
            found = task.bound(rows, vectors, there)
            slopes, _ = bound_gradient(rows, vectors, task.kernel, there, found)
        else:
            fixed = state.active[: len(state.alpha)]
            _, slopes, _ = summed_bound(part, fixed, vectors, task.kernel, there, near)
        return slopes[active]

    curvature = np.array([gradient(k, -STEP) - gradient(k, STEP) for k in active]).reshape(len(active), len(active))
    return np.asarray((curvature + curvature.T) * (task.problem.rows / len(rows.t) / (4.0 * STEP)))
