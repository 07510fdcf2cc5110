"""The alternatives to a pool: a fit of another likelihood or prior, on a fold's other rows or on all."""

from collections.abc import Generator
from dataclasses import replace

from relevance_bayes.core.algorithms.greedy import with_more_jitter
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fitting import learned, pose
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import Prediction, Ready, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection.heteroscedastic import heteroscedastic
from relevance_bayes.core.selection.pool_members import FailedFit, MemberFit, learned_member
from relevance_bayes.core.selection.rows import FIT, Rows, Step
from relevance_bayes.core.spec import Spec, is_heteroscedastic


def alternative_prediction(
    others: Rows, fold: Rows, alternative: Spec, first: MemberFit, fit_log: FitLog, step: Step
) -> Generator[Step, None, Prediction | None]:
    """The prediction of the fold by an alternative that learned from `others`; None where it can't be fitted."""
    try:
        if is_heteroscedastic(alternative.likelihood):
            both = yield from heteroscedastic(others, alternative, fit_log, step=step)
            return predict(both.model, fold.X)
        if isinstance(alternative.prior, GaussianProcess):
            begun = yield from learned_member(others, alternative, None, fit_log, step)
            return None if isinstance(begun, FailedFit) else begun.predict(fold.X, fold.noise_sd)
        model = yield from computable_fit(others, alternative, _inherited(first), fit_log, step)
        return predict(model, fold.X, fold.noise_sd)
    except (NotPositiveDefiniteError, DataError):
        return None


def learned_alternative(
    rows: Rows, alternative: Spec, first: Spec, fit_log: FitLog, *, is_required: bool
) -> Generator[Step, None, Model | None]:
    """An alternative on all rows; one of independent weights has the input map of the process `first`.

    None where it is not computable; raises NotPositiveDefiniteError there if `is_required`.
    """
    inherited = None
    if not isinstance(alternative.prior, GaussianProcess):
        inherited = _inherited((yield from learned_member(rows, first, None, fit_log, FIT)))
    try:
        if is_heteroscedastic(alternative.likelihood):
            return (yield from heteroscedastic(rows, alternative, fit_log)).model
        return (yield from computable_fit(rows, alternative, inherited, fit_log, FIT))
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
    rows: Rows, spec: Spec, inherited: KernelFunctions | None, fit_log: FitLog, step: Step
) -> Generator[Step, None, Model]:
    """A fit run to its end, with more jitter until predictions can be computed."""
    problem = pose(rows.X, rows.t, spec, inherited=inherited, noise_sd=rows.noise_sd)
    begin: State | None = None
    while True:
        for now in fit_log.iterates(problem, spec, begin):
            yield step if step.phase == "folds" else replace(step, completed=now.state.iteration)
        model = learned(problem, now)
        try:
            Ready.of(model)
        except NotPositiveDefiniteError as error:
            begin = with_more_jitter(now.state, error)
        else:
            return model
