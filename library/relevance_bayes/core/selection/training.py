"""One training: candidates are fitted, compared and measured by folds, and the best, or a pool, is the result.

Every member is fitted to all rows; its folds start from there, and learn the scales without the fold's rows. The
predictions of the folds decide the weights, whether an alternative replaces the pool, and the score. Then the members
are reduced to few functions.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.inference.problem import check_rows
from relevance_bayes.core.likelihoods import ClassLikelihood, Hurdle
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.local.neighbours import LocalChoice
from relevance_bayes.core.models.model import Model, Spec, check, is_heteroscedastic
from relevance_bayes.core.models.pool import Pool, n_functions, with_degrees_of_freedom
from relevance_bayes.core.models.pooling.folds import PoolFolds
from relevance_bayes.core.models.pooling.members import FailedFit, learned_members
from relevance_bayes.core.models.pooling.reduction import MemberPredictions, reduced_pool, without_hopeless
from relevance_bayes.core.models.prediction import leave_one_out
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import FIT, Folding, Rows, Step, reported_as
from relevance_bayes.core.selection.by_folds import trained_classes
from relevance_bayes.core.selection.candidates import (
    FitContext,
    beside_a_tenth,
    computable_fit,
    ranked,
    searched_hurdle,
    with_noise,
)
from relevance_bayes.core.selection.evaluation import PoolComparison, PoolEvaluation, announced, half_width
from relevance_bayes.core.selection.local import LocalFit, learned_locally
from relevance_bayes.core.selection.scoring import (
    FOLDS,
    NORMAL,
    NOT_MEASURED,
    Bounds,
    Fit,
    HeldOutFigures,
    LocalComparison,
    MeasuredRows,
    PoolMember,
    Scoring,
    Trained,
    measured_rows,
    validated,
)

MAX_SCORE_LOSS = 0.01
"""The most nats a row of the pool's fold score that its reduction to few functions loses, within
`reduction.MAX_PREDICTION_COST`."""


@dataclass(frozen=True)
class Selection:
    """The models among which a training selects, and how they are measured.

    `spec` is fitted, and `compared_models` are compared with it by their evidence; a kernel of theirs may inherit the
    input map and terms of the best before it. With a `pool`, processes beside the spec's, all are learned as one model,
    which loses at most `max_score_loss` nats a row by its reduction to few functions, and folds compare it with
    `compared_models`. Folds choose among `alternatives` to a spec of classes too. With `local`, nearest-neighbour
    processes are first compared with the spec's model, and taken where they are better. The result is measured by
    `folds`, within `bounds` where there are any: see `Scoring`.
    """

    spec: Spec
    compared_models: tuple[Spec, ...] = ()
    pool: tuple[Spec, ...] = ()
    alternatives: tuple[Spec, ...] = ()
    local: LocalChoice | None = None
    folds: int = 0
    bounds: Bounds | None = None
    max_score_loss: float = MAX_SCORE_LOSS

    @property
    def specs(self) -> tuple[Spec, ...]:
        """All of them."""
        return (self.spec, *self.compared_models, *self.pool, *self.alternatives)

    @property
    def scoring(self) -> Scoring:
        """The scoring; where folds choose there are some, requested or not."""
        folds_choose = (self.pool or self.alternatives) and not self.folds
        return Scoring(FOLDS, self.bounds or NORMAL) if folds_choose else Scoring(self.folds, self.bounds)


def pooled(
    rows: Rows, folding: Folding, *, selection: Selection, scoring: Scoring, on: FitContext
) -> Generator[Step, None, Trained]:
    """Learn the pool of a selection from N rows, or one of its compared models that is clearly better by folds.

    The first of the pool has a width for each input. Its folds are its validation. The pool loses at most
    `max_score_loss` nats a row by its reduction to few functions, within MAX_PREDICTION_COST. Threads learn members,
    folds and orders of functions at once, which changes no bit. Raises NotPositiveDefiniteError where nothing can be
    fitted.
    """
    check_rows(rows.X, rows.t, rows.noise_sd)
    for spec in selection.specs:
        spec.likelihood.check(rows.t)
    specs, fit_log = (selection.spec, *selection.pool), on.fit_log
    splits = scoring.splits(rows, folding, selection.spec.seed)
    members = yield from learned_members(rows, specs, fit_log, FIT, on.threads)
    if not scoring.learns_folds_anew:
        members = without_hopeless(rows, members)
    folds = PoolFolds.of(rows, members, splits, learns_anew=scoring.learns_folds_anew, threads=on.threads)
    behind = tuple(one.reason if isinstance(one, FailedFit) and one.is_behind else None for one in members)
    step = Step("folds", 0, len(folds.splits), "folds")
    yield replace(step, announced=announced(folds, selection.compared_models))
    pool = MemberPredictions.of(folds, (yield from folds.tables(fit_log)))
    comparison = PoolComparison(folds, fit_log, PoolEvaluation(pool, left_out=behind, half_width=half_width(rows.t)))
    evaluation = yield from comparison.run(specs, selection.compared_models)
    n_folds, required = len(splits), not len(evaluation.pool.complete)
    best = evaluation.best_alternative
    if best is not None:
        step, found = Step("alternative fit", best, len(evaluation.alternatives), "models"), None
        with nullcontext() if required else suppress(NotPositiveDefiniteError):
            found = yield from reported_as(step, comparison.fit(evaluation.alternatives[best].spec))
        if found is not None:
            others, size = evaluation.compared(specs, best), n_functions(found.learned)
            gain = None if required else evaluation.mean_gain(best)
            found = replace(found, compared=others, score_loss=0.0, unreduced=size, gain=gain)
            return found.measured(evaluation.validation(best), n_folds, n_folds)
    if required:
        model = yield from computable_fit(rows, specs[0], None, fit_log, FIT)
        found = Trained(model, specs[0], compared=evaluation.compared(specs), score_loss=0.0, unreduced=len(model.mean))
        return found.measured(HeldOutFigures(), n_folds, n_folds)
    return (yield from _reduced(folds, evaluation, specs, fit_log, selection.max_score_loss))


def _reduced(
    folds: PoolFolds, evaluation: PoolEvaluation, specs: Sequence[Spec], fit_log: FitLog, max_score_loss: float
) -> Generator[Step, None, Trained]:
    """The pool through few functions."""
    pool = yield from reduced_pool(folds, evaluation.pool, fit_log, max_score_loss=max_score_loss)
    members = tuple(
        PoolMember(one.spec, float(weight), len(model.mean), one.evidence)
        for one, weight, model in zip(pool.members, pool.weights, pool.models, strict=True)
    )
    trained = Trained(
        pool.models[0] if len(pool.models) == 1 else Pool(pool.models, pool.weights),
        pool.members[int(pool.weights.argmax())].spec,
        members=members,
        compared=evaluation.compared(specs),
        score_loss=pool.loss,
        unreduced=len(evaluation.pool.complete) * len(folds.rows.t),
    )
    n_folds = len(folds.splits)
    return trained.measured(HeldOutFigures.of(pool.measured, evaluation.pool.rows), n_folds, n_folds)


def train(
    rows: Rows,
    selection: Selection,
    *,
    folding: Folding | None = None,
    held_out: Rows | None = None,
    on: FitContext | None = None,
) -> Iterator[Step | Trained]:
    """Fit and compare the models of a selection, and measure the best.

    A model of classes has a temperature: that of whole folds where there are any, else that of folds of the weights
    alone. The fit log of `on` records the fits, and resumes a training from its entries. Yields at least one Step, then
    one Trained. An alternative that can't be computed is left out. Raises DataError, IllegalCombinationError,
    TooManyCandidatesError, and NotPositiveDefiniteError where nothing can be fitted.
    """
    for each in selection.specs:
        check(each)
    is_class = isinstance(selection.spec.likelihood, ClassLikelihood)
    folding, on = replace(folding or Folding(), stratified=is_class), on or FitContext()
    scoring = selection.scoring
    fit = _fit_of(selection, scoring, on)
    comparison: LocalComparison | None = None
    found: Trained | None = None
    if selection.local is not None:
        nearest = yield from _nearest(rows, selection, selection.local, folding, on)
        comparison = nearest.comparison
        if nearest.model is not None:
            scoring = Scoring(selection.folds) if selection.bounds is None else Scoring()
            taken = replace(selection.local, required=True, on=comparison.taken)
            fit = partial(_taken_nearest, spec=selection.spec, choice=taken, on=on)
            found = nearest.trained(selection.spec)
            found = replace(found, score=NOT_MEASURED) if scoring.folds else found
    if found is None:
        found = yield from fit(rows, folding)
    if scoring.folds and found.score == NOT_MEASURED:
        splits = scoring.splits(rows, folding, selection.spec.seed)
        affordable = scoring.affordable(len(splits), found.work)
        validation = yield from validated(rows, fit, splits[:affordable], folding, on.fit_log)
        found = found.measured(validation, affordable, len(splits))
    model = with_degrees_of_freedom(found.learned)
    measured = None if held_out is None else MeasuredRows(np.arange(len(held_out.t)), measured_rows(model, held_out))
    single, noise_sd = model if isinstance(model, Model) else None, None
    if found.spec.likelihood == selection.spec.likelihood and isinstance(model, Model | LocalModel):
        noise_sd = model.noise_sd if isinstance(model, Model) else model.process.noise_sd
    yield Step("done", 1, 1, "fits", None if single is None else single.evidence.value, n_functions(model), noise_sd)
    yield replace(
        found,
        learned=model,
        scores={} if measured is None else measured.measured.scores(),
        leave_one_out={} if single is None else leave_one_out(single, rows, found.spec.prior.rho),
        local=comparison,
        held_out=measured,
    )


def _fit_of(selection: Selection, scoring: Scoring, on: FitContext) -> Fit:
    """The fit of the sparse candidates of a selection."""
    spec = selection.spec
    if selection.pool:
        return partial(pooled, selection=selection, scoring=scoring, on=on)
    if isinstance(spec.likelihood, ClassLikelihood):
        return partial(trained_classes, specs=(spec, *selection.alternatives), scoring=scoring, on=on)
    if is_heteroscedastic(spec.likelihood):
        return partial(with_noise, spec=spec, on=on)
    if isinstance(spec.likelihood, Hurdle):
        return partial(searched_hurdle, spec=spec, on=on)
    return partial(_ranked, selection=selection, scoring=scoring, on=on)


def _ranked(
    rows: Rows, folding: Folding, *, selection: Selection, scoring: Scoring, on: FitContext
) -> Generator[Step, None, Trained]:
    """A spec and those compared with it, by their evidence; many rows are continued from nine tenths of them."""
    specs, bounds = (selection.spec, *selection.compared_models), scoring.bounds
    holds_out_a_tenth = scoring.folds > 0 and bounds is not None and len(rows.t) > bounds.max_rows_for_folds
    if holds_out_a_tenth and all(isinstance(each.prior, GaussianProcess) for each in specs):
        splits = scoring.splits(rows, folding, selection.spec.seed)
        beside = (yield from beside_a_tenth(rows, specs, splits[0], folding, on)) if len(splits) == 1 else None
        if beside is not None:
            return beside
    return (yield from ranked(rows, specs, folding, on)).trained()


def _nearest(
    rows: Rows, selection: Selection, choice: LocalChoice, folding: Folding, on: FitContext
) -> Generator[Step, None, LocalFit]:
    """Nearest-neighbour processes compared with the sparse model; raises DataError where they are required."""
    try:
        return (yield from learned_locally(rows, selection.spec, selection.compared_models, choice, folding, on))
    except DataError:  # too few training rows, or a constant target
        if choice.required:
            raise
        return LocalFit(LocalComparison(None, 0, None, None, None, ()))


def _taken_nearest(
    rows: Rows, folding: Folding, *, spec: Spec, choice: LocalChoice, on: FitContext
) -> Generator[Step, None, Trained]:
    """The process of a choice that requires one, learned again."""
    found = yield from learned_locally(rows, spec, (), choice, folding, on)
    return found.trained(spec)
