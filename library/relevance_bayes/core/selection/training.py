"""One training: candidates are fitted, compared and measured by folds, and the best, or a pool, is the result.

Every member is fitted to all rows; its folds start from there, and learn the scales without the fold's rows. The
predictions of the folds decide the weights, whether an alternative replaces the pool, and the score. Then the members
are reduced to few functions.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relevance_bayes.core.concurrency import concurrently
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fitting import FitLog
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods import ClassLikelihood, Hurdle
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import Pool, n_functions, with_degrees_of_freedom
from relevance_bayes.core.pooling.folds import PoolFolds, without_hopeless
from relevance_bayes.core.pooling.members import (
    FailedFit,
    MemberFit,
    Ordered,
    Whole,
    in_order,
    learned_members,
    learned_through,
)
from relevance_bayes.core.pooling.reduction import (
    Densities,
    affordable_functions,
    allowed_loss,
    learning_loss,
    order_losses,
    reduced,
    smallest_pool,
)
from relevance_bayes.core.prediction import Measured, leave_one_out, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.problem import check_rows
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
from relevance_bayes.core.selection.evaluation import PoolComparison, PoolEvaluation, half_width
from relevance_bayes.core.selection.local import LocalFit, learned_locally
from relevance_bayes.core.selection.scoring import (
    FOLDS,
    NORMAL,
    NOT_MEASURED,
    Bounds,
    Compared,
    Fit,
    LocalComparison,
    MeasuredRows,
    Member,
    Scoring,
    Trained,
    Validation,
    measured_rows,
    validated,
)
from relevance_bayes.core.spec import Spec, check, is_heteroscedastic
from relevance_bayes.core.types import Array

MAX_SCORE_LOSS = 0.01
"""The most nats a row of the pool's fold score that its reduction to few functions loses, ..."""

MAX_PREDICTION_COST = 600_000.0
"""... unless a row's prediction costs more multiply-adds than this, at which a request for one row takes twice the CPU
time of 20 functions."""

ORDER, FUNCTIONS, FOLDS_AGAIN = (Step("reduction", place, 3, "steps") for place in range(3))
"""The reduction: functions in the order of their gains, the fits through few, and seldom the folds through as few."""


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
    def members(self) -> tuple[Spec, ...]:
        """The processes that are learned as one model."""
        return (self.spec, *self.pool)

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
    splits, specs, fit_log = scoring.splits(rows, folding, selection.spec.seed), selection.members, on.fit_log
    members = yield from learned_members(rows, specs, fit_log, FIT, on.threads)
    if not scoring.learns_folds_anew:
        members = without_hopeless(rows, members)
    folds = PoolFolds.of(rows, members, splits, learns_anew=scoring.learns_folds_anew, threads=on.threads)
    comparison = PoolComparison(folds, fit_log, (yield from _evaluated(rows, folds, fit_log)))
    evaluation = yield from comparison.run(specs, selection.compared_models)
    n_folds, required = len(splits), not len(evaluation.complete)
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
    compared = evaluation.compared(specs)
    if required:
        model = yield from computable_fit(rows, specs[0], None, fit_log, FIT)
        found = Trained(model, specs[0], compared=compared, score_loss=0.0, unreduced=len(model.mean))
        return found.measured(Validation(), n_folds, n_folds)
    return (yield from _reduced(folds, evaluation, compared, fit_log, selection.max_score_loss))


