"""One training of several processes as a pool, weighted by held-out rows.

Every member, with its scales, is learned from each fold's training rows; the predictions of the folds decide the
weights, whether an alternative replaces the pool, and the score. Then the members are learned from all rows, and
reduced to few functions."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.folds import Split
from relevance_bayes.core.integrated import LogEvidence
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.pool import LearnedModel, Pool
from relevance_bayes.core.pooling.learning import Ordered
from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.selection.pool_alternatives import (
    alternative_prediction,
    computable_fit,
    learned_alternative,
)
from relevance_bayes.core.selection.pool_evaluation import PoolEvaluation
from relevance_bayes.core.selection.pool_members import FailedFit, MemberFit, in_order, learned_members
from relevance_bayes.core.selection.pool_reduction import MAX_SCORE_LOSS, reduced_pool
from relevance_bayes.core.selection.rows import FIT, Rows, Step
from relevance_bayes.core.selection.scoring import NORMAL, Compared, Validation
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.types import Array

COLUMNS_OF_COMPARED = 6
"""The figures and outputs of a row by a compared model: see `PoolEvaluation.compared_models`."""

Evaluate = Callable[[Sequence[Spec], Sequence[Spec], Sequence[Split]], Generator[Step, None, PoolEvaluation]]
"""The evaluation of members and compared models by folds."""


@dataclass(frozen=True)
class Member:
    """A process of the pool: its spec, its weight, the number of its functions, and the evidence before the
    reduction."""

    spec: Spec
    weight: float
    functions: int
    evidence: LogEvidence


@dataclass(frozen=True, eq=False)
class Pooled:
    """The model, the spec that represents it, and the comparison.

    `score` are the held-out rows with their figures: before the reduction to few functions where its estimated loss is
    small, else after it. `score_loss` is the loss by the reduction, in nats a row, and `unreduced` the number of
    functions without it.
    """

    model: LearnedModel
    spec: Spec
    members: tuple[Member, ...]
    compared: tuple[Compared, ...]
    score: Validation
    score_loss: float
    unreduced: int


def pooled(
    rows: Rows,
    specs: Sequence[Spec],
    compared_models: Sequence[Spec],
    splits: Sequence[Split],
    fit_log: FitLog,
    *,
    max_score_loss: float = MAX_SCORE_LOSS,
    max_rows_for_scales: int = NORMAL.max_rows_for_scales,
) -> Generator[Step, None, Pooled]:
    """Learn a pool of the processes `specs` from N rows, or one of `compared_models` that is clearly better by folds.

    The first of `specs` has a width for each input; `splits` are the folds. The pool loses at most `max_score_loss`
    nats a row by its reduction to few functions, within MAX_PREDICTION_COST. Raises NotPositiveDefiniteError where
    nothing can be fitted.
    """
    max_rows = None if len(rows.t) <= ROWS_FOR_SCALES else max_rows_for_scales
    fold_members: dict[int, Sequence[MemberFit]] = {}
    evaluate = partial(_evaluated, rows, fit_log=fit_log, max_rows=max_rows, fold_members=fold_members)
    evaluation, compared_models = yield from _compare(rows, specs, compared_models, splits, evaluate)
    best = evaluation.best_alternative
    if best is not None:
        model = yield from learned_alternative(
            rows, compared_models[best], specs[0], fit_log, is_required=not len(evaluation.complete)
        )
        if model is not None:
            score = evaluation.alternative_validation(best)
            others = evaluation.compared(specs, compared_models, best)
            return Pooled(model, compared_models[best], (), others, score, 0.0, model.size)
    compared = evaluation.compared(specs, compared_models)
    complete = evaluation.complete
    if not len(complete):
        model = yield from computable_fit(rows, specs[0], None, fit_log, FIT)
        return Pooled(model, specs[0], (), compared, Validation(), 0.0, len(model.mean))
    begun = yield from learned_members(rows, [specs[place] for place in complete], fit_log, FIT)
    yield FIT
    ordered = [one if isinstance(one, FailedFit) else in_order(one) for one in begun]
    learned_again = [place for place, one in enumerate(ordered) if isinstance(one, Ordered)]
    if not learned_again:
        raise NotPositiveDefiniteError("; ".join(one.reason for one in ordered if isinstance(one, FailedFit)))
    sequences = {int(complete[place]): one for place, one in enumerate(ordered) if isinstance(one, Ordered)}
    members = [one.whole for one in sequences.values()]
    found = yield from reduced_pool(
        rows,
        specs,
        sequences,
        evaluation.only(complete[learned_again]),
        fit_log,
        fold_members=fold_members,
        max_score_loss=max_score_loss,
        max_rows_for_scales=max_rows,
    )
    kept = [members[place] for place in found.places]
    of_members = tuple(
        Member(one.spec, float(weight), len(model.mean), one.evidence)
        for one, weight, model in zip(kept, found.weights, found.models, strict=True)
    )
    pool = found.models[0] if len(found.models) == 1 else Pool(found.models, found.weights)
    spec = kept[int(found.weights.argmax())].spec
    unreduced, score = len(members) * len(rows.t), Validation.of(found.measured, evaluation.rows)
    return Pooled(pool, spec, of_members, compared, score, found.loss, unreduced)


def _compare(
    rows: Rows,
    specs: Sequence[Spec],
    compared_models: Sequence[Spec],
    splits: Sequence[Split],
    evaluate: Evaluate,
) -> Generator[Step, None, tuple["PoolEvaluation", Sequence[Spec]]]:
    """The evaluation of all by folds, and the compared models in its order.

    Heteroscedastic noise is evaluated last, and only where the residuals of the pool vary with the inputs. The first
    such model has the spec of the member of the greatest weight. Of several only one is evaluated on all folds, and
    returned: one that predicts the first fold clearly better than those before it, else the first.
    """
    others = [one for one in compared_models if not is_heteroscedastic(one.likelihood)]
    varying = [one for one in compared_models if is_heteroscedastic(one.likelihood)]
    evaluation = yield from evaluate(specs, others, splits)
    if not varying:
        return evaluation, others
    if not evaluation.noise_varies(rows.X):
        not_fitted = np.full((1, COLUMNS_OF_COMPARED, len(evaluation.t)), np.nan)
        figures = np.concatenate([evaluation.compared_models, not_fitted])
        return replace(evaluation, compared_models=figures), [*others, varying[0]]
    varying[0] = replace(specs[evaluation.heaviest], likelihood=varying[0].likelihood)
    tried = splits if len(varying) == 1 else splits[:1]
    beside = yield from evaluate((), varying, tried)
    place = beside.first_or_clearly_better
    varying, figures = [varying[place]], beside.compared_models[place : place + 1]
    if further := splits[len(tried) :]:
        beside = yield from evaluate((), varying, further)
        figures = np.concatenate([figures, beside.compared_models], axis=2)
    joined = np.concatenate([evaluation.compared_models, figures])
    return replace(evaluation, compared_models=joined, has_heteroscedastic=True), [*others, *varying]


def _evaluated(
    rows: Rows,
    specs: Sequence[Spec],
    compared_models: Sequence[Spec],
    splits: Sequence[Split],
    *,
    fit_log: FitLog,
    max_rows: int | None,
    fold_members: dict[int, Sequence[MemberFit]],
) -> Generator[Step, None, PoolEvaluation]:
    """Every member and compared model, learned from each fold's training rows and measured on the fold.

    Members whose scales are learned from at most `max_rows` rows are stored in `fold_members` by the fold's number.
    """
    tables = [np.empty((2 * len(specs) + COLUMNS_OF_COMPARED * len(compared_models), 0))]
    yield Step("folds", 0, len(splits), "folds")
    for number, (others, fold) in enumerate(splits):
        table = fit_log.recorded()
        if table is None:
            place = fit_log.begin()
            step = Step("folds", number, len(splits), "folds")
            apart, left_out = rows.take(others), rows.take(fold)
            begun = yield from learned_members(apart, specs, fit_log, step, max_rows)
            table = yield from _fold(apart, left_out, begun, compared_models, fit_log, step)
            fit_log.record(place, table)
            if specs:
                fold_members[number] = begun
        tables.append(table)
        yield Step("folds", number + 1, len(splits), "folds")
    table, K = np.hstack(tables), len(specs)
    chosen = np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in splits)])
    of_compared = table[2 * K :].reshape(len(compared_models), COLUMNS_OF_COMPARED, len(chosen))
    return PoolEvaluation(tuple(splits), chosen, rows.t[chosen], table[:K].T, table[K : 2 * K].T, of_compared)


def _fold(
    others: Rows, fold: Rows, begun: Sequence[MemberFit], compared_models: Sequence[Spec], fit_log: FitLog, step: Step
) -> Generator[Step, None, Array]:
    """(2 K + 6 J, n): means of the fold's rows by the members, variances, and COLUMNS_OF_COMPARED of each other."""
    nothing = np.full(len(fold.t), np.nan)
    means, variances, figures = list[Array](), list[Array](), list[Array]()
    for member in begun:
        try:
            found = None if isinstance(member, FailedFit) else member.predict(fold.X, fold.noise_sd)
        except NotPositiveDefiniteError:
            found = None
        means.append(found.mean if isinstance(found, RealPrediction) else nothing)
        variances.append(found.variance if isinstance(found, RealPrediction) else nothing)
    first = begun[0] if begun else FailedFit("no process was learned")
    for alternative in compared_models:
        prediction = yield from alternative_prediction(others, fold, alternative, first, fit_log, step)
        if prediction is None:
            figures += [nothing] * COLUMNS_OF_COMPARED
        else:
            one = Measured.of(prediction, fold.t)
            figures += [one.each["nll"], one.each["mae"], one.each["coverage_95"], *one.outputs]
    return np.array([*means, *variances, *figures])
