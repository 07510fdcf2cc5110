"""One training: candidates are fitted, compared and measured by folds, and the best, or a pool, is the result.

Every member is fitted to all rows; its folds start from there, and learn the scales without the fold's rows. The
predictions of the folds decide the weights, whether an alternative replaces the pool, and the score. Then the members
are reduced to few functions.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES
from relevance_bayes.core.concurrency import concurrently
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fitting import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.heteroscedastic import with_log_noise
from relevance_bayes.core.hurdle import HurdleModel, member_specs
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods import ClassLikelihood, Hurdle
from relevance_bayes.core.likelihoods.base import Prediction
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.local.choice import LocalChoice
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, Pool, n_functions, with_degrees_of_freedom
from relevance_bayes.core.pooling.folds import MAX_ROWS_STEPPED, PoolFolds, at_scales
from relevance_bayes.core.pooling.members import (
    FailedFit,
    MemberFit,
    Ordered,
    Through,
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
from relevance_bayes.core.selection.alternatives import (
    FittedPart,
    computable_fit,
    hurdle,
    learned_alternative,
)
from relevance_bayes.core.selection.by_folds import trained_classes
from relevance_bayes.core.selection.evaluation import (
    FIGURES,
    PoolComparison,
    PoolEvaluation,
    half_width,
)
from relevance_bayes.core.selection.local import LocalFit, learned_locally
from relevance_bayes.core.selection.ranking import FitContext, beside_a_tenth, ranked
from relevance_bayes.core.selection.scoring import (
    FOLDS,
    NORMAL,
    NOT_MEASURED,
    Bounds,
    Compared,
    Fit,
    LocalComparison,
    Member,
    Scoring,
    Trained,
    Validation,
    held_out_rows,
    scores_of,
    validated,
)
from relevance_bayes.core.spec import Spec, check, is_heteroscedastic
from relevance_bayes.core.types import Array, Indices

MAX_SCORE_LOSS = 0.01
"""The most nats a row of the pool's fold score that its reduction to few functions loses, ..."""

MAX_PREDICTION_COST = 600_000.0
"""... unless a row's prediction costs more multiply-adds than this, at which a request for one row takes twice the CPU
time of 20 functions."""

ORDER, FUNCTIONS, FOLDS_AGAIN = (Step("reduction", place, 3, "steps") for place in range(3))
"""The reduction: functions in the order of their gains, the fits through few, and seldom the folds through as few."""


HOPELESS_MEMBER = "rows outside a sample are predicted as well by a pool without it"


def pooled(
    rows: Rows,
    specs: Sequence[Spec],
    compared_models: Sequence[Spec],
    splits: Sequence[Split],
    fit_log: FitLog,
    *,
    max_score_loss: float,
    learns_folds_anew: bool,
    threads: int = 1,
) -> Generator[Step, None, Trained]:
    """Learn a pool of the processes `specs` from N rows, or one of `compared_models` that is clearly better by folds.

    The first of `specs` has a width for each input; `splits` are the folds. The pool loses at most `max_score_loss`
    nats a row by its reduction to few functions, within MAX_PREDICTION_COST. `threads` learn members, folds and orders
    of functions at once, which changes no bit. Raises NotPositiveDefiniteError where nothing can be fitted.
    """
    members = yield from learned_members(rows, specs, fit_log, FIT, threads)
    if not learns_folds_anew:
        members = without_hopeless(rows, members)
    folds = PoolFolds.of(rows, members, splits, learns_anew=learns_folds_anew, threads=threads)
    evaluation = yield from _evaluated(rows, folds, fit_log)
    comparison = PoolComparison(folds, fit_log, evaluation)
    evaluation, compared_models = yield from comparison.run(specs, compared_models)
    best = evaluation.best_alternative
    if best is not None:
        begins_at_heaviest = is_heteroscedastic(compared_models[best].likelihood) and len(evaluation.complete) > 0
        begin = comparison.fits.get(best, members[evaluation.heaviest if begins_at_heaviest else 0])  # as in the folds
        required = not len(evaluation.complete)
        fit = learned_alternative(rows, compared_models[best], begin, fit_log, is_required=required)
        if compared_models[best] in comparison.varying:
            fit = comparison.varying_model(compared_models[best])
        model = yield from reported_as(Step("alternative fit", best, len(compared_models), "models"), fit)
        if model is not None:
            others = evaluation.compared(specs, compared_models, best)
            gain = None if required else evaluation.mean_gain(best)
            size, spec = n_functions(model), compared_models[best]
            parts = member_specs(spec) if isinstance(model, HurdleModel) else ()
            found = Trained(model, spec, compared=others, score_loss=0.0, class_specs=parts, unreduced=size, gain=gain)
            return found.measured(evaluation.alternative_validation(best), len(splits), len(splits))
    compared = evaluation.compared(specs, compared_models)
    if not len(evaluation.complete):
        model = yield from computable_fit(rows, specs[0], None, fit_log, FIT)
        found = Trained(model, specs[0], compared=compared, score_loss=0.0, unreduced=len(model.mean))
        return found.measured(Validation(), len(splits), len(splits))
    return (yield from _reduced(folds, evaluation, compared, fit_log, max_score_loss))


