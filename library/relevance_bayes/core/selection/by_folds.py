"""The training of classes: one spec, or the one of several alternatives of the least log loss of held-out rows.

A fold's rows are predicted by what is learned from the other rows: by steps, or anew. By steps the scales of an
alternative are first learned from all rows. Those of a fold's training rows are at most a few steps from there, each
towards the maximum of the bound of these rows alone, and the fold is predicted by the posterior through the pivots on
these rows. No functions are chosen in a fold.

The alternative of the smallest mean log loss is taken, at the temperature fitted to the same rows, and fitted to all
rows to its end. One with linear columns is taken only where it is clearly better.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import log
from typing import TypeAlias

import numpy as np

from relevance_bayes.core.algorithms.scales_through_pivots import ScalesOfAll, losses_of_unseen, scales_from_start
from relevance_bayes.core.algorithms.state import Iterate, Process, State
from relevance_bayes.core.algorithms.task import MAX_PIVOTS, ROWS_FOR_SCALES, ROWS_FOR_STARTS, ProcessTask, process_of
from relevance_bayes.core.basis import Inputs, KernelBasis
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.folds import Split
from relevance_bayes.core.inference.problem import Problem, check_rows
from relevance_bayes.core.likelihoods import Bernoulli, BernoulliPerClass, Categorical, ClassLikelihood
from relevance_bayes.core.likelihoods.base import ClassPrediction, LatentGaussian
from relevance_bayes.core.likelihoods.bernoulli import fitted_temperature, tempered
from relevance_bayes.core.models.classes import constant_latent, is_softmax_regression, without_functions
from relevance_bayes.core.models.fitting import pose_rows
from relevance_bayes.core.models.model import Model, Spec, has_width_per_input, searched
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.models.prediction import Measured
from relevance_bayes.core.numpy_namespace import NUMPY
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import Folding, Rows, Step
from relevance_bayes.core.selection.candidates import (
    FitContext,
    FittedClasses,
    at_learned_temperature,
    binary_problems,
    fitted_classes,
    is_constant,
    learns_temperature,
    posed,
)
from relevance_bayes.core.selection.scoring import (
    BEHIND,
    NOT_FITTED,
    Compared,
    HeldOutFigures,
    Scoring,
    Trained,
    is_clearly_better,
    is_hopeless,
    measured_rows,
    standard_error,
    within,
    work_of,
)
from relevance_bayes.core.types import Array, Indices

MIN_ROWS_PER_CLASS = 50
"""With fewer rows for each class a fold's scales begin at a start: those of all rows have seen too much of each row. Of
60 rows of three classes the score of steps was .16 nats a row too good; from the start that of sixteen tables was .006
off that of new rows, of folds learned anew with their functions .020."""

MIN_SHARE_OF_ROWS = 0.5
"""The least share of the rows that a fold's training rows have where its scales are steps from those of all rows."""

EVALUATIONS, EVALUATIONS_PER_INPUT = 75, 105
"""The most evaluations of the evidence while scales are learned: of one width, and of one per input from three
starts."""

EVALUATIONS_OF_STEPS = 10
"""The most evaluations in a fold whose scales are steps from those of all rows."""


MIN_ROWS_TO_COMPARE, MAX_ROWS_TO_COMPARE = 100, 1_000
"""The least and the most rows on which starts are compared that have not seen them."""


def work(spec: Spec, rows: int, evaluations: int | None = None) -> float:
    """An upper bound of the evaluations times rows and functions of a fit while its scales are learned."""
    if evaluations is None:
        evaluations = EVALUATIONS_PER_INPUT if has_width_per_input(spec) else EVALUATIONS
    if is_softmax_regression(spec):
        return float(EVALUATIONS * rows)
    some = min(rows, ROWS_FOR_SCALES)
    functions = some if spec.likelihood.is_conjugate else min(some, MAX_PIVOTS)
    times = 1 if spec.likelihood.is_conjugate else spec.likelihood.latents
    return float(times * evaluations * some * functions)


def has_linear_columns(spec: Spec) -> bool:
    """True where the inputs are columns of a spec beside its kernel."""
    return any(isinstance(one, Inputs) for one in spec.basis) and not is_softmax_regression(spec)


