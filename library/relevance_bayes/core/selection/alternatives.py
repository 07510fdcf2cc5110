"""Alternatives to a pool, each fitted to all rows or to those of a fold."""

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from relevance_bayes.core.algorithms.greedy import with_more_jitter
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fitting import FitLog, learned, pose
from relevance_bayes.core.folds import subset
from relevance_bayes.core.heteroscedastic import heteroscedastic
from relevance_bayes.core.hurdle import HurdleModel, member_specs, of_all_rows
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.likelihoods import Hurdle
from relevance_bayes.core.likelihoods.base import Targets
from relevance_bayes.core.model import Model
from relevance_bayes.core.per_class import without_functions
from relevance_bayes.core.pool import ready_of
from relevance_bayes.core.pooling.members import FailedFit, MemberFit, Whole
from relevance_bayes.core.prediction import Prediction, Ready, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.rows import FIT, Rows, Step
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.types import Indices

MAX_ROWS_OF_FOLD = 5_000
"""The most rows of a fold, drawn by content, that counts and hurdles learn from: each fold is a whole fit."""

SAMPLED: frozenset[Targets] = frozenset({"count", "amount"})

ROUNDS_IN_FOLDS, ROUNDS_WITH_CHOICE_IN_FOLDS = 2, 1
"""The most rounds of heteroscedastic noise in a fold, and those of them that choose functions."""


def alternative_prediction(
    others: Rows, fold: Rows, alternative: Spec, begin: MemberFit, fit_log: FitLog, step: Step
) -> Generator[Step, None, Prediction | None]:
    """The prediction of the fold by an alternative that learned from `others`; None where it can't be fitted.

    `begin` is a process of these rows: one of independent weights has its input map, and the first fit of
    heteroscedastic noise its hyperparameters, where it has the same spec but for the noise.
    """
    if alternative.likelihood.targets in SAMPLED and len(others.t) > MAX_ROWS_OF_FOLD:
        others = others.take(subset(others.X, others.t, MAX_ROWS_OF_FOLD, alternative.seed))
    try:
        if is_heteroscedastic(alternative.likelihood):
            first = begin.hyperparameters if isinstance(begin, Whole) else None
            both = yield from heteroscedastic(
                others,
                alternative,
                fit_log,
                step=step,
                begin=first,
                max_rounds=ROUNDS_IN_FOLDS,
                rounds_with_choice=ROUNDS_WITH_CHOICE_IN_FOLDS,
                grows=False,
            )
            return predict(both.model, fold.X)
        if isinstance(alternative.likelihood, Hurdle):
            both_parts = yield from _single_hurdle(others, alternative, fit_log, step)
            prediction, _ = ready_of(both_parts).predict(fold.X)
            return prediction
        inherited = None if isinstance(alternative.prior, GaussianProcess) else _inherited(begin)
        model = yield from computable_fit(others, alternative, inherited, fit_log, step)
        return predict(model, fold.X, fold.noise_sd)
    except (NotPositiveDefiniteError, DataError):
        return None


def learned_alternative(
    rows: Rows, alternative: Spec, begin: MemberFit, fit_log: FitLog, *, is_required: bool
) -> Generator[Step, None, Model | HurdleModel | None]:
    """An alternative on all rows; `begin` is a process of all rows as in `alternative_prediction`.

    A process continues at the scales of `begin` where that has its spec. None where it is not computable; raises
    NotPositiveDefiniteError there if `is_required`.
    """
    try:
        first = begin.hyperparameters if isinstance(begin, Whole) else None
        if is_heteroscedastic(alternative.likelihood):
            return (yield from heteroscedastic(rows, alternative, fit_log, begin=first)).model
        if isinstance(alternative.likelihood, Hurdle):
            return (yield from _single_hurdle(rows, alternative, fit_log, FIT))
        if isinstance(alternative.prior, GaussianProcess):
            same = first if isinstance(begin, Whole) and begin.spec == alternative else None
            return (yield from computable_fit(rows, alternative, None, fit_log, FIT, begin=same))
        return (yield from computable_fit(rows, alternative, _inherited(begin), fit_log, FIT))
    except NotPositiveDefiniteError:
        if is_required:
            raise
        return None


def _inherited(member: MemberFit) -> KernelFunctions | None:
    """Kernel functions with the input map that a process learned."""
    if isinstance(member, FailedFit):
        return None
    functions = member.task.functions
    return functions.moved(member.hyperparameters.input_map, functions.centres, functions.rows)


def computable_fit(
    rows: Rows,
    spec: Spec,
    inherited: KernelFunctions | None,
    fit_log: FitLog,
    step: Step,
    *,
    begin: Hyperparameters | None = None,
) -> Generator[Step, None, Model]:
    """A fit run to its end, with more jitter until predictions can be computed."""
    posed = pose(rows.X, rows.t, spec, inherited=inherited, noise_sd=rows.noise_sd)
    problem = replace(posed, begin=begin)
    state: State | None = None
    while True:
        for now in fit_log.iterates(problem, spec, state):
            yield step if step.phase == "folds" else replace(step, completed=now.state.iteration)
        model = learned(problem, now)
        try:
            Ready.of(model)
        except NotPositiveDefiniteError as error:
            state = with_more_jitter(now.state, error)
        else:
            return model


@dataclass(frozen=True)
class FittedPart:
    """One of the two models of a hurdle, the spec as run, and the work of its fits."""

    model: Model
    spec: Spec
    work: float = 0.0


PartFit = Callable[[Rows, Spec, Indices], Generator[Step, None, FittedPart]]
"""The fit of a part of a hurdle to rows with these numbers (n,) among all rows."""


def hurdle(
    rows: Rows, spec: Spec, fit: PartFit
) -> Generator[Step, None, tuple[HurdleModel, tuple[FittedPart, FittedPart]]]:
    """A hurdle: the model of zeros and that of positive targets are fitted one after the other.

    Zeros are as probable everywhere as they are frequent where they have no other model. Raises DataError, and
    NotPositiveDefiniteError where that of positive targets can't be fitted.
    """
    likelihood, t = Hurdle(), (rows.t == 0.0).astype(np.float64)
    likelihood.check(rows.t)
    of_zeros, of_positive = member_specs(spec)
    zero = FittedPart(without_functions(rows.X.shape[1], t, len(t)), of_zeros)
    if t.any() and not t.all():
        with suppress(NotPositiveDefiniteError):
            zero = yield from fit(rows.with_targets(t), of_zeros, np.arange(len(t)))
    above = np.flatnonzero(rows.t > 0.0)
    positive = yield from fit(rows.take(above), of_positive, above)
    return HurdleModel(zero.model, of_all_rows(positive.model, above), likelihood), (zero, positive)


def _single_hurdle(rows: Rows, spec: Spec, fit_log: FitLog, step: Step) -> Generator[Step, None, HurdleModel]:
    """A hurdle whose models are fitted once each."""

    def fit(some: Rows, part: Spec, _numbers: Indices) -> Generator[Step, None, FittedPart]:
        return FittedPart((yield from computable_fit(some, part, None, fit_log, step)), part)

    model, _ = yield from hurdle(rows, spec, fit)
    return model
