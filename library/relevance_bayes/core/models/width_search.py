"""The search for the widths of one dictionary of independent weights: by cross-validation, or by evidence.

The eta-RVM of [TIPPING2001, appendix C]. The evidence of independent weights over-fits the more, the more is learned
by it [THEORY 5], and its widths are too narrow: on Friedman 1, 2 and 3 (24 draws of 240 rows, mean
squared error and functions) they come to .44 with 15, 5,250 with 4 and .0191 with 14, where the widths of the Gaussian
process with the same kernel come to .34 with 12, 1,890 with 4 and .0130 with 8 at less evidence; by re-estimation to
.28 with 13, as the paper to .27 with 11.5. So the widths are those of the process where its evidence has a closed
form; else functions are chosen and widths are optimised in turn.
"""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt

import numpy as np

from relevance_bayes.core.algorithms import Greedy, ReEstimation, Sequential
from relevance_bayes.core.algorithms.ascent import learns_noise, min_alpha
from relevance_bayes.core.algorithms.hyperparameter_space import maximise
from relevance_bayes.core.algorithms.state import EvidenceIterate, Iterate, State, with_evidence
from relevance_bayes.core.basis import Bias, Inputs, KernelBasis, KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.inference.evidence import EvaluatedEvidence, evidence, log_choices
from relevance_bayes.core.inference.factors import without_candidates
from relevance_bayes.core.inference.problem import Problem, check_rows
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.core.kernels.hyperparameters import (
    CrossValidationWidth,
    EvidencePerInputWidth,
    FixedWidth,
    InputMap,
    width_range,
)
from relevance_bayes.core.log_density import HALF_UNIT, min_log_density
from relevance_bayes.core.models.fitting import FitLog, learned, pose
from relevance_bayes.core.models.model import Model, Spec, searched
from relevance_bayes.core.models.pooling.members import whole
from relevance_bayes.core.models.prediction import latent, predict, with_temperature
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.rows import Folding, Rows, Step
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

    def evidence(self, widths: Array, alpha: Array, beta: float, start: Array) -> tuple[EvaluatedEvidence, Array]:
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


GRID = 15
"""The number of widths tried over the whole range, evenly in their logarithms."""

SECTIONS = 6
"""Steps of golden section around the best of them, where the score is the evidence. Scores of folds are noisy, and
golden section would fit their noise (sinc with uniform noise: RMSE .0170 without, .0184 with three steps)."""

MAX_LOSS_OF_WIDER = 0.25
"""Standard errors of the mean loss within which a wider kernel is preferred to the best, since it makes a sparser and
smoother model: a milder one-standard-error rule [BREIMAN1984], since a whole standard error oversmooths classes
(Ripley's mixture: log loss .270 against .258)."""

MAX_LOSS_BY_SQUARES = 0.5
"""The same where squared errors are compared, which vary more between rows."""

MIN_DENSITY = 0.25
"""Nats a row by which a width may be below the best log density and still be the best by squared errors, which excludes
fits whose noise has collapsed. Friedman 1: 1.18 of the SVM's error by densities, 1.03 by squares (but 2.8 nats, against
.75), 1.04 and .75 by both; Friedman 2 and sinc .88, .81 and .85 by both, .91, .81 and .89 by densities."""

MIN_STANDARD_ERRORS = 2.0
"""Standard errors of the mean loss by which two widths in a row have to be worse than the best to end the search before
narrower ones. While the widest is the best, at least half of the widths are tried: kernels that are all too wide differ
by chance alone (banana, one split of ten: the widest was taken, 45 % error for 11 %). Where the best is not clearly
better than no kernel, the search goes on until two in a row are clearly worse than no kernel: otherwise 300 noise-free
rows of a wave of many periods are taken for noise."""

GOLDEN = 0.381966
"""The step of golden section as a share of the longer side: 2 less the golden ratio."""

MAX_ROWS_SEARCHED = 1_000
"""The most rows of a width search, drawn by content."""


@dataclass(frozen=True, eq=False)
class WidthScore:
    """The score of a width, greater is better: one for each measured row, or a single one.

    `density` in nats; widths are compared by `ranked`, and the widest that is worse by less than `max_loss` standard
    errors is taken.
    """

    density: Array
    ranked: Array
    max_loss: float = MAX_LOSS_OF_WIDER


