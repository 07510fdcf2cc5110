"""What a pool is compared with: a fit of another likelihood or prior, on a fold's other rows or on all."""

from collections.abc import Generator
from dataclasses import replace

from relevance_bayes.core.algorithms.greedy import with_more_jitter
from relevance_bayes.core.algorithms.state import State
from relevance_bayes.core.basis import KernelFunctions
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fitting import learned, pose
from relevance_bayes.core.model import Model
from relevance_bayes.core.prediction import Prediction, Ready, predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection.heteroscedastic import heteroscedastic
from relevance_bayes.core.selection.pool_members import Begun, Lost, learned_member
from relevance_bayes.core.selection.rows import FIT, Rows, Step
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.core.trail import Trail


def rival_prediction(
    others: Rows, fold: Rows, rival: Spec, first: Begun, trail: Trail, step: Step
) -> Generator[Step, None, Prediction | None]:
    """What a rival learned of `others` predicts of the fold; None where it can't be learned."""
    try:
        if is_heteroscedastic(rival.likelihood):
            both = yield from heteroscedastic(others, rival, trail, step=step)
            return predict(both.model, fold.X)
        if isinstance(rival.prior, GaussianProcess):
            begun = yield from learned_member(others, rival, None, trail, step)
            return None if isinstance(begun, Lost) else begun.predict(fold.X, fold.noise_sd)
        model = yield from fitted_to_the_end(others, rival, _lent(first), trail, step)
        return predict(model, fold.X, fold.noise_sd)
    except (NotPositiveDefiniteError, DataError):
        return None


def learned_rival(
    rows: Rows, rival: Spec, first: Spec, trail: Trail, *, needed: bool
) -> Generator[Step, None, Model | None]:
    """A rival on all rows; one of independent weights has the input map of the process `first`.

    None where it is not computable; raises NotPositiveDefiniteError there if it is `needed`.
    """
    lent = None
    if not isinstance(rival.prior, GaussianProcess):
        lent = _lent((yield from learned_member(rows, first, None, trail, FIT)))
    try:
        if is_heteroscedastic(rival.likelihood):
            return (yield from heteroscedastic(rows, rival, trail)).model
        return (yield from fitted_to_the_end(rows, rival, lent, trail, FIT))
    except NotPositiveDefiniteError:
        if needed:
            raise
        return None


def _lent(member: Begun) -> KernelFunctions | None:
    """Kernel functions with the input map that a process learned."""
    if isinstance(member, Lost):
        return None
    functions = member.task.functions
    return functions.moved(member.hyperparameters.input_map, functions.centres, functions.rows)


def fitted_to_the_end(
    rows: Rows, spec: Spec, lent: KernelFunctions | None, trail: Trail, step: Step
) -> Generator[Step, None, Model]:
    """A fit to its end, from which predictions can be computed."""
    problem = pose(rows.X, rows.t, spec, inherited=lent, noise_sd=rows.noise_sd)
    begin: State | None = None
    while True:
        for now in trail.standings(problem, spec, begin):
            yield step if step.phase == "folds" else replace(step, completed=now.state.iteration)
        model = learned(problem, now)
        try:
            Ready.of(model)
        except NotPositiveDefiniteError as error:
            begin = with_more_jitter(now.state, error)
        else:
            return model
