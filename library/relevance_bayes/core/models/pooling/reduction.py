"""The predictions of a pool's members as one: their product, its weights, and the reduction to few functions."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import sqrt

import numpy as np
import scipy

from relevance_bayes.core.algorithms.task import ROWS_FOR_SCALES
from relevance_bayes.core.concurrency import concurrently
from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.folds import Split
from relevance_bayes.core.kernels.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods.gaussian import RealPrediction
from relevance_bayes.core.log_density import log_normal, min_log_density
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pooling.folds import MAX_ROWS_STEPPED, PoolFolds, at_scales
from relevance_bayes.core.models.pooling.members import (
    JITTER_OF_NOISE,
    MIN_JITTER,
    FailedFit,
    MemberFit,
    Ordered,
    Whole,
    in_order,
    learned_through,
)
from relevance_bayes.core.models.prediction import Measured, Prediction, predict
from relevance_bayes.core.rows import FIT, Rows, Step, reported_as
from relevance_bayes.core.types import Array, Indices

PENALTY = 0.25
"""The log of each weight, before they are made to add to 1, has a normal prior of variance 1 / (2 PENALTY)."""

CORNER = 2.0
"""Where the search for weights starts from beside equal ones: the log of one weight over the others."""

STARTS = 2

MAX_LOG_WEIGHT = 6.0

TOLERANCE = 1e-4
"""Nats, of a mean size of one nat a row, by which a step of the search for weights must raise the log density."""


@dataclass(frozen=True, eq=False)
class Densities:
    """Gaussian predictive densities of N rows by K members: `means` and `variances` (N, K), the latter with noise."""

    means: Array
    variances: Array

    def shares(self, weights: Array) -> Array:
        """r_nk = w_k v_n / v_nk, (N, K): the members' shares in each row's mean, which add to 1."""
        precisions = weights / self.variances
        return np.asarray(precisions / precisions.sum(axis=1, keepdims=True))

    def product(self, weights: Array) -> tuple[Array, Array]:
        """Mean and variance (N,) of the product of the densities to the powers `weights` (K,), normalised.

        1/v = sum_k w_k / v_k and m = v sum_k w_k m_k / v_k [CAO2014, eq. 4]. With weights that add to 1, the
        number of members that agree does not reduce the variance.
        """
        variance = 1.0 / (weights / self.variances).sum(axis=1)
        return np.vecdot(self.shares(weights), self.means), variance

    def log_density(self, t: Array, weights: Array) -> Array:
        """log N(t; m, v) of the product, (N,), in nats."""
        mean, variance = self.product(weights)
        return log_normal(t, mean, variance)

    def min_log_density(self, t: Array) -> Array:
        """The least log density (N,) that targets t (N,) count with, in nats: see `log_density.min_log_density`."""
        return min_log_density(t, self.of_members(t).max(axis=1))

    def best_weights(self, t: Array, lowest: Array | None = None) -> Array:
        """The weights (K,), which add to 1, of greatest penalised log density of the targets t (N,).

        w = softmax(theta) maximises sum_n max(log N(t_n; m_n, v_n), l_n) - PENALTY |theta|^2, from the best STARTS of
        equal weights and each corner: there are several maxima, and without the penalty some are at a single member.
        l_n are `lowest` (N,), by default `min_log_density` of these members.
        """
        lowest = self.min_log_density(t) if lowest is None else lowest
        K = self.means.shape[1]
        starts = [np.zeros(K), *(CORNER * np.eye(K) if K > 1 else ())]
        starts.sort(key=lambda start: self._loss(start, t, lowest)[0])
        found = [
            scipy.optimize.minimize(
                self._loss,
                start,
                (t, lowest),
                jac=True,
                method="L-BFGS-B",
                bounds=[(-MAX_LOG_WEIGHT, MAX_LOG_WEIGHT)] * K,
                options={"ftol": TOLERANCE / max(len(t), 1)},
            )
            for start in starts[:STARTS]
        ]
        best = min(found, key=lambda end: float(end.fun))
        return np.asarray(scipy.special.softmax(best.x))

    def taken(self, members: Indices) -> "Densities":
        """The densities of the members of these indices (L,)."""
        return Densities(self.means[:, members], self.variances[:, members])

    def of_members(self, t: Array) -> Array:
        """log N(t; m_k, v_k), (N, K), in nats."""
        return log_normal(t[:, None], self.means, self.variances)

    def rows(self, chosen: Indices) -> "Densities":
        """The densities of the rows `chosen` (n,)."""
        return Densities(self.means[chosen], self.variances[chosen])

    def _loss(self, theta: Array, t: Array, lowest: Array) -> tuple[float, Array]:
        """Minus the penalised log density, at least `lowest` (N,) in each row, and its gradient (K,) in theta.

        With q = 1/v and e = t - m: d log N / d w_k = (1/(2q) - e^2/2) / v_k + e (m_k - m) / v_k.
        """
        weights = np.asarray(scipy.special.softmax(theta))
        mean, variance = self.product(weights)
        error = t - mean
        density = log_normal(t, mean, variance)
        counts = density > lowest
        slopes = (0.5 * (variance - error**2)[:, None] + error[:, None] * (self.means - mean[:, None])) / self.variances
        slope = slopes[counts].sum(axis=0)
        value = float(np.maximum(density, lowest).sum()) - PENALTY * float(theta @ theta)
        gradient = weights * (slope - float(weights @ slope)) - 2.0 * PENALTY * theta
        return -value, -gradient


MEMBER_COST, INPUT_COST, PAIR_COST = 110_000.0, 9.0, 2.0
"""The cost of the prediction of one row, in multiply-adds: of each member, of each function's inputs, and of each pair
of functions, for the variance. Measured: 25 microseconds a member, .00045 a pair."""

NEGLIGIBLE_LOSS = 0.002
"""Nats a row by which the loss may be above the least for predictions that cost less."""

ORDER_SHARE = 0.1
"""The share of the loss allowed to a pool that the functions after the end of each member's order may take."""

