"""Plans of nearest-neighbour processes, and the conditions of their use."""

from collections.abc import Iterator, Sequence

from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.local.choice import KERNELS, MIN_ROWS, LocalChoice, LocalKernel
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.spec import Spec, is_heteroscedastic
from relevance_bayes.plans.requests import (
    AutomaticLocal,
    AutomaticPrior,
    InputColumn,
    KernelChoice,
    LocalPlan,
    NearestNeighbours,
    NoLocal,
    SupervisedRequest,
)
from relevance_bayes.types.errors import Fault

MIN_AUTOMATIC_ROWS = 5_000
"""The minimum number of rows from which they are compared by default: with fewer, a pool of processes with few
functions predicts as well, in less memory and time."""

MAX_AUTOMATIC_BYTES = 16 * 2**20
"""The maximum size of the rows that a version keeps by default: loaded, they take six times that in the cache of
versions."""

BYTES = 8
"""The size of a number."""


def _kept_bytes(rows: int, inputs: Sequence[InputColumn]) -> int:
    """Return the size of encoded rows, with a column for each category, and their targets."""
    columns = sum(max(len(column.categories), 1) for column in inputs)
    return BYTES * rows * (columns + 1)


def planned_local(
    request: SupervisedRequest, spec: Spec, *, rows: int, inputs: Sequence[InputColumn], max_score_loss: float
) -> LocalPlan | None:
    """Return the processes that a training compares with the spec; None for none."""
    kept = _kept_bytes(rows, inputs)
    kernels, warped = _kernels(request), _is_warped(request)
    match request.local or AutomaticLocal():
        case NoLocal():
            return None
        case NearestNeighbours(neighbours=neighbours, on=on):
            of = None if on == "automatic" else on
            return LocalPlan(LocalChoice(neighbours, of, True, kernels, warped, max_score_loss), rows, kept)
        case AutomaticLocal():
            is_open = isinstance(request.prior, AutomaticPrior | None) and request.effort != "quick"
            is_affordable = rows >= MIN_AUTOMATIC_ROWS and kept <= MAX_AUTOMATIC_BYTES
            if not (is_open and is_affordable) or any(_reasons_against(request, spec, rows)):
                return None
            return LocalPlan(LocalChoice(None, None, False, kernels, warped, max_score_loss), rows, kept)


def local_faults(request: SupervisedRequest, spec: Spec, rows: int) -> list[Fault]:
    """Return why a requested process can't be fitted."""
    if not isinstance(request.local, NearestNeighbours):
        return []
    return [Fault(detail, "/local") for detail in _reasons_against(request, spec, rows)]


def _reasons_against(request: SupervisedRequest, spec: Spec, rows: int) -> Iterator[str]:
    likelihood, prior, basis = spec.likelihood, spec.prior, request.basis
    if not isinstance(likelihood, GaussianNoise) or likelihood.noise_by_row or is_heteroscedastic(likelihood):
        yield "A nearest-neighbour process requires numbers with Gaussian noise of one sd."
    if not isinstance(prior, GaussianProcess) or prior.rho:
        yield "A nearest-neighbour process requires a Gaussian process prior whose `rho` is 0."
    if basis is not None and not (isinstance(basis, KernelChoice) and basis.width is None and basis.additive == "none"):
        yield "A nearest-neighbour process requires one kernel with learned widths and without additive terms."
    if isinstance(basis, KernelChoice) and not isinstance(basis.kernel, LocalKernel):
        yield f"A nearest-neighbour process requires one of the kernels {', '.join(kernel.type for kernel in KERNELS)}."
    if rows < MIN_ROWS:
        yield f"A nearest-neighbour process requires at least {MIN_ROWS} rows, got {rows}."


def _kernels(request: SupervisedRequest) -> tuple[LocalKernel, ...]:
    named = request.basis.kernel if isinstance(request.basis, KernelChoice) else None
    return (named,) if isinstance(named, LocalKernel) else KERNELS


def _is_warped(request: SupervisedRequest) -> bool:
    return not isinstance(request.basis, KernelChoice) or request.basis.warp != "none"