def learns_through_pivots(spec: Spec) -> bool:
    """True where the scales of a spec are learned through pivots, not among fits or with terms."""
    classes = isinstance(spec.likelihood, Bernoulli | BernoulliPerClass | Categorical)
    additive = any(isinstance(one, KernelBasis) and one.additive != "none" for one in spec.basis)
    return classes and isinstance(spec.prior, GaussianProcess) and not searched(spec) and not additive


def takes_steps(spec: Spec, rows: int) -> bool:
    """True where rows are many enough that a fold's scales are steps from those of all rows."""
    return learns_through_pivots(spec) and rows >= MIN_ROWS_PER_CLASS * max(spec.likelihood.latents, 2)


Learn = Callable[[Rows, Spec, Sequence[State | None]], Generator[Step, None, FittedClasses]]
"""The fit of an alternative to some rows, at temperature 1, from given states where there are any."""


@dataclass(eq=False)
class _Learning:
    """A model of an alternative while its scales are learned from all rows, before functions are chosen."""

    spec: Spec
    problem: Problem
    iterates: Iterator[Iterate]
    state: State

    def is_started(self, process: Process) -> bool:
        """True where the best of the starts is known."""
        return process.phase != "scales" or process.starts >= ProcessTask.of(self.problem).space.starts

    def until(self, is_reached: Callable[[Process], bool]) -> Iterator[None]:
        """Iterate until the process is there."""
        while not is_reached(process_of(self.state)):
            self.state = next(self.iterates).state
            yield

    @cached_property
    def of_all(self) -> ScalesOfAll:
        """The scales with their curvature; raises NotPositiveDefiniteError."""
        return ScalesOfAll.of(ProcessTask.of(self.problem), self.state)


Models: TypeAlias = tuple[_Learning | None, ...]
"""Those of an alternative, None for a class of constant probability."""