FULL_LEARNING_LOSS = 0.04
"""The nats a row that learning from few rows costs a pool from which its reduction may lose the whole limit: so the
reduction adds at most a quarter of that to .01. A smaller limit for more certain pools, which few functions describe:
their error is small beside the noise, and a loss of .01 may double it."""

MIN_LIMIT_SHARE = 0.3
"""The least share of the limit that is allowed: beyond it functions are added whose loss is hardly measurable."""

ALIKE = 1e-4
"""Nats a row by which the score of some members may be below that of all."""


@dataclass(frozen=True, eq=False)
class PoolReduction:
    """The indices (K,) of the members kept in a pool, their weights (K,) and numbers of functions (K,).

    `loss` is the estimated loss of the pool's fold score, in nats a row; `cost` that of a row's prediction in
    multiply-adds.
    """

    places: tuple[int, ...]
    weights: Array
    sizes: tuple[int, ...]
    loss: float
    cost: float


def prediction_cost(functions: int, inputs: int) -> float:
    """The cost of one row's prediction by one member, in multiply-adds."""
    return MEMBER_COST + functions * (INPUT_COST * inputs + PAIR_COST * functions)


def affordable_functions(cost: float, inputs: int) -> int:
    """The most functions of a member whose prediction of one row costs at most so many multiply-adds."""
    half = 0.5 * INPUT_COST * inputs
    left = max(cost - MEMBER_COST, 0.0)
    return int((sqrt(half**2 + PAIR_COST * left) - half) / PAIR_COST)


def widening(member: Ordered) -> Array:
    """The factors (M + 1,) by which a member's variance grows through its first 0, 1, ... functions.

    With g the gain in nats a row of the functions left out, those after the end of the order included: the variance
    that they explain becomes noise, whose precision they raise at most by the factor 1 + 2 g, and the mean compensates
    part of it. On five public tables, from 30 to 500 functions, new rows lost at most half of that: here the variance
    grows by the root of 1 + 2 g, a loss of 1/4 log(1 + 2 g).
    """
    gains = member.chosen.gains
    left = (np.append(np.cumsum(gains[::-1])[::-1], 0.0) + member.left) / member.rows
    return np.asarray(np.sqrt(1.0 + 2.0 * left))


def order_losses(weights: Array, max_score_loss: float) -> Array:
    """Nats a row (K,) that the functions after the end of each member's order may lose it, of `Ordered.of`.

    The pool loses at most the weighted sum of what its members lose, each here ORDER_SHARE of `max_score_loss`.
    """
    return np.asarray(ORDER_SHARE * max_score_loss / weights)


def learning_loss(folds: Densities, weights: Array, noise_variances: Array) -> float:
    """The nats a row that a pool loses because it does not know the function: 1/2 log(v / noise), averaged.

    v (n,) is the variance of the pool's prediction of held-out rows and the noise that of the members (K,), combined as
    their variances are. It is about half the effective number of functions over the number of rows.
    """
    _, variance = folds.product(weights)
    ratios = variance * float(weights @ (1.0 / noise_variances))
    return 0.5 * float(np.log(np.maximum(ratios, 1.0)).mean())


