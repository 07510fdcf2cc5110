"""A width for each input of one dictionary, by evidence: that of a process, or alternating with the choice of
functions.

The eta-RVM of [TIPPING2001, appendix C]. The evidence of independent weights over-fits the more, the more is learned
by it [THEORY 5], and its widths are too narrow: on Friedman 1, 2 and 3 (24 draws of 240 rows, mean
squared error and functions) they come to .44 with 15, 5,250 with 4 and .0191 with 14, where the widths of the Gaussian
process with the same kernel come to .34 with 12, 1,890 with 4 and .0130 with 8 at less evidence; by re-estimation to
.28 with 13, as the paper to .27 with 11.5. So the widths are those of the process where its evidence has a closed
form; else functions are chosen and widths are optimised in turn.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from math import log

import numpy as np

from relevance_bayes.core.algorithms import Greedy, ReEstimation, Sequential
from relevance_bayes.core.algorithms.ascent import learns_noise, min_alpha
from relevance_bayes.core.algorithms.lbfgs import maximise
from relevance_bayes.core.algorithms.state import EvidenceIterate, State, with_evidence
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.evidence import Evidence, evidence
from relevance_bayes.core.factors import without_candidates
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fitting import pose
from relevance_bayes.core.integrated import log_choices
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.pooling.learning import whole
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.problem import Problem
from relevance_bayes.core.scales import EvidencePerInputWidth, InputMap
from relevance_bayes.core.selection.rows import Rows, Step
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

STARTS = (0.5, 0.75, 1.0)
"""d/width^2, in units of the inputs' variance. From wider ones (.25 and less) Friedman 1 ended 35 nats lower; from
narrower ones (2) Friedman 3 ended 20 nats higher with twice the functions, and fitted worse."""

MAX_FUNCTIONS = 30
"""The most functions of a fit during the search: before the widths have converged more functions fit noise, which the
widths then follow."""

ITERATIONS = 30
"""Iterations of the ascent between two choices of functions."""

MIN_RISE = 1.0
"""The least rise of the objective in nats in a round that another one follows, ..."""

MAX_ROUNDS = 12
"""... and the most rounds."""

NARROWER, WIDER = 4.5, 12.0
"""The greatest distance of the logarithm of a width from its start, and ..."""

MAX_CHANGE = 12.0
"""... that of a precision from where the ascent starts."""


@dataclass(frozen=True, eq=False)
class Round:
    """Functions chosen at `widths` (d,), and the objective of the fit there."""

    widths: Array
    problem: Problem
    iterate: EvidenceIterate
    objective: float


def input_widths(
    rows: Rows, place: int, at: Callable[[tuple[float, ...]], Spec], fit_log: FitLog
) -> Generator[Step, None, tuple[float, ...]]:
    """The widths (d,) of the dictionary at `place` of the spec; `at` is the spec as a function of its widths.

    The best of several starts; from each, rounds of a choice of functions and an ascent until one raises the objective
    by less than MIN_RISE.
    """
    spread = rows.X.std(axis=0)
    spread[spread == 0.0] = 1.0
    inputs, fits = len(spread), 0
    ends: list[Round] = []
    yield _step_of(fits)
    known = yield from _process_widths(rows, place, at(tuple(map(float, spread))), spread, fit_log)
    if known is not None:
        return tuple(map(float, known * spread))
    for share in STARTS:
        start = spread * np.sqrt(inputs / share)
        best = chosen(rows, start, at, fit_log)
        yield _step_of(fits := fits + 1)
        for _ in range(MAX_ROUNDS):
            widths = fit_log.recorded()
            if widths is None:
                widths = raised(best, start, place)[0]
                fit_log.record(fit_log.place, widths)
            there = chosen(rows, widths, at, fit_log)
            yield _step_of(fits := fits + 1)
            rose = there.objective - best.objective
            best = there if rose > 0.0 else best
            if rose < MIN_RISE:
                break
        ends.append(best)
    best = max(ends, key=lambda end: end.objective)
    return tuple(map(float, best.widths))


def _process_widths(
    rows: Rows, place: int, spec: Spec, spread: Array, fit_log: FitLog
) -> Generator[Step, None, Array | None]:
    """The widths (d,) of the process with the kernel at `place`, in units of the inputs' `spread` (d,).

    None where its evidence has no closed form, or can't be computed.
    """
    basis, others = spec.basis[place], (*spec.basis[:place], *spec.basis[place + 1 :])
    closed = spec.likelihood.is_conjugate and spec.likelihood.has_target_units
    if not closed or not isinstance(basis, KernelBasis) or not isinstance(basis.kernel, Covariance):
        return None
    if not all(isinstance(one, Bias | Inputs) for one in others):
        return None
    kernel = replace(basis, width=EvidencePerInputWidth())
    process = replace(spec, basis=(kernel, *others), prior=GaussianProcess(), algorithm=Greedy())
    problem = pose(rows.X / spread, rows.t, process, noise_sd=rows.noise_sd)
    try:
        for fits, member in enumerate(whole(problem, process, fit_log), start=1):  # noqa: B007 - the last is returned
            yield _step_of(fits)
    except NotPositiveDefiniteError:
        return None
    return member.hyperparameters.input_map.widths


def _step_of(fits: int) -> Step:
    return Step("width search", fits, None, "fits")


def chosen(rows: Rows, widths: Array, at: Callable[[tuple[float, ...]], Spec], fit_log: FitLog) -> Round:
    """A fit at widths (d,), to its end or to MAX_FUNCTIONS."""
    spec = _growing(at(tuple(map(float, widths))))
    problem = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
    fitting = fit_log.iterates(problem, spec)
    iterate = with_evidence(problem, next(fitting))
    functions = len(iterate.state.active)
    for now in fitting:
        iterate = with_evidence(problem, now)
        if functions < len(iterate.state.active) >= MAX_FUNCTIONS:
            break
        functions = len(iterate.state.active)
    return Round(widths, problem, iterate, _objective(problem, iterate))


def _growing(spec: Spec) -> Spec:
    """The spec with functions that enter one by one, where the prior allows it, for any algorithm of the final fit.

    By re-estimation hundreds of functions remain before the widths have converged, and the widths fit their noise:
    Friedman 1 ended at 3.1 with 229 functions.
    """
    prior = spec.prior
    free = isinstance(prior, Independent) and not (prior.a or prior.b or prior.c or prior.d)
    return replace(spec, algorithm=Sequential()) if free and isinstance(spec.algorithm, ReEstimation) else spec


def _objective(problem: Problem, iterate: EvidenceIterate) -> float:
    """L with the log hyperprior and the whole price of choice, in nats, also of a fit before its end."""
    state = iterate.state
    hyperprior = _prior(problem).log_hyperprior(state.alpha, state.beta)
    return iterate.evidence.value + hyperprior - _paid(problem, state)


def _paid(problem: Problem, state: State) -> float:
    return log_choices(problem.candidates.size, len(state.active)) if _prior(problem).price else 0.0


def _prior(problem: Problem) -> Independent:
    """The prior; raises SparseBayesError for a spec that `spec.check` refuses."""
    if not isinstance(problem.prior, Independent):
        raise SparseBayesError("expected an independent prior")
    return problem.prior


def raised(now: Round, start: Array, place: int) -> tuple[Array, float]:
    """The widths (d,) after an ascent in (log widths, log alpha, log beta), and the objective there.

    The functions in the model are fixed; `start` (d,) are the initial widths of this search.
    """
    problem, state, prior = now.problem, now.iterate.state, _prior(now.problem)
    functions, first = problem.candidates.dictionaries[place], problem.candidates.starts[place]
    active = np.array(state.active, np.intp)
    inside = (active >= first) & (active < problem.candidates.starts[place + 1])
    if not isinstance(functions, KernelFunctions) or not inside.any():
        return now.widths, now.objective
    order = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)])
    fixed_basis = FixedBasis(
        problem, functions.take(active[inside] - first), problem.columns(tuple(map(int, active[~inside])))
    )
    d, weights = len(now.widths), state.weights[order]

    def objective(theta: Array) -> tuple[float, Array]:
        widths, alpha, beta = np.exp(theta[:d]), np.exp(theta[d:-1]), float(np.exp(theta[-1]))
        found, slope = fixed_basis.evidence(widths, alpha, beta, weights)
        pulled = np.append(prior.a - prior.b * alpha, prior.c - prior.d * beta)
        return found.value + prior.log_hyperprior(alpha, beta), np.concatenate([slope, found.gradient + pulled])

    _, max_beta = problem.likelihood.start(problem.t)
    theta = np.log(np.concatenate([now.widths, state.alpha[order], [state.beta]]))
    low, high = theta - MAX_CHANGE, theta + MAX_CHANGE
    low[:d], high[:d] = np.log(start) - NARROWER, np.log(start) + WIDER
    with np.errstate(divide="ignore"):
        low[d:-1] = np.maximum(low[d:-1], np.log(min_alpha(now.iterate.factors)[order]))
    high[-1] = log(max_beta)
    free = np.append(np.ones(len(theta) - 1, np.bool_), learns_noise(problem))
    origin = -0.5 * problem.t.size * log(problem.square)
    best, value = maximise(objective, theta, free, (low, high), ITERATIONS, origin=origin if free[-1] else 0.0)
    return np.exp(best[:d]), value - _paid(problem, state)


@dataclass(frozen=True, eq=False)
class FixedBasis:
    """The evidence of `kernels` as a function of their widths, beside constant columns F (N, F): P = [E F], (N, R).

    `problem` has likelihood and targets; its candidates are not used.
    """

    problem: Problem
    kernels: KernelFunctions
    F: Array

    def evidence(self, widths: Array, alpha: Array, beta: float, start: Array) -> tuple[Evidence, Array]:
        """L at widths (k,), alpha (R,) and beta, the mode searched for from `start` (R,), and dL/dlog widths (k,).

        D = dL/dE is propagated through the kernel to the mapped rows and centres: for the
        Gaussian kernel -sum_nm D_nm E_nm (x_nk - z_mk)^2 in 1/width_k^2 [TIPPING2001, appendix C].
        """
        kernel, X, centres = self.kernels.kernel, self.problem.X, self.kernels.centres
        input_map = InputMap(widths)
        U, Z = input_map(X), input_map(centres)
        factors = without_candidates(self.problem, np.hstack([kernel(U, Z), self.F]), start)
        found = evidence(factors, alpha, beta, start)
        D = factors.pull(found.posterior, beta)[:, : len(Z)]
        dU, dZ = kernel.pull(U, Z, D)
        return found, input_map.pull(X, dU).log_widths + input_map.pull(centres, dZ).log_widths
