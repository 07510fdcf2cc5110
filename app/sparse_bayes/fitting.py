"""One fit: states pulled from one generator, and the model of the last."""

from collections import deque
from collections.abc import Iterator

import numpy as np

from app.sparse_bayes.algorithms.state import Standing, State, Termination, stand
from app.sparse_bayes.basis import Bias, Candidates, ConstantFunction, Functions, KernelFunctions
from app.sparse_bayes.errors import SparseBayesError
from app.sparse_bayes.model import Model
from app.sparse_bayes.problem import Problem, check_rows
from app.sparse_bayes.scales import FixedWidth, InputMap
from app.sparse_bayes.spec import Spec, check
from app.sparse_bayes.types import Array, Indices

__all__ = ["State", "Termination", "fit", "iterate", "pose", "standings"]

REBUILT_EVERY = 16
"""States whose number is a multiple of this rest: factors are made anew there, stored or not, so that a resumed fit
computes what an unbroken one does."""


def pose(X: Array, t: Array, spec: Spec, *, centres: Indices | None = None) -> Problem:
    """The problem of a spec whose widths are all fixed: X (N, d), t (N,), candidates on the rows `centres`, or all.

    Raises DataError, IllegalCombinationError.
    """
    check(spec)
    check_rows(X, t)
    spec.likelihood.check(t)
    rows = np.arange(len(X)) if centres is None else centres
    dictionaries: list[Functions] = []
    for basis in spec.basis:
        if isinstance(basis, Bias):
            dictionaries.append(ConstantFunction())
        elif isinstance(basis.width, FixedWidth):
            dictionaries.append(KernelFunctions(basis.kernel, InputMap.isotropic(basis.width.value), X[rows], rows))
        else:
            raise SparseBayesError("expected widths that are fixed: selection finds them")
    return Problem(X, t, Candidates(tuple(dictionaries)), spec.likelihood, spec.prior)


def standings(problem: Problem, spec: Spec, start: State | None = None) -> Iterator[Standing]:
    """From `start`, or from the beginning, to the end: the last state has a termination."""
    now = spec.algorithm.init(problem) if start is None else stand(problem, start)
    yield now
    while now.state.termination is None:
        now = spec.algorithm.step(problem, now)
        if now.state.iteration % REBUILT_EVERY == 0:
            now = stand(problem, now.state)
        yield now


def iterate(problem: Problem, spec: Spec, start: State | None = None) -> Iterator[State]:
    """The states of one fit. The first is `start` or the algorithm's beginning; the last alone has a termination."""
    return (now.state for now in standings(problem, spec, start))


def fit(X: Array, t: Array, spec: Spec, *, centres: Indices | None = None) -> Model:
    """Fit to the end: X (N, d), t (N,), every width of the spec fixed."""
    problem = pose(X, t, spec, centres=centres)
    (last,) = deque(standings(problem, spec), maxlen=1)
    return learned(problem, last)


def learned(problem: Problem, last: Standing) -> Model:
    """What is kept of the end of a fit."""
    rested = last.evidence.posterior
    functions, order = problem.candidates.take(last.state.active)
    return Model(
        likelihood=problem.likelihood,
        functions=functions,
        mean=rested.mean[order],
        covariance=rested.covariance[np.ix_(order, order)],
        alpha=rested.alpha[order],
        gamma=rested.determined[order],
        noise_sd=problem.likelihood.noise(last.evidence.beta),
        log_marginal_likelihood=last.evidence.value,
        inputs=problem.X.shape[1],
        rows=problem.rows,
        candidates=problem.candidates.size,
        termination=str(last.state.termination or Termination.MAX_ITERATIONS),
    )