WidthScoring = Callable[[Spec], Generator[None, None, WidthScore]]
"""The score of a spec; it yields after each of its fits."""


def with_width(rows: Rows, spec: Spec, folding: Folding, fit_log: FitLog) -> Generator[Step, None, Spec]:
    """The spec with the width found for its one searched dictionary, on at most MAX_ROWS_SEARCHED rows; the log records
    the width."""
    places = searched(spec)
    if not places:
        return spec
    (place,) = places
    basis = spec.basis[place]
    assert isinstance(basis, KernelBasis)

    def fixed(width: float | tuple[float, ...]) -> Spec:
        found = replace(basis, width=FixedWidth(width))
        return replace(spec, basis=(*spec.basis[:place], found, *spec.basis[place + 1 :]))

    known = fit_log.recorded()
    if known is not None:
        return fixed(tuple(known.tolist()) if isinstance(basis.width, EvidencePerInputWidth) else float(known[0]))
    begun = fit_log.place
    some = subset(rows.X, rows.t, MAX_ROWS_SEARCHED, spec.seed)
    fewer = rows.take(some)
    if isinstance(basis.width, EvidencePerInputWidth):
        widths = yield from input_widths(fewer, place, fixed, fit_log)
        fit_log.record(begun, np.array(widths))
        return fixed(widths)
    fits, sections, score = 1, SECTIONS, _by_evidence(fewer, fit_log)
    if isinstance(basis.width, CrossValidationWidth):
        splits = usable(fewer, spec, list(folding.take(some).splits(fewer, basis.width.folds, spec.seed)))
        fits, sections, score = len(splits), 0, _by_cross_validation(fewer, splits, fit_log)
    without = Spec(spec.likelihood, (*spec.basis[:place], *spec.basis[place + 1 :]) or (Bias(),), seed=spec.seed)
    width = yield from _search(
        width_range(fewer.X), fits, sections, lambda width: score(without if width == inf else fixed(width))
    )
    fit_log.record(begun, np.array([width]))
    return fixed(width)


def _search(
    bounds: tuple[float, float], fits: int, sections: int, score: Callable[[float], Generator[None, None, WidthScore]]
) -> Generator[Step, None, float]:
    """The widest width within bounds that is not clearly worse than the best.

    A grid even in the logarithm, from the widest down, then golden sections around its best. The score of an infinite
    width is that of a model without kernel.
    """
    low, high = log(bounds[0]), log(bounds[1])
    grid = [high - (high - low) * k / (GRID - 1) for k in range(GRID)] if high > low else [high]
    sections = sections if high > low else 0
    known: dict[float, WidthScore] = {}
    nothing: dict[float, WidthScore] = {}

    def eligible() -> list[float]:
        densities = {place: float(known[place].density.mean()) for place in known}
        return [place for place in known if densities[place] >= max(densities.values()) - MIN_DENSITY]

    def best() -> float:
        return max(eligible(), key=lambda place: float(known[place].ranked.mean()))

    def clearly_worse(tried: list[float], than: WidthScore) -> bool:
        return all(_worse(known[place], than, by=MIN_STANDARD_ERRORS) for place in tried)

    def evaluations(place: float, left: int, scores: dict[float, WidthScore]) -> Generator[Step, None, None]:
        """Evaluate a width; `left` more are to be evaluated after it."""
        scoring = score(exp(place))
        for fitted in range(1, fits + 1):
            next(scoring)
            done = (len(known) + len(nothing)) * fits + fitted
            yield Step("width search", done, done + fits - fitted + left * fits, "fits")
        try:
            next(scoring)
        except StopIteration as ended:
            scores[place] = ended.value

    yield Step("width search", 0, fits * (len(grid) + sections), "fits")
    for number, place in enumerate(grid, start=1):
        yield from evaluations(place, len(grid) - number + sections, known)
        min_tried, tried = GRID // 2 if best() == grid[0] else 2, grid[number - 2 : number]
        if len(known[place].ranked) == 1 or number <= min_tried or not clearly_worse(tried, known[best()]):
            continue
        if not nothing:
            yield from evaluations(inf, len(grid) - number + sections, nothing)
        if _worse(nothing[inf], known[best()], by=MIN_STANDARD_ERRORS) or clearly_worse(tried, nothing[inf]):
            break
    found = grid.index(best())
    left, right = grid[min(found + 1, len(grid) - 1)], grid[max(found - 1, 0)]
    for section in range(1, sections + 1):
        middle = best()
        golden = middle + GOLDEN * ((right if right - middle > middle - left else left) - middle)
        yield from evaluations(golden, sections - section, known)
        nearer, farther = (middle, golden) if best() == middle else (golden, middle)
        left, right = (left, farther) if farther > nearer else (farther, right)
    found_best = known[best()]
    return exp(max(place for place in eligible() if not _worse(known[place], found_best, by=found_best.max_loss)))