def allowed_loss(max_score_loss: float, of_learning: float) -> float:
    """The nats a row that a reduction may lose: `max_score_loss`, or less where learning loses little."""
    return max_score_loss * min(max(of_learning / FULL_LEARNING_LOSS, MIN_LIMIT_SHARE), 1.0)


def smallest_pool(folds: Densities, t: Array) -> tuple[int, ...]:
    """Return the indices of as few members as possible whose fold score is at most ALIKE below that of all.

    Of as many members the best. `folds` (n, K) are predictions of held-out rows with targets t (n,).
    """

    lowest = folds.min_log_density(t)

    def score(places: tuple[int, ...]) -> float:
        some = folds.taken(np.array(places))
        return float(np.maximum(some.log_density(t, some.best_weights(t, lowest)), lowest).mean())

    K = folds.means.shape[1]
    all_members = tuple(range(K))
    min_score = score(all_members) - ALIKE
    for count in range(1, K):
        best, places = max((score(places), places) for places in combinations(all_members, count))
        if best >= min_score:
            return places
    return all_members


def expected_log_density(
    folds: Densities, t: Array, weights: Array, wider: Array, lowest: Array | None = None
) -> float:
    """The expected score of a pool in nats a row where its members' variances grow by the factors `wider` (K,).

    Each row counts with `lowest` (N,) at least, by default `min_log_density` of these members.

    The variance (wider_k - 1) v_k that member k no longer explains is an error of its mean too, the same for all
    members: with the shares r_k of the wider densities, E log N(t; m, v) = log N(t; m, v) - (sum_k r_k sd_k)^2 / 2v. A
    wider member has a smaller share, so that the pool loses less than its members.
    """
    here = Densities(folds.means, folds.variances * wider)
    mean, variance = here.product(weights)
    missed = np.vecdot(here.shares(weights), np.sqrt(folds.variances * (wider - 1.0)))
    expected = log_normal(t, mean, variance) - 0.5 * np.square(missed) / variance
    return float(np.maximum(expected, folds.min_log_density(t) if lowest is None else lowest).mean())


def reduced(
    members: Sequence[Ordered], folds: Densities, t: Array, *, max_score_loss: float, max_cost: float
) -> PoolReduction:
    """The set of members, each through few functions, of the least loss for a cost of at most `max_cost`.

    Each set has as few functions as lose `max_score_loss` nats a row, the loss by members left out included, or as
    `max_cost` allows. `folds` (n, K) are predictions of held-out rows with targets t (n,).
    """
    lowest = folds.min_log_density(t)
    best = float(np.maximum(folds.log_density(t, folds.best_weights(t, lowest)), lowest).mean())
    tried = []
    for count in range(1, len(members) + 1):
        for places in combinations(range(len(members)), count):
            some = folds.taken(np.array(places))
            smallest = _smallest([members[place] for place in places], some, t, lowest, best, max_score_loss, max_cost)
            if smallest is not None:
                tried.append(replace(smallest, places=places))
    min_loss = min(one.loss for one in tried)
    max_loss = max(min_loss, min(min_loss + NEGLIGIBLE_LOSS, max_score_loss))
    return min((one for one in tried if one.loss <= max_loss), key=lambda one: one.cost)


def _smallest(
    members: Sequence[Ordered],
    folds: Densities,
    t: Array,
    lowest: Array,
    best: float,
    max_loss: float,
    max_cost: float,
) -> PoolReduction | None:
    """All these members through few functions, `loss` below `best`; None where several cost too much.

    A function enters where what it brings the whole reaches one price for all of them: of the prices at which one more
    enters, the greatest that loses at most `max_loss`, else the least that costs at most `max_cost`.
    """
    weights = folds.best_weights(t, lowest)
    widenings, found = [widening(member) for member in members], None
    for sizes in _sizes(members, weights * folds.shares(weights).mean(axis=0)):
        cost = sum(
            prediction_cost(size, member.whole.problem.X.shape[1]) for size, member in zip(sizes, members, strict=True)
        )
        if cost > max_cost and (found is not None or len(members) > 1):
            break
        wider = np.array([one[size] for one, size in zip(widenings, sizes, strict=True)])
        loss = max(best - expected_log_density(folds, t, weights, wider, lowest), 0.0)
        found = PoolReduction(tuple(range(len(members))), weights, sizes, loss, cost)
        if loss <= max_loss or cost > max_cost:
            break
    return found


STEPS = 64
"""Prices that are tried."""


