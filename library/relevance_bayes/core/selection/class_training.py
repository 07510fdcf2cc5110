"""The training of classes: one spec, or the one of several that folds choose."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from functools import partial

from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, at_temperature, n_functions
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.selection.by_folds import chosen
from relevance_bayes.core.selection.classes import (
    Fit,
    FittedClasses,
    fitted_classes,
    learns_temperature,
    with_fold_temperature,
)
from relevance_bayes.core.selection.leave_one_out import leave_one_out, with_temperature
from relevance_bayes.core.selection.ranking import FitContext, fitted_to
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import Compared, Score, Scoring, Validation, score_of, work_of
from relevance_bayes.core.selection.trained import NOT_REQUESTED, Trained
from relevance_bayes.core.selection.validation import held_out_rows, scores_of, validated
from relevance_bayes.core.spec import Spec


def trained_classes(
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
    validation, score, compared = Validation(), Score.none(NOT_REQUESTED), tuple[Compared, ...]()
    if len(specs) > 1:
        splits = scoring.splits(rows, folding, first.seed)
        learn = partial(_learned_classes, folding=folding, on=on)
        budget = None if scoring.bounds is None else scoring.bounds.budget_of_choice
        found = yield from chosen(rows, specs, splits, learn, on.fit_log, budget=budget)
        fitted, spec, compared, validation = found.fitted, found.spec, found.compared, found.validation
        score = score_of(validation.figures, found.folds, found.total)
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
            score = score_of(validation.figures, affordable, len(splits))
    measured = held_out_rows(model, held_out)
    single = model if isinstance(model, Model) else None
    reached = None if single is None else single.evidence.value
    yield Step("done", 1, 1, "fits", reached, n_functions(model), None if single is None else single.noise_sd)
    yield Trained(
        model,
        fitted.specs[0] if single is not None else spec,
        scores_of(measured),
        {} if single is None else leave_one_out(single, rows, spec.prior.rho),
        validation=dict(validation.figures),
        compared=compared,
        class_specs=() if single is not None else fitted.specs,
        score=score,
        left_out=validation.left_out,
        held_out=measured,
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