def _worse(tried: WidthScore, best: WidthScore, *, by: float) -> bool:
    """True where the mean of the paired losses is more than `by` standard errors above zero."""
    lost = best.ranked - tried.ranked
    error = float(lost.std(ddof=1)) / sqrt(len(lost)) if len(lost) > 1 else 0.0
    return float(lost.mean()) > by * error


def usable(rows: Rows, spec: Spec, splits: list[Split]) -> list[Split]:
    """The splits whose training rows can be fitted and whose folds have rows."""
    usable = []
    for learning, measuring in splits:
        try:
            check_rows(rows.X[learning], rows.t[learning])
            spec.likelihood.check(rows.t[learning])
        except DataError:
            continue
        if len(measuring):
            usable.append((learning, measuring))
    if not usable:
        raise DataError(
            "expected rows that can be divided into folds, each with targets that differ: fix the width instead"
        )
    return usable


def _by_cross_validation(rows: Rows, splits: list[Split], fit_log: FitLog) -> WidthScoring:
    """By squared errors where the latent has the targets' units, as in the papers, else by densities.

    Many independent weights overfit noise: the best means have overconfident densities, so that densities choose models
    that are too smooth.
    """

    def score(spec: Spec) -> Generator[None, None, WidthScore]:
        densities, squares = [], []
        by_squares = spec.likelihood.is_conjugate and spec.likelihood.has_target_units
        for learning, measuring in splits:
            # Without augmentation, which favours narrow kernels.
            others, fold = rows.take(learning), rows.take(measuring)
            model = replace(learned(*_ended(others, spec, fit_log)), augmentation=None)
            # The temperature matters most for wide kernels, whose probabilities are underconfident.
            model = with_temperature(model, others)
            densities.append(predict(model, fold.X, fold.noise_sd).log_density(fold.t))
            if by_squares:
                squares.append(_squares(model, fold))
            yield
        density = np.concatenate(densities)
        if spec.likelihood.targets != "class":
            t = np.concatenate([rows.t[measuring] for _, measuring in splits])
            density = np.maximum(
                density, min_log_density(t, half_width=HALF_UNIT if spec.likelihood.targets == "count" else None)
            )
        return (
            WidthScore(density, -np.concatenate(squares), MAX_LOSS_BY_SQUARES)
            if by_squares
            else WidthScore(density, density)
        )

    return score


def _squares(model: Model, fold: Rows) -> Array:
    """(working t - mean)^2 of each row (N,), summed over its targets, in units of its noise where that is known."""
    targets, _ = model.likelihood.working(fold.t)
    lost = np.square(targets - latent(model, fold.X).mean).reshape(len(fold.t), -1).sum(axis=1)
    return np.asarray(lost if fold.noise_sd is None else lost / np.square(fold.noise_sd))


def _by_evidence(rows: Rows, fit_log: FitLog) -> WidthScoring:
    def score(spec: Spec) -> Generator[None, None, WidthScore]:
        objective = _ended(rows, spec, fit_log)[1].state.objective
        yield
        found = np.array([objective])
        return WidthScore(found, found)

    return score


def _ended(rows: Rows, spec: Spec, fit_log: FitLog) -> tuple[Problem, Iterate]:
    """The end of a fit, and the problem that it solved."""
    problem = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
    (last,) = deque(fit_log.iterates(problem, spec), maxlen=1)
    return problem, last