def without_hopeless(rows: Rows, members: Sequence[MemberFit]) -> list[MemberFit]:
    """The members, of more rows than MAX_ROWS_STEPPED without those that a pool of them hardly needs.

    Their scales were learned from a sample. Given its rows alone, each predicts as many rows that it has not seen:
    another member than the first is left out where a pool without it predicts them as well: see `smallest_pool`.
    """
    whole = [place for place, one in enumerate(members) if isinstance(one, Whole)]
    if len(rows.t) <= MAX_ROWS_STEPPED or len(whole) < 2:
        return list(members)
    try:
        both = [_of_unseen(rows, one) for one in members if isinstance(one, Whole)]
    except NotPositiveDefiniteError:
        return list(members)
    t, found = both[0][0], [one for _, one in both if isinstance(one, RealPrediction)]
    if len(found) < len(whole):
        return list(members)
    densities = Densities(np.array([one.mean for one in found]).T, np.array([one.variance for one in found]).T)
    needed = {0, *(whole[k] for k in smallest_pool(densities, t))}
    return [
        FailedFit(HOPELESS_MEMBER, is_behind=True) if isinstance(one, Whole) and place not in needed else one
        for place, one in enumerate(members)
    ]


def _of_unseen(rows: Rows, member: Whole) -> tuple[Array, Prediction]:
    """The targets (n,) and the prediction of rows outside the sample of a member's scales, given that sample."""
    seen = member.problem.sample(ROWS_FOR_SCALES).numbers
    apart = rows.take(np.setdiff1d(member.problem.sample(2 * ROWS_FOR_SCALES).numbers, seen))
    found = at_scales(rows.take(seen), member.spec, member.hyperparameters)
    return apart.t, found.predict(apart.X, apart.noise_sd)


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
    weights = densities.taken(few).best_weights(evaluation.t)
    allowed = _allowed_loss(max_score_loss, densities.taken(few), weights, [folds.members[k] for k in complete[few]])
    losses = order_losses(weights, allowed)
    places = [int(place) for place in complete[few]]
    parts = [_in_order(folds.members[place], float(loss)) for place, loss in zip(places, losses, strict=True)]
    ordered = yield from reported_as(ORDER, concurrently(parts, folds.threads))
    sequences = {place: one for place, one in zip(places, ordered, strict=True) if isinstance(one, Ordered)}
    if not sequences:
        raise NotPositiveDefiniteError("; ".join(one.reason for one in ordered if isinstance(one, FailedFit)))
    members = [one.whole for one in sequences.values()]
    some = evaluation.only(np.array([*sequences]))
    found = yield from reduced_pool(folds, sequences, some, fit_log, max_score_loss=max_score_loss, allowed=allowed)
    kept = [members[place] for place in found.places]
    of_members = tuple(
        Member(one.spec, float(weight), len(model.mean), one.evidence)
        for one, weight, model in zip(kept, found.weights, found.models, strict=True)
    )
    pool = found.models[0] if len(found.models) == 1 else Pool(found.models, found.weights)
    spec = kept[int(found.weights.argmax())].spec
    trained = Trained(
        pool,
        spec,
        members=of_members,
        compared=compared,
        score_loss=found.loss,
        unreduced=len(complete) * len(folds.rows.t),
    )
    n_folds = len(folds.splits)
    return trained.measured(Validation.of(found.measured, evaluation.rows), n_folds, n_folds)


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
    tables = [np.empty((2 * K, 0)), *(yield from concurrently(parts, folds.threads))]
    table = np.hstack(tables)
    chosen = np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in splits)])
    none = np.empty((0, FIGURES, len(chosen)))
    behind = tuple(one.reason if isinstance(one, FailedFit) and one.is_behind else None for one in folds.members)
    width = half_width(rows.t)
    return PoolEvaluation(
        splits, chosen, rows.t[chosen], table[:K].T, table[K:].T, none, left_out=behind, half_width=width
    )