@dataclass(frozen=True)
class FoldFits:
    """The fits of alternatives to all rows, and to the training rows of folds.

    `by_steps` a fold is still learned anew where it has fewer than MIN_SHARE_OF_ROWS of the rows to learn from, where a
    matrix is not positive definite, and where no share of a step raises the bound; of few rows its scales begin at the
    start that won on all rows. `scaled` are the models of each alternative, None for a class of constant probability;
    `behind` are the alternatives that are clearly worse than another one after their starts.
    """

    learn: Learn
    folding: Folding
    on: FitContext
    by_steps: bool
    scaled: dict[Spec, Models] = field(default_factory=dict)
    behind: set[Spec] = field(default_factory=set)

    def work(self, spec: Spec, rows: int) -> tuple[float, float]:
        """The work of an alternative before the folds, and in each: see `work`."""
        if self.by_steps and learns_through_pivots(spec):
            evaluations = EVALUATIONS_OF_STEPS if takes_steps(spec, rows) else EVALUATIONS
            return work(spec, rows), work(spec, rows, evaluations)
        return 0.0, work(spec, rows)

    def begin(self, rows: Rows, specs: Sequence[Spec]) -> Generator[Step, None, None]:
        """Learn the scales of each alternative from all rows where folds begin with them.

        The starts of all come first: those whose best is clearly worse on rows that no start has seen are `behind`.
        """
        specs = [spec for spec in specs if self.by_steps and learns_through_pivots(spec)]
        if not specs:
            return
        started = dict[Spec, Models]()
        for number, spec in enumerate(specs):
            step = Step("scales", number, 2 * len(specs), "models")
            with suppress(NotPositiveDefiniteError):
                started[spec] = yield from self._started(rows, spec, step)
        with suppress(NotPositiveDefiniteError):
            self.behind.update(self._clearly_worse(len(rows.t), started))
        for number, (spec, models) in enumerate(started.items(), start=len(specs)):
            if spec not in self.behind:
                yield (step := Step("scales", number, 2 * len(specs), "models"))
                with suppress(NotPositiveDefiniteError):
                    for model in filter(None, models) if takes_steps(spec, len(rows.t)) else ():
                        yield from (step for _ in model.until(lambda process: process.phase != "scales"))
                    self.scaled[spec] = models

    def _started(self, rows: Rows, spec: Spec, step: Step) -> Generator[Step, None, Models]:
        """The models of an alternative (K,) at the best of their starts, None for one of constant probability."""
        yield step
        models = list[_Learning | None]()
        for of_class, single in binary_problems(rows, spec):
            if is_constant(of_class, single):
                models.append(None)
                continue
            resolved, problem = yield from posed(of_class, single, self.folding, self.on)
            iterates = self.on.fit_log.iterates(problem, resolved)
            model = _Learning(resolved, problem, iterates, next(iterates).state)
            yield from (step for _ in model.until(model.is_started))
            models.append(model)
        return tuple(models)

    def _clearly_worse(self, rows: int, started: Mapping[Spec, Models]) -> list[Spec]:
        """The alternatives that are clearly worse than another one on rows that no start has seen."""
        specs = list(started)
        if len(specs) < 2 or rows < ROWS_FOR_STARTS + MIN_ROWS_TO_COMPARE:
            return []
        losses = self.on.fit_log.once(lambda: np.array([_losses_of_starts(started[spec], rows) for spec in specs]))
        is_measured = losses.any(axis=0)
        losses = losses[:, is_measured]
        best = losses[int(losses.mean(axis=1).argmin())]
        gains = dict(zip(specs, best - losses, strict=True))
        # One with linear columns has to be clearly better in the end.
        return [
            spec
            for spec, gain in gains.items()
            if (is_hopeless(gain, len(best) / rows) if has_linear_columns(spec) else is_clearly_better(-gain))
        ]

    def fit(self, rows: Rows, spec: Spec) -> Generator[Step, None, FittedClasses]:
        """The fit of an alternative to all rows, from its scales where they are known; raises
        NotPositiveDefiniteError."""
        begin = [None if model is None else model.state for model in self.scaled.get(spec, ())]
        return (yield from self.learn(rows, spec, begin))

    def probabilities(
        self, rows: Rows, spec: Spec, others: Indices, fold: Indices
    ) -> Generator[Step, None, Array | None]:
        """The probabilities (n, K) of the rows `fold` (n,) by an alternative fitted to the rows `others`, None where
        there are none; raises DataError, NotPositiveDefiniteError."""
        latents = None
        if spec in self.scaled and len(others) >= MIN_SHARE_OF_ROWS * len(rows.t):
            latents = yield from self._latents(rows, spec, others, fold)
        if latents is None:
            fitted = yield from self.learn(rows.take(others), spec, ())
            prediction, _ = ready_of(fitted.model).predict(rows.take(fold).X)
        else:
            assert isinstance(spec.likelihood, ClassLikelihood), "expected a likelihood of classes"
            prediction = spec.likelihood.predictive(LatentGaussian.of_each(latents), None)
        return prediction.probabilities if isinstance(prediction, ClassPrediction) else None

    def _latents(
        self, rows: Rows, spec: Spec, others: Indices, fold: Indices
    ) -> Generator[Step, None, list[LatentGaussian] | None]:
        """The latents of the fold's rows, by model; None where a fold is learned anew."""
        found = list[LatentGaussian]()
        for (of_class, single), model in zip(binary_problems(rows, spec), self.scaled[spec], strict=True):
            yield Step("folds", 0, None, "folds")
            some = of_class.take(others)
            if model is None or is_constant(some, single):
                found.append(constant_latent(without_functions(rows.X.shape[1], some.t, len(some.t)), len(fold)))
                continue
            try:
                latent = _stepped(model, some, others, rows.take(fold).X, takes_steps(spec, len(rows.t)))
            except NotPositiveDefiniteError:
                return None
            if latent is None:
                return None
            found.append(latent)
        return found


def _losses_of_starts(models: Models, rows: int) -> Array:
    """The log loss (N,) of each row, summed over the models whose starts have not seen it."""
    found = np.zeros(rows)
    for model in filter(None, models):
        found += losses_of_unseen(ProcessTask.of(model.problem), model.state, MAX_ROWS_TO_COMPARE)
    return found


