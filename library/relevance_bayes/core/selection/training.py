"""One training: the width search, the fit, the compared models, and the figures."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.likelihoods import ClassLikelihood
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, alone, at_temperature, n_functions, ready_of
from relevance_bayes.core.prediction import predict, scores
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.selection.beside_a_tenth import LearnedBesideATenth, learned_beside_a_tenth
from relevance_bayes.core.selection.by_folds import chosen
from relevance_bayes.core.selection.classes import (
    Fit,
    FittedClasses,
    fitted_classes,
    learns_temperature,
    with_fold_temperature,
)
from relevance_bayes.core.selection.heteroscedastic import with_log_noise
from relevance_bayes.core.selection.leave_one_out import leave_one_out, with_temperature
from relevance_bayes.core.selection.local import LocalComparison, LocalFit, learned_locally
from relevance_bayes.core.selection.pool_reduction import MAX_SCORE_LOSS
from relevance_bayes.core.selection.pooled import Member, pooled
from relevance_bayes.core.selection.ranking import FitContext, RankedModel, fitted_to, ranked
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import (
    FOLDS,
    NORMAL,
    Bounds,
    Compared,
    Score,
    Scoring,
    figures,
    score_of,
    work_of,
)
from relevance_bayes.core.selection.validation import validated
from relevance_bayes.core.spec import Spec, check, is_heteroscedastic

NOT_REQUESTED = "No rows were held out: request a validation."


@dataclass(frozen=True, eq=False)
class Trained:
    """The result: the model, the spec as run (with the widths found), and its figures.

    `scores` on the held-out rows, `leave_one_out` and `validation` are empty where there are none; `ranked_models` are
    those that were compared by evidence, the best first. Of a pool `members` are the processes that it kept, `compared`
    the models that the folds evaluated, `score_loss` the loss by its reduction to few functions, and `unreduced` the
    number of functions without it. `score` is that of the validation, or the reason why there is none. Models that
    could not be fitted are in `compared` too, with the reason. Of a model for each class `class_specs` are the members'
    specs. `local` is the comparison with nearest-neighbour processes. Figures are in the units of t.
    """

    learned: LearnedModel
    spec: Spec
    scores: dict[str, float]
    leave_one_out: dict[str, float]
    ranked_models: tuple[RankedModel, ...] = ()
    validation: dict[str, float] = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    compared: tuple[Compared, ...] = ()
    score_loss: float | None = None
    class_specs: tuple[Spec, ...] = ()
    unreduced: int | None = None
    score: Score = field(default_factory=lambda: Score.none(NOT_REQUESTED))
    local: LocalComparison | None = None

    @property
    def model(self) -> Model:
        """The model, where it is a single one; raises SparseBayesError for a pool."""
        return alone(self.learned)


def train(
    rows: Rows,
    spec: Spec,
    *,
    compared_models: tuple[Spec, ...] = (),
    pool: tuple[Spec, ...] = (),
    alternatives: tuple[Spec, ...] = (),
    local: LocalChoice | None = None,
    folding: Folding | None = None,
    held_out: Rows | None = None,
    folds: int = 0,
    bounds: Bounds | None = None,
    max_score_loss: float = MAX_SCORE_LOSS,
    threads: int = 1,
    fit_log: FitLog | None = None,
    max_cells: int | None = None,
) -> Iterator[Step | Trained]:
    """Search for widths, fit the spec and the `compared_models` to all rows, and measure the best.

    With `pool`, processes beside the spec's, all are learned as one model: see `pooled`, also for `max_score_loss`.
    With `alternatives` to the spec of classes, folds choose one of them: see `chosen`. A model of classes has a
    temperature: that of whole folds where there are any, else that of folds of the weights alone. With `local`,
    nearest-neighbour processes are first compared with the spec's model; where one is better it is taken, and its score
    on the held-out rows is the validation, unless folds without `bounds` are requested: see `learned_locally`. A
    compared model's kernel may inherit the input map and terms of the best before it. With `folds` all of this is
    repeated on each fold's training rows, within `bounds` where there are any: see `Scoring`. `threads` share passes
    over all rows. `fit_log` records the fits, and resumes a training from its entries. Yields at least one Step, then
    one Trained. An alternative that can't be computed is left out. Raises DataError,
    IllegalCombinationError, TooManyCandidatesError where rows times candidates are more than `max_cells`, and
    NotPositiveDefiniteError where nothing can be fitted.
    """
    for each in (spec, *compared_models, *pool, *alternatives):
        check(each)
    folding, on = folding or Folding(), FitContext(FitLog() if fit_log is None else fit_log, threads, max_cells)
    scoring = Scoring(folds, bounds)
    if pool or alternatives:  # folds choose, requested or not
        scoring = scoring if folds else Scoring(FOLDS, bounds or NORMAL)
    comparison: LocalComparison | None = None
    if local is not None:
        try:
            found = yield from learned_locally(rows, spec, compared_models, local, folding, on)
        except DataError:  # too few training rows, or a constant target
            if local.required:
                raise
            found = LocalFit(LocalComparison(None, 0, None, None, None, ()))
        if found.model is not None:
            again = replace(local, required=True, on=found.comparison.taken)
            splits = scoring.splits(rows, folding, spec.seed) if folds and bounds is None else []
            yield from _locally(found, rows, spec, again, splits, folding, on, held_out)
            return
        comparison = found.comparison
    if pool:
        steps = _pooled(rows, (spec, *pool), compared_models, folding, scoring, max_score_loss, on, held_out)
    elif isinstance(spec.likelihood, ClassLikelihood):
        steps = _classes(rows, (spec, *alternatives), folding, scoring, on, held_out)
    elif is_heteroscedastic(spec.likelihood):
        steps = _with_log_noise(rows, spec, folding, scoring, on, held_out)
    else:
        steps = _ranked(rows, spec, compared_models, folding, scoring, on, held_out)
    yield from (replace(one, local=comparison) if isinstance(one, Trained) else one for one in steps)


def _ranked(
    rows: Rows,
    spec: Spec,
    compared_models: tuple[Spec, ...],
    folding: Folding,
    scoring: Scoring,
    on: FitContext,
    held_out: Rows | None,
) -> Iterator[Step | Trained]:
    """The training of a spec and of those compared with it, by their evidence."""
    splits = scoring.splits(rows, folding, spec.seed) if scoring.folds else []
    beside: LearnedBesideATenth | None = None
    if len(splits) == 1 and scoring.holds_out_a_tenth(rows) and _are_processes(spec, *compared_models):
        beside = yield from learned_beside_a_tenth(rows, spec, compared_models, splits[0], folding, on)
    if beside is not None:
        ranking, best, validation, score = beside.ranking, beside.continued, beside.validation, beside.score
    else:

        def learning(some: Rows, apart: Folding) -> Generator[Step, None, LearnedModel]:
            again = yield from ranked(some, spec, compared_models, apart, on)
            return again.best.model

        ranking = yield from ranked(rows, spec, compared_models, folding, on)
        best, validation, score = ranking.best, dict[str, float](), Score.none(NOT_REQUESTED)
        if scoring.folds:
            affordable = scoring.affordable(len(splits), best.work)
            validation = yield from validated(rows, learning, splits[:affordable], folding, on.fit_log)
            score = score_of(validation, affordable, len(splits))
    model, total, outscored = best.model, best.last.state.iteration, ranking.outscored
    measured = {} if held_out is None else scores(predict(model, held_out.X, held_out.noise_sd), held_out.t)
    noise_sd = model.noise_sd if best.spec.likelihood == spec.likelihood else None
    yield Step("done", total, total, "iterations", best.objective, len(model.mean), noise_sd)
    ranked_models = (ranking.best.ranked_model, *outscored) if outscored else ()
    left_out = leave_one_out(model, rows, best.spec.prior.rho)
    yield Trained(model, best.spec, measured, left_out, ranked_models, validation, compared=ranking.failed, score=score)


def _are_processes(*specs: Spec) -> bool:
    return all(isinstance(each.prior, GaussianProcess) for each in specs)


def _locally(
    found: LocalFit,
    rows: Rows,
    spec: Spec,
    choice: LocalChoice,
    splits: Sequence[Split],
    folding: Folding,
    on: FitContext,
    held_out: Rows | None,
) -> Iterator[Step | Trained]:
    """The end of a training whose nearest-neighbour process was taken.

    It is measured on the held-out rows, or by the folds `splits`, where there are any: on each one's training rows the
    process is learned again by `choice`.
    """
    if found.model is None or found.measured is None:
        raise SparseBayesError("expected a process that was taken")

    def learning(some: Rows, apart: Folding) -> Generator[Step, None, LearnedModel]:
        again = yield from learned_locally(some, spec, (), choice, apart, on)
        if again.model is None:
            raise NotPositiveDefiniteError("expected a process that can be computed")
        return again.model

    measured = {}
    if held_out is not None:
        prediction, _ = ready_of(found.model).predict(held_out.X)
        measured = scores(prediction, held_out.t)
    validation = figures(found.measured)
    if splits:
        validation = yield from validated(rows, learning, splits, folding, on.fit_log)
    folds = max(len(splits), 1)
    noise_sd = found.model.process.noise_sd
    yield Step("done", 1, 1, "fits", None, n_functions(found.model), noise_sd)
    yield Trained(
        found.model,
        spec,
        measured,
        {},
        validation=validation,
        score=score_of(validation, folds, folds),
        local=found.comparison,
    )


def _with_log_noise(
    rows: Rows, spec: Spec, folding: Folding, scoring: Scoring, on: FitContext, held_out: Rows | None
) -> Iterator[Step | Trained]:
    """The training of a function and its log noise variance."""
    yield Step("fit", 0, None, "iterations")
    model, resolved = yield from with_log_noise(rows, spec, folding, on.fit_log, on.threads)
    measured = {} if held_out is None else scores(predict(model, held_out.X), held_out.t)

    def learning(some: Rows, apart: Folding) -> Generator[Step, None, LearnedModel]:
        again, _ = yield from with_log_noise(some, spec, apart, on.fit_log, on.threads)
        return again

    validation, score = dict[str, float](), Score.none(NOT_REQUESTED)
    if scoring.folds:
        splits = scoring.splits(rows, folding, spec.seed)
        validation = yield from validated(rows, learning, splits, folding, on.fit_log)
        score = score_of(validation, len(splits), len(splits))
    yield Step("done", 1, 1, "fits", model.evidence.value, model.size, model.noise_sd)
    yield Trained(model, resolved, measured, {}, validation=validation, score=score)


def _pooled(
    rows: Rows,
    specs: tuple[Spec, ...],
    compared_models: tuple[Spec, ...],
    folding: Folding,
    scoring: Scoring,
    max_score_loss: float,
    on: FitContext,
    held_out: Rows | None,
) -> Iterator[Step | Trained]:
    """The training of a pool: the score of its folds is its validation."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    for spec in (*specs, *compared_models):
        spec.likelihood.check(rows.t)
    splits = scoring.splits(rows, folding, specs[0].seed)
    bounds = scoring.bounds or NORMAL
    found = yield from pooled(
        rows,
        specs,
        compared_models,
        splits,
        on.fit_log,
        max_score_loss=max_score_loss,
        max_rows_for_scales=bounds.max_rows_for_scales,
    )
    measured = {}
    if held_out is not None:
        prediction, _ = ready_of(found.model).predict(held_out.X, held_out.noise_sd)
        measured = scores(prediction, held_out.t)
    yield Step("done", len(splits), len(splits), "folds", None, n_functions(found.model))
    left_out = leave_one_out(found.model, rows, found.spec.prior.rho) if isinstance(found.model, Model) else {}
    yield Trained(
        found.model,
        found.spec,
        measured,
        left_out,
        validation=found.score,
        members=found.members,
        compared=found.compared,
        score_loss=found.score_loss,
        unreduced=found.unreduced,
        score=score_of(found.score, len(splits), len(splits)),
    )