def _sizes(members: Sequence[Ordered], counts: Array) -> Iterator[tuple[int, ...]]:
    """Numbers of functions (K,), from none to all.

    What a function brings its member counts in the whole by the member's weight times its share in the mean, `counts`
    (K,): the slope of the whole's loss in the log of the member's variance, as far as the others don't make up for it.
    """
    gains = np.concatenate([member.chosen.gains * count for member, count in zip(members, counts, strict=True)])
    prices = np.unique(np.quantile(gains, np.linspace(0.0, 1.0, STEPS))) if len(gains) else np.zeros(1)
    for price in [np.inf, *prices[::-1]]:
        yield tuple(member.worth(price / count) for member, count in zip(members, counts, strict=True))


MAX_PREDICTION_COST = 600_000.0
"""The most multiply-adds of a row's prediction, at which a request for one row takes twice the CPU time of 20
functions."""

MAX_COST_OF_ALL = 2.0 * MAX_PREDICTION_COST
"""That of members which need nearly all of their functions and keep all."""

ORDER, FUNCTIONS, FOLDS_AGAIN = (Step("reduction", place, 3, "steps") for place in range(3))
"""The reduction: functions in the order of their gains, the fits through few, and seldom the folds through as few."""


PARTS = 5
"""Parts that the rows of a single fold are divided into, for weights from the other parts."""


@dataclass(frozen=True, eq=False)
class MemberPredictions:
    """The predictions of n held-out rows of some folds by the members of a pool.

    `splits` are (others, fold) pairs of rows, `rows` (n,) the folds one after the other, `t` (n,) their targets, and
    `densities` (n, K) of all members, NaN where a fit failed.
    """

    splits: tuple[Split, ...]
    rows: Indices
    t: Array
    densities: Densities

    @classmethod
    def of(cls, folds: PoolFolds, tables: Array) -> "MemberPredictions":
        """Those in `PoolFolds.tables`."""
        K, rows = len(folds.members), np.concatenate([np.zeros(0, np.intp), *(fold for _, fold in folds.splits)])
        return cls(folds.splits, rows, folds.rows.t[rows], Densities(tables[:K].T, tables[K:].T))

    @cached_property
    def complete(self) -> Indices:
        """The indices (L,) of the members that were fitted in each fold; none where no row was measured."""
        if not len(self.t):
            return np.zeros(0, np.intp)
        is_finite = np.isfinite(self.densities.means) & np.isfinite(self.densities.variances)
        return np.flatnonzero(is_finite.all(axis=0))

    @property
    def heaviest(self) -> int:
        """The index of the member of the greatest weight."""
        members = self.complete
        return int(members[self.densities.taken(members).best_weights(self.t).argmax()])

    @cached_property
    def product(self) -> tuple[Array, Array]:
        """The means and sds of the pool of all complete members, each (n,)."""
        densities = self.densities.taken(self.complete)
        mean, variance = densities.product(densities.best_weights(self.t))
        return mean, np.sqrt(variance)

    def first(self, folds: int) -> "MemberPredictions":
        """Those of the first folds."""
        splits = self.splits[:folds]
        n = sum(len(fold) for _, fold in splits)
        densities = Densities(self.densities.means[:n], self.densities.variances[:n])
        return replace(self, splits=splits, rows=self.rows[:n], t=self.t[:n], densities=densities)

    def only(self, members: Indices) -> "MemberPredictions":
        """Those by the members of these indices (L,)."""
        return replace(self, densities=self.densities.taken(members))

    @cached_property
    def best_member(self) -> Array | None:
        """The greatest log density of each row (n,) by a complete member; None without one."""
        members = self.complete
        return self.densities.taken(members).of_members(self.t).max(axis=1) if len(members) else None

    @cached_property
    def measured(self) -> Measured:
        """Of the pool of all members, each part of the rows with weights from the other parts: the folds, or PARTS of
        one."""
        parts, stop = list[Measured](), 0
        sizes = [len(fold) for _, fold in self.splits]
        places = [np.arange(stop, stop := stop + size) for size in sizes]
        for here in places if len(places) > 1 else np.array_split(places[0], min(PARTS, len(self.t))):
            others = np.setdiff1d(np.arange(len(self.t)), here)
            weights = self.densities.rows(others).best_weights(self.t[others])
            mean, variance = self.densities.rows(here).product(weights)
            none = np.zeros(len(here))
            parts.append(Measured.of(RealPrediction(mean, variance, none, none), self.t[here]))
        return Measured.joined(parts).clip(self.best_member)