def _stepped(model: _Learning, some: Rows, others: Indices, X: Array, takes_steps: bool) -> LatentGaussian | None:
    """The latent at a fold's X (n, d) by its training rows `some`, whose numbers are `others`; None where no step
    raises the bound. Without steps the scales begin where the best start of all rows did."""
    problem = pose_rows(some.blocks(1), model.spec, noise_sd=some.noise_sd)
    task, state = ProcessTask.of(problem), model.spec.algorithm.init(problem).state
    is_whole = len(task.rows_for_scales(state).t) == problem.rows
    if takes_steps:
        scales = model.of_all
        first = scales.sites.take(others) if is_whole and len(scales.at.rows.t) == model.problem.rows else None
        at = scales.stepped(task, state, first)
    else:
        at = scales_from_start(task, state, process_of(model.state).start or 0)
    if at is None:
        return None
    found = at.bound if is_whole else task.bound(task.rows(state), at.vectors, at.h)
    return task.latent(at.vectors, at.h, found, X, problem.candidates.columns(X, state.active))


MIN_FOLDS = 3
"""The folds by which all alternatives are compared where five are beyond the budget."""

MIN_ROWS_TO_DROP = 50
"""Before so many rows are measured, no alternative but those with linear columns is dropped: the standard error of
so many differences is known to a tenth."""

MIN_GAIN_OVER_CONSTANT = 0.25
"""The gain in log loss over a constant probability, in its standard errors, at or below which the constant is taken:
few rows may show a function by chance. Of thirty draws of 20 rows of noise, five were behind the frequencies of the
classes at 0, three at .25 and at .5; of 600 rows with four of one class, whose gain is that of few rows, .5 is too
much. The gain of all rows has to be above log A nats as well: the best of A alternatives is as probable a priori as the
constant only together with the others. Of 65 draws of the noise, nine were behind without it and six with it."""

DROPPED = np.inf
"""The value in place of the probabilities of a dropped alternative; NaN is that of one that could not be fitted."""

UNAFFORDABLE = "its folds are beyond what the effort allows"
NOT_FITTED_TO_ALL = "could not be fitted to all rows"


