"""The reduction of a pool to few functions: on all rows, and measured by folds where its estimated loss is too
large."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.model import Model
from relevance_bayes.core.pooling.learning import Ordered
from relevance_bayes.core.pooling.reduction import affordable_functions, reduced
from relevance_bayes.core.prediction import Measured, predict
from relevance_bayes.core.selection.pool_evaluation import PoolEvaluation
from relevance_bayes.core.selection.pool_members import FailedFit, MemberFit, in_order, learned_members, learned_through
from relevance_bayes.core.selection.rows import FIT, Rows, Step
from relevance_bayes.core.spec import Spec
from relevance_bayes.core.types import Array

MAX_SCORE_LOSS = 0.01
"""The most nats a row of the pool's fold score that its reduction to few functions loses, ..."""

MAX_PREDICTION_COST = 600_000.0
"""... unless a row's prediction costs more multiply-adds than this, at which a request for one row takes twice the CPU
time of 20 functions."""

FoldMembers = Mapping[int, Sequence[MemberFit]]
"""The members learned from the training rows of a fold, by the fold's number, where they are in memory."""


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
    """The members that are kept, through few functions, whose scales are then optimised together with them.

    `ordered` are the members on all rows by their index in `specs`, which `evaluation` is of. Where the reduction loses
    more than `max_score_loss`, or the ordering of functions was cut, the folds are measured again with all members
    through as few functions as on all rows: weights, score and loss are of these predictions.
    """
    yield FIT
    sequences = list(ordered.values())
    reduction = reduced(
        sequences, evaluation.densities, evaluation.t, max_score_loss=max_score_loss, max_cost=MAX_PREDICTION_COST
    )
    kept = [sequences[place] for place in reduction.places]
    maximum = affordable_functions(MAX_PREDICTION_COST / len(kept), rows.X.shape[1])
    models = []
    for one, size in zip(kept, reduction.sizes, strict=True):
        models.append((yield from learned_through(one, size, fit_log, max_functions=maximum)))
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
    """The predictions of the folds by the members at the keys of `sizes`, each through so many functions.

    The log has only the result of each fold, since the fits needed depend on what is in memory.
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
