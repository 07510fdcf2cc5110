"""One training: the width search, the fit, the compared models, and the figures."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError, SparseBayesError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.likelihoods import ClassLikelihood
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, n_functions
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import check_rows
from relevance_bayes.core.selection.beside_a_tenth import LearnedBesideATenth, learned_beside_a_tenth
from relevance_bayes.core.selection.class_training import trained_classes
from relevance_bayes.core.selection.heteroscedastic import with_log_noise
from relevance_bayes.core.selection.leave_one_out import leave_one_out
from relevance_bayes.core.selection.local import LocalComparison, LocalFit, learned_locally
from relevance_bayes.core.selection.pool_reduction import MAX_SCORE_LOSS
from relevance_bayes.core.selection.pooled import pooled
from relevance_bayes.core.selection.ranking import FitContext, ranked
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.scoring import FOLDS, NORMAL, Bounds, Score, Scoring, Validation, score_of
from relevance_bayes.core.selection.trained import NOT_REQUESTED, Trained
from relevance_bayes.core.selection.validation import held_out_rows, scores_of, validated
from relevance_bayes.core.spec import Spec, check, is_heteroscedastic


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
        steps = trained_classes(rows, (spec, *alternatives), folding, scoring, on, held_out)
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
        best, validation, score = ranking.best, Validation(), Score.none(NOT_REQUESTED)
        if scoring.folds:
            affordable = scoring.affordable(len(splits), best.work)
            validation = yield from validated(rows, learning, splits[:affordable], folding, on.fit_log)
            score = score_of(validation.figures, affordable, len(splits))
    model, total, outscored = best.model, best.last.state.iteration, ranking.outscored
    measured = held_out_rows(model, held_out)
    noise_sd = model.noise_sd if best.spec.likelihood == spec.likelihood else None
    yield Step("done", total, total, "iterations", best.objective, len(model.mean), noise_sd)
    ranked_models = (ranking.best.ranked_model, *outscored) if outscored else ()
    left_out = leave_one_out(model, rows, best.spec.prior.rho)
    yield Trained(
        model,
        best.spec,
        scores_of(measured),
        left_out,
        ranked_models,
        dict(validation.figures),
        compared=ranking.failed,
        score=score,
        left_out=validation.left_out,
        held_out=measured,
    )


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

    measured = held_out_rows(found.model, held_out)
    validation = Validation.of(found.measured, found.apart)
    if splits:
        validation = yield from validated(rows, learning, splits, folding, on.fit_log)
    folds = max(len(splits), 1)
    noise_sd = found.model.process.noise_sd
    yield Step("done", 1, 1, "fits", None, n_functions(found.model), noise_sd)
    yield Trained(
        found.model,
        spec,
        scores_of(measured),
        {},
        validation=dict(validation.figures),
        score=score_of(validation.figures, folds, folds),
        local=found.comparison,
        left_out=validation.left_out,
        held_out=measured,
    )


def _with_log_noise(
    rows: Rows, spec: Spec, folding: Folding, scoring: Scoring, on: FitContext, held_out: Rows | None
) -> Iterator[Step | Trained]:
    """The training of a function and its log noise variance."""
    yield Step("fit", 0, None, "iterations")
    model, resolved = yield from with_log_noise(rows, spec, folding, on.fit_log, on.threads)
    measured = held_out_rows(model, held_out)

    def learning(some: Rows, apart: Folding) -> Generator[Step, None, LearnedModel]:
        again, _ = yield from with_log_noise(some, spec, apart, on.fit_log, on.threads)
        return again

    validation, score = Validation(), Score.none(NOT_REQUESTED)
    if scoring.folds:
        splits = scoring.splits(rows, folding, spec.seed)
        validation = yield from validated(rows, learning, splits, folding, on.fit_log)
        score = score_of(validation.figures, len(splits), len(splits))
    yield Step("done", 1, 1, "fits", model.evidence.value, model.size, model.noise_sd)
    yield Trained(
        model,
        resolved,
        scores_of(measured),
        {},
        validation=dict(validation.figures),
        score=score,
        left_out=validation.left_out,
        held_out=measured,
    )


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
    measured = held_out_rows(found.model, held_out)
    yield Step("done", len(splits), len(splits), "folds", None, n_functions(found.model))
    left_out = leave_one_out(found.model, rows, found.spec.prior.rho) if isinstance(found.model, Model) else {}
    yield Trained(
        found.model,
        found.spec,
        scores_of(measured),
        left_out,
        validation=dict(found.score.figures),
        members=found.members,
        compared=found.compared,
        score_loss=found.score_loss,
        unreduced=found.unreduced,
        score=score_of(found.score.figures, len(splits), len(splits)),
        left_out=found.score.left_out,
        held_out=measured,
    )