HOPELESS_MEMBER = "rows outside a sample are predicted as well by a pool without it"


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
    folds: PoolFolds, pool: MemberPredictions, fit_log: FitLog, *, max_score_loss: float
) -> Generator[Step, None, ReducedPool]:
    """The members that are kept, through few functions, whose scales are then optimised together with them.

    They lose at most `max_score_loss` nats a row within MAX_PREDICTION_COST, less where the pool is certain. Where they
    lose more, or the ordering of functions was cut, the folds are measured again with all members through as few
    functions as on all rows: weights, score and loss are of these predictions. Of many rows they are optimised from the
    hyperparameters of all rows. Where each needs nearly all of its functions, or the heaviest has less noise than few
    functions can have, they keep all and are exact; where rows have a noise of their own, unless jitter loses more than
    `max_score_loss`.
    """
    ordered, allowed = yield from _in_order(folds, pool, max_score_loss)
    yield FUNCTIONS
    numbers, sequences = list(ordered), list(ordered.values())
    some = pool.only(np.array(numbers))
    reduction = reduced(sequences, some.densities, some.t, max_score_loss=allowed, max_cost=MAX_PREDICTION_COST)
    kept = [sequences[place] for place in reduction.places]
    members, whole = tuple(one.whole for one in kept), some.measured
    inputs = folds.rows.X.shape[1]
    maximum = affordable_functions(MAX_PREDICTION_COST / len(kept), inputs)
    need_all = all(one.needs_all(size) for one, size in zip(kept, reduction.sizes, strict=True))
    heaviest = members[int(reduction.weights.argmax())]
    noise_share = 1.0 / (heaviest.hyperparameters.beta * heaviest.hyperparameters.signal_variance)
    need_all = need_all or (JITTER_OF_NOISE * noise_share < MIN_JITTER and heaviest.problem.precisions is None)
    if need_all and len(kept) * prediction_cost(len(folds.rows.t), inputs) <= MAX_COST_OF_ALL:
        with suppress(NotPositiveDefiniteError):
            every = tuple(one.through_all() for one in kept)
            loss = float(reduction.weights @ [_lost(one, model) for one, model in zip(members, every, strict=True)])
            if loss <= max_score_loss or all(model.is_exact for model in every):
                return ReducedPool(members, every, reduction.weights, whole, loss)
    models, few = list[Model](), dict[int, tuple[int, Hyperparameters | None]]()
    for place, size in zip(reduction.places, reduction.sizes, strict=True):
        through = learned_through(sequences[place], size, fit_log, max_functions=maximum)
        fit = yield from reported_as(FUNCTIONS, through)
        models.append(fit.model)
        few[numbers[place]] = size, fit.hyperparameters if folds.is_unseen else None
    estimated = ReducedPool(members, tuple(models), reduction.weights, whole, reduction.loss)
    if reduction.loss <= max_score_loss and not any(one.is_cut for one in kept):
        return estimated
    densities = yield from reported_as(FOLDS_AGAIN, _through_few(folds, few, fit_log))
    again = replace(some, densities=densities)
    if len(again.complete) < len(kept):
        return estimated
    measured = again.measured
    loss = float(measured.each["nll"].mean() - whole.each["nll"].mean())
    return replace(estimated, weights=densities.best_weights(again.t), measured=measured, loss=max(loss, 0.0))


def _lost(member: Whole, model: Model) -> float:
    """The nats a row by which the evidence of a member's model is below its own, as by jitter."""
    return max(member.evidence.value - model.evidence.value, 0.0) / member.problem.rows


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


def _in_order(
    folds: PoolFolds, pool: MemberPredictions, max_score_loss: float
) -> Generator[Step, None, tuple[dict[int, Ordered], float]]:
    """The functions of as few members as possible, by their index, in the order of their gains, and the allowed loss.

    Raises NotPositiveDefiniteError where none can be ordered.
    """
    complete = pool.complete
    densities = pool.only(complete).densities
    few = np.array(smallest_pool(densities, pool.t))
    densities, members = densities.taken(few), [folds.members[place] for place in complete[few]]
    weights = densities.best_weights(pool.t)
    allowed = _allowed_loss(max_score_loss, densities, weights, members)
    losses = order_losses(weights, allowed)
    parts = [_member_in_order(member, float(loss)) for member, loss in zip(members, losses, strict=True)]
    found = yield from reported_as(ORDER, concurrently(parts, folds.threads))
    ordered = {int(place): one for place, one in zip(complete[few], found, strict=True) if isinstance(one, Ordered)}
    if not ordered:
        raise NotPositiveDefiniteError("; ".join(one.reason for one in found if isinstance(one, FailedFit)))
    return ordered, allowed


def _member_in_order(member: MemberFit, max_loss: float) -> Generator[Step, None, Ordered | FailedFit]:
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