def _classes(
    rows: Rows,
    specs: tuple[Spec, ...],
    folding: Folding,
    scoring: Scoring,
    on: FitContext,
    held_out: Rows | None,
) -> Iterator[Step | Trained]:
    """The training of classes: one spec, or several of which folds choose one."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    first, folding = specs[0], replace(folding, stratified=True)
    first.likelihood.check(rows.t)
    validation, score, compared = dict[str, float](), Score.none(NOT_REQUESTED), tuple[Compared, ...]()
    if len(specs) > 1:
        splits = scoring.splits(rows, folding, first.seed)
        learn = partial(_learned_classes, folding=folding, on=on)
        budget = None if scoring.bounds is None else scoring.bounds.budget_of_choice
        found = yield from chosen(rows, specs, splits, learn, on.fit_log, budget=budget)
        fitted, spec, compared, validation = found.fitted, found.spec, found.compared, found.validation
        score = score_of(validation, found.folds, found.total)
        model = _tempered(fitted, rows, folding, spec, found.temperature)
    else:
        fitted, spec = (yield from _learned_classes(rows, first, folding=folding, on=on)), first
        model = _tempered(fitted, rows, folding, spec)
        if scoring.folds:

            def learning(some: Rows, apart: Folding) -> Generator[Step, None, LearnedModel]:
                again = yield from _learned_classes(some, spec, folding=apart, on=on)
                return _tempered(again, some, apart, spec)

            splits = scoring.splits(rows, folding, spec.seed)
            fits = (fit for fit in fitted.fits if fit is not None)
            work = sum(work_of(fit.problem, spec, fit.last.state) for fit in fits)
            affordable = scoring.affordable(len(splits), work)
            validation = yield from validated(rows, learning, splits[:affordable], folding, on.fit_log)
            score = score_of(validation, affordable, len(splits))
    measured: dict[str, float] = {}
    if held_out is not None:
        prediction, _ = ready_of(model).predict(held_out.X)
        measured = scores(prediction, held_out.t)
    single = model if isinstance(model, Model) else None
    reached = None if single is None else single.evidence.value
    yield Step("done", 1, 1, "fits", reached, n_functions(model), None if single is None else single.noise_sd)
    yield Trained(
        model,
        fitted.specs[0] if single is not None else spec,
        measured,
        {} if single is None else leave_one_out(single, rows, spec.prior.rho),
        validation=validation,
        compared=compared,
        class_specs=() if single is not None else fitted.specs,
        score=score,
    )


def _learned_classes(
    rows: Rows, spec: Spec, *, folding: Folding, on: FitContext
) -> Generator[Step, None, FittedClasses]:
    """A spec fitted to some rows, at temperature 1."""

    def fit(some: Rows, single: Spec) -> Generator[Step, None, Fit]:
        found = yield from fitted_to(some, single, folding, on)
        return Fit(found.spec, found.problem, found.last)

    return (yield from fitted_classes(rows, spec, fit))


def _tempered(
    found: FittedClasses, rows: Rows, folding: Folding, spec: Spec, temperature: float | None = None
) -> LearnedModel:
    """The model at its learned temperature: that of whole folds, else that of folds of its weights."""
    if not learns_temperature(spec):
        return found.model
    if temperature is not None:
        return at_temperature(found.model, temperature)
    if isinstance(found.model, Model) and found.model.likelihood.is_conjugate:
        return with_temperature(found.model, rows)
    return with_fold_temperature(found, rows, folding, spec.seed)