def trained_classes(
    rows: Rows, folding: Folding, *, specs: tuple[Spec, ...], scoring: Scoring, on: FitContext
) -> Generator[Step, None, Trained]:
    """The fit of classes: one spec, or several of which folds choose one."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    first, folding = specs[0], replace(folding, stratified=True)
    first.likelihood.check(rows.t)
    learn = partial(fitted_classes, folding=folding, on=on)
    if len(specs) == 1:
        fitted = yield from learn(rows, first)
        fits = (fit for fit in fitted.fits if fit is not None)
        work = sum(work_of(fit.problem, first, fit.last.state) for fit in fits)
        return replace(fitted.trained(first, at_learned_temperature(fitted, rows, folding, first)), work=work)
    splits = scoring.splits(rows, folding, first.seed)
    fold_fits = FoldFits(learn, folding, on, by_steps=not scoring.learns_folds_anew)
    budget = None if scoring.bounds is None else scoring.bounds.budget_of_choice
    return (yield from chosen(rows, specs, splits, fold_fits, budget))


def chosen(
    rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], fits: FoldFits, budget: float | None
) -> Generator[Step, None, Trained]:
    """Choose one of the alternatives `specs` by the folds `splits` and fit it to rows with classes t (N,).

    Beyond `budget`, in the work of `Bounds`, folds are left out first, then all alternatives but the first. An
    alternative that can't be fitted is reported with the reason. Raises NotPositiveDefiniteError where none can.
    """
    splits = [(others, fold) for others, fold in splits if len(np.unique(rows.t[others])) > 1]
    alternatives, folds = affordable(len(rows.t), specs, len(splits), fits, budget)
    measured, total = splits[:folds], len(splits)
    if folds:
        yield from fits.begin(rows, specs[:alternatives])
    table = yield from _tables(rows, specs[:alternatives], measured, fits)
    evaluation = FoldEvaluation(rows.t, specs, tuple(measured), table)
    reasons = [evaluation.reason(place) if place < alternatives else UNAFFORDABLE for place in range(len(specs))]
    for place in evaluation.ranked():
        try:
            fitted = yield from fits.fit(rows, specs[place])
        except NotPositiveDefiniteError:
            reasons[place] = NOT_FITTED_TO_ALL
            continue
        model = at_learned_temperature(fitted, rows, fits.folding, specs[place], evaluation.temperature(place))
        found = evaluation.each[place]
        validation = HeldOutFigures() if found is None else HeldOutFigures.of(found, evaluation.rows)
        constant = _better_constant(rows, specs[place], measured, validation, log(len(specs)))
        if constant is not None:
            model, validation = constant
        compared = tuple(
            Compared(spec, evaluation.scores[other], why := reasons[other], why not in {NOT_FITTED, NOT_FITTED_TO_ALL})
            for other, spec in enumerate(specs)
            if other != place and (measured or reasons[other])
        )
        trained = replace(fitted.trained(specs[place], fitted.model), learned=model, compared=compared)
        return trained.measured(validation, folds, total)
    raise NotPositiveDefiniteError(f"none of {len(specs)} alternatives could be fitted: {NOT_FITTED_TO_ALL}")


def _better_constant(
    rows: Rows, spec: Spec, splits: Sequence[Split], validation: HeldOutFigures, min_gain: float
) -> tuple[Model, HeldOutFigures] | None:
    """The constant probability of two classes and its validation, where the model's gain over it is not above
    MIN_GAIN_OVER_CONSTANT, or that of all rows not above `min_gain` nats; else None."""
    likelihood = spec.likelihood
    if not isinstance(likelihood, Bernoulli) or validation.left_out is None:
        return None

    def constant(some: Rows) -> Model:
        return replace(without_functions(rows.X.shape[1], some.t, len(some.t)), likelihood=likelihood)

    parts = [measured_rows(constant(rows.take(others)), rows.take(fold)) for others, fold in splits]
    found = HeldOutFigures.of(Measured.joined(parts), np.concatenate([fold for _, fold in splits]))
    assert found.left_out is not None
    gains = found.left_out.measured.each["log_loss"] - validation.left_out.measured.each["log_loss"]
    is_better = gains.mean() > MIN_GAIN_OVER_CONSTANT * standard_error(gains) and gains.sum() > min_gain
    return None if is_better else (constant(rows), found)


def affordable(rows: int, specs: Sequence[Spec], folds: int, fits: FoldFits, budget: float | None) -> tuple[int, int]:
    """The numbers of alternatives, the first ones, and of folds that `budget` allows.

    All alternatives by all folds, or by MIN_FOLDS; else the first by either; else none.
    """
    each = [fits.work(spec, rows) for spec in specs]
    for alternatives in (len(specs), 1):
        for some in (folds, min(MIN_FOLDS, folds)):
            if budget is None or sum(begin + some * fold for begin, fold in each[:alternatives]) <= budget:
                return alternatives, some
    return 1, 0


def _tables(rows: Rows, specs: Sequence[Spec], splits: Sequence[Split], fits: FoldFits) -> Generator[Step, None, Array]:
    """(A, K, n): probabilities of the rows of all folds, one after the other, by each alternative."""
    K, fit_log = max(specs[0].likelihood.latents, 2), fits.on.fit_log
    tables, kept = np.empty((len(specs), K, 0)), [spec not in fits.behind for spec in specs]
    done, total = 0, sum(kept) * len(splits)
    yield Step("folds", 0, total, "fits")
    for number, (others, fold) in enumerate(splits):
        table = fit_log.recorded()
        if table is None:
            place, table = fit_log.begin(), np.empty((len(specs), K, len(fold)))
            for each, spec, is_kept in zip(table, specs, kept, strict=True):
                each[:] = np.nan if is_kept else DROPPED
                if is_kept:
                    steps = fits.probabilities(rows, spec, others, fold)
                    found = yield from within(steps, Step("folds", done, total, "fits"))
                    each[:] = np.nan if found is None else found.T
            fit_log.record(place, table.reshape(-1, len(fold)))
        tables = np.concatenate([tables, table.reshape(len(specs), K, len(fold))], axis=2)
        done += sum(kept)
        kept = _kept(tables, rows.t, specs, splits, number + 1)
        total = done + sum(kept) * (len(splits) - number - 1)
        yield Step("folds", done, total, "fits")
    return tables


def _kept(table: Array, t: Array, specs: Sequence[Spec], splits: Sequence[Split], number: int) -> list[bool]:
    """The alternatives (A,) that are kept after the first `number` folds (A, K, n): not failed, dropped or hopeless."""
    measured = np.concatenate([fold for _, fold in splits[:number]])
    losses = np.array([-_log_probability(one, t[measured]) for one in table])
    is_finite = [bool(np.isfinite(one).all()) for one in losses]
    if not any(is_finite):
        return [True] * len(table)
    usual = [place for place, finite in enumerate(is_finite) if finite and not has_linear_columns(specs[place])]
    if not usual:
        return is_finite
    best, share = min(usual, key=lambda place: float(losses[place].mean())), number / len(splits)

    def is_dropped(spec: Spec, gains: Array) -> bool:
        """One with linear columns has to be clearly better in the end, others to be better."""
        if has_linear_columns(spec):
            return is_hopeless(gains, share)
        return len(gains) >= MIN_ROWS_TO_DROP and is_hopeless(gains, share, needed=0.0)

    return [
        finite and (place == best or not is_dropped(specs[place], losses[best] - losses[place]))
        for place, finite in enumerate(is_finite)
    ]


def _log_probability(probabilities: Array, t: Array) -> Array:
    """log p of the classes t (n,), by probabilities (K, n): NaN where the fit failed, infinite where dropped."""
    if not np.isfinite(probabilities).all():
        return np.where(np.isnan(probabilities[0]), np.nan, -probabilities[0])
    return _prediction(probabilities.T).log_density(t)


def _prediction(probabilities: Array) -> ClassPrediction:
    """From probabilities (n, K) alone."""
    none = np.zeros(len(probabilities))
    return ClassPrediction(probabilities, none, none)


@dataclass(frozen=True, eq=False)
class FoldEvaluation:
    """Probabilities `table` (A, K, n) of the rows of some folds, one fold after the other, by the first A of the specs.

    t (N,) are the classes of all rows.
    """

    t: Array
    specs: Sequence[Spec]
    splits: tuple[Split, ...]
    table: Array

    @cached_property
    def rows(self) -> Indices:
        """The numbers (n,) of the measured rows."""
        return np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in self.splits)])

    @cached_property
    def each(self) -> list[Measured | None]:
        """The rows by each alternative, each fold at its temperature; None where not all rows were measured."""
        found = [self._measured(one.T) if len(self.rows) and np.isfinite(one).all() else None for one in self.table]
        return [*found, *(None for _ in self.specs[len(found) :])]

    @cached_property
    def scores(self) -> list[float | None]:
        """The mean log probability of the rows' classes by each alternative, in nats; None without."""
        return [None if one is None else -float(one.each["log_loss"].mean()) for one in self.each]

    def reason(self, place: int) -> str | None:
        """The reason why an alternative was not measured on all rows, None where it was."""
        if not len(self.rows) or self.each[place] is not None:
            return None
        if np.isnan(self.table[place]).any():
            return NOT_FITTED
        edges, dropped = np.cumsum([0, *(len(fold) for _, fold in self.splits)]), self.table[place, 0] == DROPPED
        return BEHIND.format(int(np.searchsorted(edges, int(dropped.argmax()), side="right")) - 1, len(self.splits))

    def ranked(self) -> list[int]:
        """The alternatives in the order of their scores, those without one last; the earlier of equal ones first.

        One with linear columns comes after the best of the others where it is not clearly better.
        """
        scores = self.scores
        order = sorted(range(len(scores)), key=lambda place: (scores[place] is None, -(scores[place] or 0.0)))
        usual = next((place for place in order if not has_linear_columns(self.specs[place])), order[0])
        first, other = self.each[order[0]], self.each[usual]
        if usual == order[0] or first is None or other is None:
            return order
        if is_clearly_better(other.each["log_loss"] - first.each["log_loss"]):
            return order
        return [usual, *(place for place in order if place != usual)]

    def temperature(self, place: int) -> float | None:
        """The temperature of all measured rows; None where it is not learned, or no row was measured."""
        if not learns_temperature(self.specs[0]) or self.each[place] is None:
            return None
        return fitted_temperature(self.table[place].T, self.t[self.rows])

    def _measured(self, probabilities: Array) -> Measured:
        """The rows by their probabilities (n, K)."""
        t, stop, parts = self.t[self.rows], 0, list[Measured]()
        for _, fold in self.splits:
            here = np.arange(stop, stop := stop + len(fold))
            others = np.setdiff1d(np.arange(len(t)), here)
            found = probabilities[here]
            if learns_temperature(self.specs[0]) and len(others):
                found = tempered(NUMPY, found, fitted_temperature(probabilities[others], t[others]))
            parts.append(Measured.of(_prediction(found), t[here]))
        return Measured.joined(parts)
