"""Members of a pool: their scales from some rows, their functions in the order of their gains, the fit through few."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from relevance_bayes.core.basis import KernelBasis
from relevance_bayes.core.errors import DataError, NotPositiveDefiniteError
from relevance_bayes.core.fit_log import FitLog
from relevance_bayes.core.fitting import learned, pose
from relevance_bayes.core.hyperparameters import Hyperparameters
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.model import Model
from relevance_bayes.core.pooling.learning import Ordered, Whole, jitter, whole
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.scales import EvidencePerInputWidth
from relevance_bayes.core.selection.rows import Rows, Step
from relevance_bayes.core.spec import Spec

MAX_SIGNAL_TO_NOISE = 1e3
"""The signal-to-noise ratio up to which another kernel starts from the widths of the first."""

MAX_JITTER = 1e-4
"""The jitter up to which tenfold jitter is tried, before three quarters of the functions."""

FEWER = (0.9, 0.8)
"""Shares of the functions that are tried where a matrix is not positive definite with all of them."""

MIN_FUNCTIONS = 8
"""The least number of functions of a member: an error is raised where fewer would be needed."""


@dataclass(frozen=True)
class FailedFit:
    """A process that could not be learned, and the reason."""

    reason: str


MemberFit: TypeAlias = Whole | FailedFit


def learned_members(
    rows: Rows, specs: Sequence[Spec], fit_log: FitLog, step: Step, max_rows: int | None = None
) -> Generator[Step, None, list[MemberFit]]:
    """Each member with its scales learned on at most `max_rows` rows.

    Those with a width for each input start from the hyperparameters of the first; another kernel has its own starts
    where the first found nearly no noise.
    """
    found: list[MemberFit] = []
    for spec in specs:
        first = found[0] if found else None
        has_start = isinstance(first, Whole) and _widths_by_input(spec)
        if isinstance(first, Whole) and _kernel(spec) != _kernel(specs[0]):
            has_start = has_start and first.hyperparameters.beta * first.problem.square < MAX_SIGNAL_TO_NOISE
        begin = first.hyperparameters if isinstance(first, Whole) and has_start else None
        found.append((yield from learned_member(rows, spec, begin, fit_log, step, max_rows)))
    return found


def learned_member(
    rows: Rows, spec: Spec, begin: Hyperparameters | None, fit_log: FitLog, step: Step, max_rows: int | None = None
) -> Generator[Step, None, MemberFit]:
    """A member with its scales learned on `max_rows` rows, from `begin` where that is given."""
    try:
        posed = pose(rows.X, rows.t, spec, noise_sd=rows.noise_sd)
        problem = replace(posed, begin=begin, max_rows_for_scales=max_rows)
        for member in whole(problem, spec, fit_log):  # noqa: B007 - the last is the member
            yield step
    except (NotPositiveDefiniteError, DataError) as error:
        return FailedFit(str(error))
    return member


def _kernel(spec: Spec) -> Kernel | None:
    return next((one.kernel for one in spec.basis if isinstance(one, KernelBasis)), None)


def _widths_by_input(spec: Spec) -> bool:
    return any(isinstance(one, KernelBasis) and isinstance(one.width, EvidencePerInputWidth) for one in spec.basis)


def in_order(member: Whole) -> Ordered | FailedFit:
    """A member's functions in the order of their gains."""
    try:
        return Ordered.of(member)
    except NotPositiveDefiniteError as error:
        return FailedFit(str(error))


def learned_through(
    member: Ordered, functions: int, fit_log: FitLog, *, max_functions: int | None = None
) -> Generator[Step, None, Model]:
    """A member through its first functions, or fewer where a matrix is not positive definite.

    Of many rows, functions that gain beside them on all rows are added, up to `max_functions`; None: none is added.

    Where a fit can't be computed, FEWER of them are tried, then tenfold jitter, until all can be kept. The model of the
    greatest bound on the log marginal likelihood is taken: for a member of nearly no noise jitter acts as noise, and
    fewer functions may cost less. Raises NotPositiveDefiniteError.
    """
    added, found = jitter(member.whole.hyperparameters), list[Model]()
    while True:
        complete = True
        for size in (functions, *(int(share * functions) for share in FEWER)):
            try:
                found.append((yield from _through(member, size, added, fit_log, max_functions)))
                break
            except NotPositiveDefiniteError:
                if functions < MIN_FUNCTIONS:
                    raise
                complete = False
        if found and (complete or added >= MAX_JITTER):
            return max(found, key=lambda model: model.evidence.value)
        if added < MAX_JITTER:
            added *= 10.0
        else:
            functions = functions * 3 // 4


def _through(
    member: Ordered, functions: int, added: float, fit_log: FitLog, max_functions: int | None
) -> Generator[Step, None, Model]:
    """One fit, from which predictions can be computed; raises NotPositiveDefiniteError."""
    problem, spec, grows = member.whole.problem, member.whole.spec, False
    if max_functions is not None and member.grows:
        problem, grows = member.growing(max(functions, max_functions)), True
    for now in fit_log.iterates(problem, spec, member.through(functions, added, grows=grows)):
        state = now.state
        yield Step("fit", state.iteration, None, "iterations", None, len(state.active))
    model = learned(problem, now)
    Ready.of(model)
    return model
