"""A pool through few functions: learned on all rows, and measured by folds where the estimate of its loss can't do."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.model import Model
from relevance_bayes.core.pooling.learning import Ordered
from relevance_bayes.core.pooling.reduction import reduced
from relevance_bayes.core.prediction import Measured, predict
from relevance_bayes.core.selection.pool_evaluation import PoolEvaluation
from relevance_bayes.core.selection.pool_members import FailedFit, MemberFit, in_order, learned_members, learned_through
from relevance_bayes.core.selection.rows import FIT, Rows, Step
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

MAX_SCORE_LOSS = 0.01
"""Nats a row of the pool's fold score that its reduction to few functions may lose, ..."""

MAX_PREDICTION_COST = 600_000.0
"""... unless a row's prediction would cost more multiply-adds: a request for one row then takes twice the CPU time that
it takes with 20 functions."""

FoldMembers = Mapping[int, Sequence[MemberFit]]
"""The members that were learned from the other rows of a fold, by the fold's number, as far as they are in memory."""


@dataclass(frozen=True, eq=False)
class ReducedPool:
    """The places (K,) of the members that stay, their models and weights (K,).

    `measured` are the rows of the folds: by the whole pool where the reduction is estimated to lose little, by its
    members through as few functions where it is not. `loss` is that of the reduction, in nats a row.
    """

    places: tuple[int, ...]
    models: tuple[Model, ...]
    weights: Array
    measured: Measured
    loss: float


def reduced_pool(
    rows: Rows,
    specs: Sequence[Spec],
    ordered: Mapping[int, Ordered],
    evaluation: PoolEvaluation,
    fit_log: FitLog,
    *,
    fold_members: FoldMembers,
    max_score_loss: float,
    max_rows_for_scales: int | None,
) -> Generator[Step, None, ReducedPool]:
    """The members that stay, through few functions, learned on from there together with all scales.

    `ordered` are the members on all rows by their place among `specs`, `evaluation` is of these. Where the reduction
    loses more than `max_score_loss`, or functions that gain something were left out uncounted, the folds are measured
    again, all members through as few functions as on all rows: weights, score and loss are of these predictions.
    """
    yield FIT
    sequences = list(ordered.values())
    reduction = reduced(
        sequences, evaluation.densities, evaluation.t, max_score_loss=max_score_loss, max_cost=MAX_PREDICTION_COST
    )
    kept = [sequences[place] for place in reduction.places]
    models = []
    for one, size in zip(kept, reduction.sizes, strict=True):
        models.append((yield from learned_through(one, size, fit_log)))
    whole = evaluation.measured
    estimated = ReducedPool(reduction.places, tuple(models), reduction.weights, whole, reduction.loss)
    if reduction.loss <= max_score_loss and not any(one.is_cut for one in kept):
        return estimated
    numbers = [[*ordered][place] for place in reduction.places]
    sizes = dict(zip(numbers, reduction.sizes, strict=True))
    again = yield from _through_few(rows, specs, evaluation, sizes, fit_log, fold_members, max_rows_for_scales)
    if len(again.complete) < len(kept):
        return estimated
    measured = again.measured
    loss = float(measured.each["nll"].mean() - whole.each["nll"].mean())
    return replace(estimated, weights=again.densities.best_weights(again.t), measured=measured, loss=max(loss, 0.0))


def _through_few(
    rows: Rows,
    specs: Sequence[Spec],
    evaluation: PoolEvaluation,
    sizes: Mapping[int, int],
    fit_log: FitLog,
    fold_members: FoldMembers,
    max_rows: int | None,
) -> Generator[Step, None, PoolEvaluation]:
    """The folds as the members at the keys of `sizes` predict them, each through so many functions of its own fold.

    The log has the result of each fold alone: which fits that took depends on what was in memory.
    """
    tables = []
    for number, (others, fold) in enumerate(evaluation.splits):
        table = fit_log.recorded()
        if table is None:
            place = fit_log.begin()
            begun = fold_members.get(number)
            if begun is None:
                begun = yield from learned_members(rows.take(others), specs, FitLog(), FIT, max_rows)
            found = []
            for member, size in sizes.items():
                found.append((yield from _predicted(begun[member], size, rows.take(fold))))
            table = np.array(found)
            fit_log.record(place, table)
        tables.append(table)
        yield FIT
    table = np.concatenate(tables, axis=2)
    return replace(evaluation, means=table[:, 0].T, variances=table[:, 1].T)


def _predicted(begun: MemberFit, size: int, fold: Rows) -> Generator[Step, None, Array]:
    """Means and variances (2, n) of a fold's rows by a member through so many functions; NaN where it is lost."""
    ordered = begun if isinstance(begun, FailedFit) else in_order(begun)
    if not isinstance(ordered, FailedFit):
        try:
            model = yield from learned_through(ordered, min(size, len(ordered.chosen.places)), FitLog())
        except NotPositiveDefiniteError:
            return np.full((2, len(fold.t)), np.nan)
        found = predict(model, fold.X, fold.noise_sd)
        if isinstance(found, RealPrediction):
            return np.array([found.mean, found.variance])
    return np.full((2, len(fold.t)), np.nan)