def _fold(folds: PoolFolds, number: int, fit_log: FitLog) -> Generator[Step, None, Array]:
    """The predictions of a fold by all members, of `PoolFolds.table`."""
    total, table = len(folds.splits), fit_log.recorded()
    if table is None:
        table = yield from folds.table(number, FitLog(), Step("folds", number, total, "folds"))
        fit_log.record(fit_log.begin(), table)
    yield Step("folds", number + 1, total, "folds")
    return table


def _in_order(member: MemberFit, max_loss: float) -> Generator[Step, None, Ordered | FailedFit]:
    """A member's functions in the order of their gains."""
    yield FIT
    return member if isinstance(member, FailedFit) else in_order(member, max_loss=max_loss)


@dataclass(frozen=True, eq=False)
class ReducedPool:
    """The indices (K,) of the members that are kept, their models and weights (K,).

    `measured` are the figures of the folds: of the unreduced pool where the estimated loss is small, else of members
    through as few functions. `loss` is that of the reduction, in nats a row.
    """

    places: tuple[int, ...]
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
    sequences = list(ordered.values())
    reduction = reduced(
        sequences, evaluation.densities, evaluation.t, max_score_loss=allowed, max_cost=MAX_PREDICTION_COST
    )
    kept = [sequences[place] for place in reduction.places]
    maximum = affordable_functions(MAX_PREDICTION_COST / len(kept), folds.rows.X.shape[1])
    fits = list[Through]()
    for one, size in zip(kept, reduction.sizes, strict=True):
        fit = learned_through(one, size, fit_log, max_functions=maximum)
        fits.append((yield from reported_as(FUNCTIONS, fit)))
    whole, models = evaluation.measured, tuple(one.model for one in fits)
    estimated = ReducedPool(reduction.places, models, reduction.weights, whole, reduction.loss)
    if reduction.loss <= max_score_loss and not any(one.is_cut for one in kept):
        return estimated
    numbers = [[*ordered][place] for place in reduction.places]
    few = {
        number: _Few(size, fit.hyperparameters if folds.is_unseen else None)
        for number, size, fit in zip(numbers, reduction.sizes, fits, strict=True)
    }
    again = yield from reported_as(FOLDS_AGAIN, _through_few(folds, evaluation, few, fit_log))
    if len(again.complete) < len(kept):
        return estimated
    measured = again.measured
    loss = float(measured.each["nll"].mean() - whole.each["nll"].mean())
    return replace(estimated, weights=again.densities.best_weights(again.t), measured=measured, loss=max(loss, 0.0))


@dataclass(frozen=True, eq=False)
class _Few:
    """The number of functions of a member in the folds, and the hyperparameters `near` which they are optimised; None
    for those of the member there."""

    functions: int
    near: Hyperparameters | None


def _through_few(
    folds: PoolFolds, evaluation: PoolEvaluation, few: Mapping[int, _Few], fit_log: FitLog
) -> Generator[Step, None, PoolEvaluation]:
    """The predictions of the folds by the members at the keys of `few`, each through few functions.

    The log has only the result of each fold, since the fits needed depend on what is in memory.
    """
    tables = []
    for number, (_, fold) in enumerate(folds.splits):
        table = fit_log.recorded()
        if table is None:
            place = fit_log.begin()
            found = []
            for member, one in few.items():
                begun = yield from folds.process(number, member, FitLog(), FIT)
                found.append((yield from _predicted(begun, one, folds.rows.take(fold))))
            table = np.array(found)
            fit_log.record(place, table)
        tables.append(table)
        yield FIT
    table = np.concatenate(tables, axis=2)
    return replace(evaluation, means=table[:, 0].T, variances=table[:, 1].T)