def _reduced(
    folds: PoolFolds,
    evaluation: PoolEvaluation,
    compared: tuple[Compared, ...],
    fit_log: FitLog,
    max_score_loss: float,
) -> Generator[Step, None, Trained]:
    """The pool through few functions."""
    complete = evaluation.complete
    densities = evaluation.only(complete).densities
    few = np.array(smallest_pool(densities, evaluation.t))
    densities, members = densities.taken(few), [folds.members[place] for place in complete[few]]
    weights = densities.best_weights(evaluation.t)
    allowed = _allowed_loss(max_score_loss, densities, weights, members)
    losses = order_losses(weights, allowed)
    parts = [_in_order(member, float(loss)) for member, loss in zip(members, losses, strict=True)]
    found = yield from reported_as(ORDER, concurrently(parts, folds.threads))
    ordered = {int(place): one for place, one in zip(complete[few], found, strict=True) if isinstance(one, Ordered)}
    if not ordered:
        raise NotPositiveDefiniteError("; ".join(one.reason for one in found if isinstance(one, FailedFit)))
    some = evaluation.only(np.array([*ordered]))
    pool = yield from reduced_pool(folds, ordered, some, fit_log, max_score_loss=max_score_loss, allowed=allowed)
    of_members = tuple(
        Member(one.spec, float(weight), len(model.mean), one.evidence)
        for one, weight, model in zip(pool.members, pool.weights, pool.models, strict=True)
    )
    trained = Trained(
        pool.models[0] if len(pool.models) == 1 else Pool(pool.models, pool.weights),
        pool.members[int(pool.weights.argmax())].spec,
        members=of_members,
        compared=compared,
        score_loss=pool.loss,
        unreduced=len(complete) * len(folds.rows.t),
    )
    n_folds = len(folds.splits)
    return trained.measured(Validation.of(pool.measured, evaluation.rows), n_folds, n_folds)


def _in_order(member: MemberFit, max_loss: float) -> Generator[Step, None, Ordered | FailedFit]:
    """A member's functions in the order of their gains."""
    yield FIT
    return member if isinstance(member, FailedFit) else in_order(member, max_loss=max_loss)


def _allowed_loss(max_score_loss: float, densities: Densities, weights: Array, members: Sequence[MemberFit]) -> float:
    """The loss that is allowed to the reduction of these members; the whole limit where the noise is known by row."""
    whole = [one for one in members if isinstance(one, Whole)]
    if len(whole) < len(members) or any(one.problem.likelihood.noise_by_row for one in whole):
        return max_score_loss
    variances = np.array([1.0 / one.hyperparameters.beta for one in whole])
    return allowed_loss(max_score_loss, learning_loss(densities, weights, variances))


def _evaluated(rows: Rows, folds: PoolFolds, fit_log: FitLog) -> Generator[Step, None, PoolEvaluation]:
    """The evaluation of all members by the folds."""
    splits, K = folds.splits, len(folds.members)
    yield Step("folds", 0, len(splits), "folds")
    parts = [_fold(folds, number, log) for number, log in enumerate(fit_log.parts(len(splits)))]
    if folds.threads > 1:
        yield from folds.prepare(Step("folds", 0, len(splits), "folds"))
    table = np.hstack([np.empty((2 * K, 0)), *(yield from concurrently(parts, folds.threads))])
    chosen = np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in splits)])
    behind = tuple(one.reason if isinstance(one, FailedFit) and one.is_behind else None for one in folds.members)
    densities = Densities(table[:K].T, table[K:].T)
    return PoolEvaluation(splits, chosen, rows.t[chosen], densities, left_out=behind, half_width=half_width(rows.t))


def _fold(folds: PoolFolds, number: int, fit_log: FitLog) -> Generator[Step, None, Array]:
    """The predictions of a fold by all members, of `PoolFolds.table`."""
    total, table = len(folds.splits), fit_log.recorded()
    if table is None:
        table = yield from folds.table(number, FitLog(), Step("folds", number, total, "folds"))
        fit_log.record(fit_log.begin(), table)
    yield Step("folds", number + 1, total, "folds")
    return table


@dataclass(frozen=True, eq=False)
class ReducedPool:
    """The members that are kept, their models and weights (K,).

    `measured` are the figures of the folds: of the unreduced pool where the estimated loss is small, else of members
    through as few functions. `loss` is that of the reduction, in nats a row.
    """

    members: tuple[Whole, ...]
    models: tuple[Model, ...]
    weights: Array
    measured: Measured
    loss: float


