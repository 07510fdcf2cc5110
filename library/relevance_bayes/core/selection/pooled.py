"""One training of several processes as one model, judged and weighted by rows that were not learned from.

Each fold's other rows teach every member anew, scales and all; how these predict the fold decides the weights, whether
an alternative takes the pool's place, and the score that is reported. Then the members learn from all rows, and are
reduced to functions on rows.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.folds import Split
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.marginal import LogEvidence
from relevance_bayes.core.pool import LearnedModel, Pool
from relevance_bayes.core.pooling.learning import Ordered
from relevance_bayes.core.prediction import Measured
from relevance_bayes.core.selection.pool_judgement import Judgement
from relevance_bayes.core.selection.pool_members import Begun, Lost, in_order, learned_members
from relevance_bayes.core.selection.pool_reduction import MAX_SCORE_LOSS, reduced_pool
from relevance_bayes.core.selection.pool_rivals import fitted_to_the_end, learned_rival, rival_prediction
from relevance_bayes.core.selection.rows import FIT, Rows, Step
from relevance_bayes.core.selection.scoring import NORMAL, Compared, figures
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.trail import Trail
from relevance_bayes.core.types import Array

Judging = Callable[[Sequence[Spec], Sequence[Spec]], Generator[Step, None, Judgement]]
"""Of members and of what they are compared with, by folds."""


@dataclass(frozen=True)
class Member:
    """A process of the pool: its spec, its weight, how many functions it kept, and the evidence before that."""

    spec: Spec
    weight: float
    functions: int
    evidence: LogEvidence


@dataclass(frozen=True, eq=False)
class Pooled:
    """The model, the spec that stands for it, and what decided.

    `score` are the figures of the rows left out, by what was learned without them: before the reduction to few
    functions where that is estimated to lose little, else after it. `score_loss` is what it costs, in nats a row, and
    `unreduced` are the functions without it.
    """

    model: LearnedModel
    spec: Spec
    members: tuple[Member, ...]
    compared: tuple[Compared, ...]
    score: dict[str, float]
    score_loss: float
    unreduced: int


def pooled(
    rows: Rows,
    specs: Sequence[Spec],
    rivals: Sequence[Spec],
    splits: Sequence[Split],
    trail: Trail,
    *,
    max_score_loss: float = MAX_SCORE_LOSS,
    max_rows_for_scales: int = NORMAL.max_rows_for_scales,
) -> Generator[Step, None, Pooled]:
    """Learn a pool of the processes `specs` from N rows, or the one of `rivals` that the folds clearly prefer.

    The first of `specs` has a width for each input; `splits` are the folds. The pool loses at most `max_score_loss`
    nats a row by its reduction to few functions, within MAX_PREDICTION_COST. Raises NotPositiveDefiniteError where
    nothing can be fitted.
    """
    most = None if len(rows.t) <= ROWS_FOR_SCALES else max_rows_for_scales
    fold_members: dict[int, Sequence[Begun]] = {}
    judging = partial(_judged, rows, splits=splits, trail=trail, most=most, fold_members=fold_members)
    judgement, rivals = yield from _compare(rows, specs, rivals, judging)
    best = judgement.best_rival
    if best is not None:
        model = yield from learned_rival(rows, rivals[best], specs[0], trail, needed=not len(judgement.sound))
        if model is not None:
            score = judgement.rival_score(best)
            others = judgement.compared(specs, rivals, best)
            return Pooled(model, rivals[best], (), others, score, 0.0, model.size)
    compared = judgement.compared(specs, rivals)
    sound = judgement.sound
    if not len(sound):
        model = yield from fitted_to_the_end(rows, specs[0], None, trail, FIT)
        return Pooled(model, specs[0], (), compared, {}, 0.0, len(model.mean))
    begun = yield from learned_members(rows, [specs[place] for place in sound], trail, FIT)
    yield FIT
    ordered = [one if isinstance(one, Lost) else in_order(one) for one in begun]
    learned_again = [place for place, one in enumerate(ordered) if isinstance(one, Ordered)]
    if not learned_again:
        raise NotPositiveDefiniteError("; ".join(one.reason for one in ordered if isinstance(one, Lost)))
    sequences = {int(sound[place]): one for place, one in enumerate(ordered) if isinstance(one, Ordered)}
    members = [one.whole for one in sequences.values()]
    found = yield from reduced_pool(
        rows,
        specs,
        sequences,
        judgement.only(sound[learned_again]),
        trail,
        fold_members=fold_members,
        max_score_loss=max_score_loss,
        max_rows_for_scales=most,
    )
    kept = [members[place] for place in found.places]
    of_members = tuple(
        Member(one.spec, float(weight), len(model.mean), one.evidence)
        for one, weight, model in zip(kept, found.weights, found.models, strict=True)
    )
    pool = found.models[0] if len(found.models) == 1 else Pool(found.models, found.weights)
    spec = kept[int(found.weights.argmax())].spec
    unreduced = len(members) * len(rows.t)
    return Pooled(pool, spec, of_members, compared, figures(found.measured), found.loss, unreduced)


def _compare(
    rows: Rows, specs: Sequence[Spec], rivals: Sequence[Spec], judging: Judging
) -> Generator[Step, None, tuple["Judgement", Sequence[Spec]]]:
    """All of them judged by folds, and the rivals in their order there.

    Noise that is a function of the inputs comes last, and only where the residuals of the pool ask for it: about the
    function of the member that weighs most.
    """
    first = [one for one in rivals if not is_heteroscedastic(one.likelihood)]
    last = [one for one in rivals if is_heteroscedastic(one.likelihood)]
    judgement = yield from judging(specs, first)
    if not last:
        return judgement, first
    if not judgement.noise_varies(rows.X):
        unasked = np.full((len(last), 3, len(judgement.t)), np.nan)
        return replace(judgement, rivals=np.concatenate([judgement.rivals, unasked])), [*first, *last]
    best = specs[judgement.heaviest]
    last = [replace(best, likelihood=one.likelihood) for one in last]
    beside = yield from judging((), last)
    joined = np.concatenate([judgement.rivals, beside.rivals])
    return replace(judgement, rivals=joined, asked=True), [*first, *last]


def _judged(
    rows: Rows,
    specs: Sequence[Spec],
    rivals: Sequence[Spec],
    *,
    splits: Sequence[Split],
    trail: Trail,
    most: int | None,
    fold_members: dict[int, Sequence[Begun]],
) -> Generator[Step, None, Judgement]:
    """Every member and rival learned from each fold's other rows, and measured on the fold.

    Members whose scales are learned from `most` rows at most are put into `fold_members` by the fold's number.
    """
    tables = [np.empty((2 * len(specs) + 3 * len(rivals), 0))]
    yield Step("folds", 0, len(splits), "folds")
    for number, (others, fold) in enumerate(splits):
        table = trail.passed()
        if table is None:
            place = trail.begin()
            step = Step("folds", number, len(splits), "folds")
            apart, left_out = rows.take(others), rows.take(fold)
            begun = yield from learned_members(apart, specs, trail, step, most)
            table = yield from _fold(apart, left_out, begun, rivals, trail, step)
            trail.settle(place, table)
            if specs:
                fold_members[number] = begun
        tables.append(table)
        yield Step("folds", number + 1, len(splits), "folds")
    table, K = np.hstack(tables), len(specs)
    chosen = np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in splits)])
    of_rivals = table[2 * K :].reshape(len(rivals), 3, len(chosen))
    return Judgement(tuple(splits), chosen, rows.t[chosen], table[:K].T, table[K : 2 * K].T, of_rivals)


def _fold(
    others: Rows, fold: Rows, begun: Sequence[Begun], rivals: Sequence[Spec], trail: Trail, step: Step
) -> Generator[Step, None, Array]:
    """(2 K + 3 J, n): means of the fold's rows by the members, variances, and three figures of each rival."""
    nothing = np.full(len(fold.t), np.nan)
    means, variances, figures = list[Array](), list[Array](), list[Array]()
    for member in begun:
        try:
            found = None if isinstance(member, Lost) else member.predict(fold.X, fold.noise_sd)
        except NotPositiveDefiniteError:
            found = None
        means.append(found.mean if isinstance(found, RealPrediction) else nothing)
        variances.append(found.variance if isinstance(found, RealPrediction) else nothing)
    first = begun[0] if begun else Lost("no process was learned")
    for rival in rivals:
        prediction = yield from rival_prediction(others, fold, rival, first, trail, step)
        if prediction is None:
            figures += [nothing] * 3
        else:
            each = Measured.of(prediction, fold.t).each
            figures += [each["nll"], each["mae"], each["coverage_95"]]
    return np.array([*means, *variances, *figures])
