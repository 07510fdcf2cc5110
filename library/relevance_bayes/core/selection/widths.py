"""The search for the width of one dictionary by whole fits: by cross-validation or by evidence."""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt

import numpy as np

from relevance_bayes.core.algorithms.state import Iterate
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fitting import learned, pose
from relevance_bayes.core.folds import Split, subset
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import latent, predict
from relevance_bayes.core.problem import Problem, check_rows
from relevance_bayes.core.scales import CrossValidationWidth, EvidencePerInputWidth, FixedWidth, width_range
from relevance_bayes.core.selection.input_widths import input_widths
from relevance_bayes.core.selection.leave_one_out import with_temperature
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.spec import Spec, searched
from relevance_bayes.core.types import Array

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
class Score:
    """The score of a width, greater is better: one for each measured row, or a single one.

    `density` in nats; widths are compared by `ranked`, and the widest that is worse by less than `max_loss` standard
    errors is taken.
    """

    density: Array
    ranked: Array
    max_loss: float = MAX_LOSS_OF_WIDER


Scoring = Callable[[Spec], Generator[None, None, Score]]
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
    bounds: tuple[float, float], fits: int, sections: int, score: Callable[[float], Generator[None, None, Score]]
) -> Generator[Step, None, float]:
    """The widest width within bounds that is not clearly worse than the best.

    A grid even in the logarithm, from the widest down, then golden sections around its best. The score of an infinite
    width is that of a model without kernel.
    """
    low, high = log(bounds[0]), log(bounds[1])
    grid = [high - (high - low) * k / (GRID - 1) for k in range(GRID)] if high > low else [high]
    sections = sections if high > low else 0
    known: dict[float, Score] = {}
    nothing: dict[float, Score] = {}

    def eligible() -> list[float]:
        densities = {place: float(known[place].density.mean()) for place in known}
        return [place for place in known if densities[place] >= max(densities.values()) - MIN_DENSITY]

    def best() -> float:
        return max(eligible(), key=lambda place: float(known[place].ranked.mean()))

    def clearly_worse(tried: list[float], than: Score) -> bool:
        return all(_worse(known[place], than, by=MIN_STANDARD_ERRORS) for place in tried)

    def evaluations(place: float, left: int, scores: dict[float, Score]) -> Generator[Step, None, None]:
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


def _worse(tried: Score, best: Score, *, by: float) -> bool:
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


def _by_cross_validation(rows: Rows, splits: list[Split], fit_log: FitLog) -> Scoring:
    """By squared errors where the latent has the targets' units, as in the papers, else by densities.

    Many independent weights overfit noise: the best means have overconfident densities, so that densities choose models
    that are too smooth.
    """

    def score(spec: Spec) -> Generator[None, None, Score]:
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
        return Score(density, -np.concatenate(squares), MAX_LOSS_BY_SQUARES) if by_squares else Score(density, density)

    return score


def _squares(model: Model, fold: Rows) -> Array:
    """(working t - mean)^2 of each row (N,), summed over its targets, in units of its noise where that is known."""
    targets, _ = model.likelihood.working(fold.t)
    lost = np.square(targets - latent(model, fold.X).mean).reshape(len(fold.t), -1).sum(axis=1)
    return np.asarray(lost if fold.noise_sd is None else lost / np.square(fold.noise_sd))


def _by_evidence(rows: Rows, fit_log: FitLog) -> Scoring:
    def score(spec: Spec) -> Generator[None, None, Score]:
        objective = _ended(rows, spec, fit_log)[1].state.objective
        yield
        found = np.array([objective])
        return Score(found, found)

    return score


def _ended(rows: Rows, spec: Spec, fit_log: FitLog) -> tuple[Problem, Iterate]:
    """The end of a fit, and the problem that it solved."""
    problem = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
    (last,) = deque(fit_log.iterates(problem, spec), maxlen=1)
    return problem, last