def reduced_pool(
    folds: PoolFolds,
    ordered: Mapping[int, Ordered],
    evaluation: PoolEvaluation,
    fit_log: FitLog,
    *,
    max_score_loss: float,
    allowed: float,
) -> Generator[Step, None, ReducedPool]:
    """The members that are kept, through few functions, whose scales are then optimised together with them.

    `ordered` are the members on all rows by their index in the pool, which `evaluation` is of. They lose at most
    `allowed` nats a row within MAX_PREDICTION_COST. Where they lose more than `max_score_loss`, or the ordering of
    functions was cut, the folds are measured again with all members through as few functions as on all rows: weights,
    score and loss are of these predictions. Of many rows they are optimised from the hyperparameters of all rows.
    """
    yield FUNCTIONS
    numbers, sequences = list(ordered), list(ordered.values())
    reduction = reduced(
        sequences, evaluation.densities, evaluation.t, max_score_loss=allowed, max_cost=MAX_PREDICTION_COST
    )
    kept = [sequences[place] for place in reduction.places]
    maximum = affordable_functions(MAX_PREDICTION_COST / len(kept), folds.rows.X.shape[1])
    models, few = list[Model](), dict[int, tuple[int, Hyperparameters | None]]()
    for place, size in zip(reduction.places, reduction.sizes, strict=True):
        through = learned_through(sequences[place], size, fit_log, max_functions=maximum)
        fit = yield from reported_as(FUNCTIONS, through)
        models.append(fit.model)
        few[numbers[place]] = size, fit.hyperparameters if folds.is_unseen else None
    members, whole = tuple(one.whole for one in kept), evaluation.measured
    estimated = ReducedPool(members, tuple(models), reduction.weights, whole, reduction.loss)
    if reduction.loss <= max_score_loss and not any(one.is_cut for one in kept):
        return estimated
    densities = yield from reported_as(FOLDS_AGAIN, _through_few(folds, few, fit_log))
    again = replace(evaluation, densities=densities)
    if len(again.complete) < len(kept):
        return estimated
    measured = again.measured
    loss = float(measured.each["nll"].mean() - whole.each["nll"].mean())
    return replace(estimated, weights=densities.best_weights(again.t), measured=measured, loss=max(loss, 0.0))


def _through_few(
    folds: PoolFolds, few: Mapping[int, tuple[int, Hyperparameters | None]], fit_log: FitLog
) -> Generator[Step, None, Densities]:
    """The predictions of the folds by the members at the keys of `few`, each through so many functions.

    These are optimised near the hyperparameters beside their number, None for those of the member in the fold. The log
    has only the result of each fold, since the fits needed depend on what is in memory.
    """
    tables = []
    for number, (_, fold) in enumerate(folds.splits):
        table = fit_log.recorded()
        if table is None:
            place, found = fit_log.begin(), list[Array]()
            for member, (functions, near) in few.items():
                begun = yield from folds.process(number, member, FitLog(), FIT)
                found.append((yield from _predicted(begun, functions, near, folds.rows.take(fold))))
            table = np.array(found)
            fit_log.record(place, table)
        tables.append(table)
        yield FIT
    means, variances = np.moveaxis(np.concatenate(tables, axis=2), 1, 0)
    return Densities(means.T, variances.T)


def _predicted(
    begun: MemberFit, functions: int, near: Hyperparameters | None, fold: Rows
) -> Generator[Step, None, Array]:
    """Means and variances (2, n) of a fold's rows by a member through few functions; NaN where it is lost."""
    ordered = begun if isinstance(begun, FailedFit) else in_order(begun, max_functions=functions)
    with suppress(NotPositiveDefiniteError):
        if not isinstance(ordered, FailedFit):
            fit = yield from learned_through(ordered, len(ordered.chosen.places), FitLog(), near=near)
            found = predict(fit.model, fold.X, fold.noise_sd)
            if isinstance(found, RealPrediction):
                return np.array([found.mean, found.variance])
    return np.full((2, len(fold.t)), np.nan)


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