def _predicted(begun: MemberFit, few: _Few, fold: Rows) -> Generator[Step, None, Array]:
    """Means and variances (2, n) of a fold's rows by a member through few functions; NaN where it is lost."""
    ordered = begun if isinstance(begun, FailedFit) else in_order(begun, max_functions=few.functions)
    if not isinstance(ordered, FailedFit):
        try:
            fit = yield from learned_through(ordered, len(ordered.chosen.places), FitLog(), near=few.near)
        except NotPositiveDefiniteError:
            return np.full((2, len(fold.t)), np.nan)
        found = predict(fit.model, fold.X, fold.noise_sd)
        if isinstance(found, RealPrediction):
            return np.array([found.mean, found.variance])
    return np.full((2, len(fold.t)), np.nan)


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
    measured = held_out_rows(model, held_out)
    single = model if isinstance(model, Model) else None
    noise_sd = _noise_sd(model) if found.spec.likelihood == selection.spec.likelihood else None
    yield Step("done", 1, 1, "fits", None if single is None else single.evidence.value, n_functions(model), noise_sd)
    left_out = {} if single is None else leave_one_out(single, rows, found.spec.prior.rho)
    yield replace(
        found, learned=model, scores=scores_of(measured), leave_one_out=left_out, local=comparison, held_out=measured
    )


def _noise_sd(model: LearnedModel) -> float | None:
    """The noise sd of a single model, None of several that predict together."""
    match model:
        case Model():
            return model.noise_sd
        case LocalModel():
            return model.process.noise_sd
        case _:
            return None


def _fit_of(selection: Selection, scoring: Scoring, on: FitContext) -> Fit:
    """The fit of the sparse candidates of a selection."""
    spec = selection.spec
    if selection.pool:
        return partial(_pooled, selection=selection, scoring=scoring, on=on)
    if isinstance(spec.likelihood, ClassLikelihood):
        return partial(trained_classes, specs=(spec, *selection.alternatives), scoring=scoring, on=on)
    if is_heteroscedastic(spec.likelihood):
        return partial(_with_log_noise, spec=spec, on=on)
    if isinstance(spec.likelihood, Hurdle):
        return partial(_hurdle, spec=spec, on=on)
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
            ranking, best, validation = beside
            return ranking.trained(best).measured(validation, 1, 1)
    ranking = yield from ranked(rows, specs, folding, on)
    return ranking.trained(ranking.best)


def _with_log_noise(rows: Rows, folding: Folding, *, spec: Spec, on: FitContext) -> Generator[Step, None, Trained]:
    """A function and its log noise variance."""
    yield FIT
    model, resolved = yield from with_log_noise(rows, spec, folding, on.fit_log, on.threads)
    return Trained(model, resolved)


def _hurdle(rows: Rows, folding: Folding, *, spec: Spec, on: FitContext) -> Generator[Step, None, Trained]:
    """The model of zeros, and that of positive targets."""

    def fit(some: Rows, part: Spec, numbers: Indices) -> Generator[Step, None, FittedPart]:
        best = (yield from ranked(some, (part,), folding.take(numbers), on)).best
        return FittedPart(best.model, best.spec, best.work)

    model, parts = yield from hurdle(rows, spec, fit)
    return Trained(model, spec, class_specs=tuple(part.spec for part in parts), work=sum(part.work for part in parts))


def _pooled(
    rows: Rows, folding: Folding, *, selection: Selection, scoring: Scoring, on: FitContext
) -> Generator[Step, None, Trained]:
    """A pool, whose folds are its validation."""
    check_rows(rows.X, rows.t, rows.noise_sd)
    for spec in selection.specs:
        spec.likelihood.check(rows.t)
    return (
        yield from pooled(
            rows,
            (selection.spec, *selection.pool),
            selection.compared_models,
            scoring.splits(rows, folding, selection.spec.seed),
            on.fit_log,
            max_score_loss=selection.max_score_loss,
            learns_folds_anew=scoring.learns_folds_anew,
            threads=on.threads,
        )
    )


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
