"""The spec of fits: its defaults, and bounds for float64."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Basis, Bias, Group, Inputs, KernelBasis
from relevance_bayes.core.dictionaries import Dictionary, Gabor
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.kernels import CityBlock, Covariance, Kernel, Matern32
from relevance_bayes.core.likelihoods import ClassLikelihood, GaussianNoise, LogGaussian, TargetLikelihood
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.core.scales import (
    CrossValidationWidth,
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
    InheritedWidth,
)
from relevance_bayes.core.spec import Prior, Spec, check, is_heteroscedastic
from relevance_bayes.plans.classes import SHRINKAGE
from relevance_bayes.plans.likelihoods import chosen_likelihood
from relevance_bayes.plans.requests import (
    AutomaticPrior,
    BasisChoice,
    GroupChoice,
    KernelChoice,
    SupervisedRequest,
    Task,
)
from relevance_bayes.tables.columns import ColumnSummary
from relevance_bayes.tables.encoding.inputs import MAX_SCALED
from relevance_bayes.types.errors import Fault

MAX_SEED = 2**63 - 1

MAX_ROWS_FOR_INDEPENDENT = 5_000
"""The maximum number of rows for which independent weights are compared with a process: each iteration is a pass over
all rows."""

THOROUGH_ITERATIONS = 120
"""The maximum iterations of a joint optimisation of a thorough training."""

MAX_ROWS_FOR_LOGARITHM = 20_000
"""The maximum number of rows for which a process of the logarithm is compared."""

MAX_ROWS_FOR_VARYING_NOISE = 20_000
"""The maximum number of rows for which heteroscedastic noise is compared unless requested: it takes several fits."""

MIN_ROWS_FOR_OPTIMISED_POINTS = 5_000
"""The number of rows from which one with a warp and optimised inducing points is compared too. There are many rows to a
function then, and the member of the pool that predicts best by a function for each row can be one that few functions
represent badly: of a table of 9,011 rows they have an NLL of 1.93 in place of 1.95 to 1.97."""

SPAN = 10.0
"""The ratio of the largest to the smallest target above which the logarithm is compared."""


def chosen_spec(request: SupervisedRequest, task: Task, *, classes: int, rows: int, inputs: Sequence[str]) -> Spec:
    """Return the requested spec, with a default for each choice left out.

    `classes` is the number of classes of the target; `inputs` are the columns of which groups name theirs.
    """
    process = isinstance(request.prior, GaussianProcess) or (
        not isinstance(request.prior, Independent) and _is_for_process(request)
    )
    likelihood = chosen_likelihood(request.likelihood, task, classes=classes, rows=rows, process=process)
    prior = _prior(request, likelihood)
    greedy = Greedy(max_iterations=THOROUGH_ITERATIONS if request.effort == "thorough" else None)
    algorithm = greedy if isinstance(prior, GaussianProcess) else Sequential()
    return Spec(
        likelihood=likelihood,
        basis=_bases(request.basis if request.basis is not None else KernelChoice(), prior, task, inputs),
        prior=prior,
        algorithm=request.algorithm if request.algorithm is not None else algorithm,
        seed=request.seed,
    )


def _prior(request: SupervisedRequest, likelihood: TargetLikelihood) -> Prior:
    """Return the requested prior; by default a Gaussian process where functions and algorithm allow it."""
    match request.prior:
        case Independent() as prior:
            return prior
        case GaussianProcess() as prior:
            requested = prior
        case _:
            if not _is_for_process(request):
                return Independent(price=_is_overcomplete(request) and likelihood.has_target_units)
            classes = isinstance(likelihood, ClassLikelihood)
            requested = GaussianProcess(inducing_points="rows") if classes else GaussianProcess()
    return requested if requested.min_gain is not None else replace(requested, min_gain=likelihood.min_gain)


def _is_for_process(request: SupervisedRequest) -> bool:
    """Return whether the functions are of one covariance, and no algorithm of independent weights is given."""
    bases = _requested(request)
    if any(isinstance(basis, BESIDE_NO_PROCESS) for basis in bases):
        return False
    kernels = [basis for basis in bases if isinstance(basis, KernelChoice)]
    covariances = [basis for basis in kernels if isinstance(basis.kernel, Covariance)]
    return len(kernels) == len(covariances) == 1 and isinstance(request.algorithm, Greedy | None)


BESIDE_NO_PROCESS = (*get_args(Dictionary), GroupChoice)


def _is_overcomplete(request: SupervisedRequest) -> bool:
    """Return whether overcomplete dictionaries are requested, which only a price keeps sparse."""
    dictionaries = any(isinstance(basis, BESIDE_NO_PROCESS) for basis in _requested(request))
    return dictionaries and isinstance(request.algorithm, Sequential | None)


def _requested(request: SupervisedRequest) -> tuple[BasisChoice, ...]:
    return request.basis if isinstance(request.basis, tuple) else (request.basis or KernelChoice(),)


def compared_specs(request: SupervisedRequest, spec: Spec, *, rows: int, target: ColumnSummary) -> tuple[Spec, ...]:
    """Return the specs compared with `spec` where prior and likelihood are open, and rows are few enough."""
    left_open = not isinstance(request.prior, Independent | GaussianProcess)
    if not left_open or not isinstance(spec.prior, GaussianProcess) or not isinstance(spec.likelihood, GaussianNoise):
        return ()
    if is_heteroscedastic(spec.likelihood):
        return ()
    found = []
    if request.likelihood is None and rows <= MAX_ROWS_FOR_LOGARITHM and _has_magnitudes(target):
        found.append(replace(spec, likelihood=LogGaussian()))
    if request.algorithm is None and rows <= MAX_ROWS_FOR_INDEPENDENT:
        basis = tuple(
            replace(one, width=InheritedWidth(), warp="none", additive="none") if isinstance(one, KernelBasis) else one
            for one in spec.basis
        )
        found.append(replace(spec, basis=basis, prior=Independent(price=True), algorithm=Sequential()))
    return tuple(found)


def varying_noise(request: SupervisedRequest, spec: Spec, pool: Sequence[Spec], *, rows: int) -> tuple[Spec, ...]:
    """Return specs of heteroscedastic noise, which are fitted with a pool where its residuals suggest it.

    The first is fitted with the kernel of the best member, in place of the first member's; of many rows there is that
    of `spec` too, which would be fitted without a pool.
    """
    if not pool or request.likelihood is not None or rows > MAX_ROWS_FOR_VARYING_NOISE:
        return ()
    of_mean = (pool[0],) if rows < MIN_ROWS_FOR_OPTIMISED_POINTS else (pool[0], spec)
    return tuple(replace(one, likelihood=GaussianNoise("heteroscedastic")) for one in of_mean)


def pooled_specs(request: SupervisedRequest, spec: Spec, *, inputs: int) -> tuple[Spec, ...]:
    """Return the processes that are fitted together where the choices between them are left open; else none.

    A Gaussian kernel with a width for each input; Matern 3/2 with the same; a Gaussian one with one width for all; and
    with widths and a warp for each input. A requested kernel leaves only those with it, a warp of "none" those without.
    """
    requested = KernelChoice() if request.basis is None else request.basis
    if request.effort == "quick":
        return ()
    if not isinstance(request.prior, AutomaticPrior | None) or not isinstance(request.algorithm, Greedy | None):
        return ()
    if not isinstance(spec.prior, GaussianProcess) or not isinstance(spec.likelihood, GaussianNoise):
        return ()
    if is_heteroscedastic(spec.likelihood):
        return ()
    if not isinstance(requested, KernelChoice) or requested.width is not None or requested.additive != "none":
        return ()
    kernels: tuple[Kernel, ...] = (requested.kernel,) if request.basis is not None else (requested.kernel, Matern32())
    if request.basis is None and request.effort == "thorough":
        kernels += (CityBlock(),)
    each = [KernelBasis(kernel, EvidencePerInputWidth()) for kernel in kernels]
    one = [KernelBasis(requested.kernel, EvidenceWidth())] if inputs > 1 else []
    warped = [] if requested.warp == "none" else [KernelBasis(requested.kernel, EvidencePerInputWidth(), "evidence")]
    prior = GaussianProcess(inducing_points="rows", min_gain=spec.prior.min_gain)
    found = [replace(spec, basis=(kernel, Bias(), Inputs()), prior=prior) for kernel in [*each, *one, *warped]]
    return tuple(found) if len(found) > 1 else ()


def _has_magnitudes(target: ColumnSummary) -> bool:
    """Return whether all targets are above 0 and over so wide a range that their noise may grow with them."""
    minimum, maximum = target.minimum, target.maximum
    return (
        minimum is not None
        and maximum is not None
        and minimum > 0.0
        and SPAN * minimum < maximum <= MAX_SCALED * minimum
    )


def _bases(
    requested: BasisChoice | tuple[BasisChoice, ...], prior: Prior, task: Task, inputs: Sequence[str]
) -> tuple[Basis, ...]:
    """Return the dictionaries: a list is exact; a single one has a bias added, and a process's kernel of numbers the
    inputs.

    To a process of classes with enough functions, linear columns add nothing.
    """
    match requested:
        case KernelChoice():
            linear = isinstance(prior, GaussianProcess) and task == "regression"
            beside = (Bias(), Inputs()) if linear else (Bias(),)
            return (_kernel_basis(requested, prior, task), *beside)
        case tuple():
            return tuple(_basis(choice, prior, task, inputs) for choice in requested)
        case Bias() | Inputs():
            return (requested,)
        case _:
            return (_basis(requested, prior, task, inputs), Bias())


def _basis(requested: BasisChoice, prior: Prior, task: Task, inputs: Sequence[str]) -> Basis:
    match requested:
        case KernelChoice():
            return _kernel_basis(requested, prior, task)
        case GroupChoice(inputs=names, of=of):
            places = tuple(inputs.index(name) for name in names if name in inputs)
            return Group(places, _kernel_basis(of, prior, task) if isinstance(of, KernelChoice) else of)
        case _:
            return requested


def _kernel_basis(requested: KernelChoice, prior: Prior, task: Task) -> KernelBasis:
    process = isinstance(prior, GaussianProcess)
    width = requested.width
    if width is None:
        each = EvidencePerInputWidth(SHRINKAGE if task == "classification" else 0.0)
        width = each if process else CrossValidationWidth()
    warp = requested.warp
    if warp is None:
        learned = process and isinstance(width, EvidenceWidth | EvidencePerInputWidth)
        warp = "evidence" if learned and task == "regression" else "none"
    return KernelBasis(requested.kernel, width, warp, requested.additive)


def spec_faults(spec: Spec) -> list[Fault]:
    """Return faults for contradictory choices, or numbers out of float64's range."""
    faults = seed_faults(spec.seed)
    try:
        check(spec)
    except IllegalCombinationError as error:
        faults.append(Fault(_sentence(str(error)), f"/{error.field}"))
    return faults


def seed_faults(seed: int) -> list[Fault]:
    """Return faults of a seed."""
    if 0 <= seed <= MAX_SEED:
        return []
    return [Fault(f"Expected an integer `seed` from 0 to {MAX_SEED}.", "/seed")]


def has_fixed_width(spec: Spec) -> bool:
    """Return whether some width is a number, in the units of the raw inputs."""
    single = (basis.of if isinstance(basis, Group) else basis for basis in spec.basis)
    return any(isinstance(basis, KernelBasis) and isinstance(basis.width, FixedWidth) for basis in single)


def width_faults(request: SupervisedRequest) -> list[Fault]:
    """Return faults for widths out of bounds, and lists of them that do not match the inputs.

    A list follows the order of `inputs`, which it therefore requires.
    """
    faults = []
    for number, requested in enumerate(_requested(request)):
        group = requested if isinstance(requested, GroupChoice) else None
        basis = requested if group is None else group.of
        if not isinstance(basis, KernelChoice) or not isinstance(basis.width, FixedWidth):
            continue
        pointer = f"/basis/{number}/width/value" if group is None else f"/basis/{number}/of/width/value"
        inputs = request.inputs if group is None else group.inputs
        several = isinstance(basis.width.value, tuple)
        for place, width in enumerate(basis.width.each):
            if not 1 / MAX_SCALED <= width <= MAX_SCALED:
                detail = f"The width must be from {1 / MAX_SCALED:g} to {MAX_SCALED:g}, got {width:g}."
                faults.append(Fault(detail, f"{pointer}/{place}" if several else pointer))
        if several and inputs is None:
            detail = "A list of widths follows the order of `inputs`, which are required with it."
            faults.append(Fault(detail, "/inputs"))
        elif several and inputs is not None and len(basis.width.each) != len(inputs):
            reported = f"expected {len(inputs)}, got {len(basis.width.each)}"
            faults.append(Fault(f"A list of widths must have one for each input: {reported}.", pointer))
    return faults


def group_faults(request: SupervisedRequest, columns: Sequence[ColumnSummary]) -> list[Fault]:
    """Return faults for groups of other columns, and wavelets of unsupported inputs; `columns` are the inputs."""
    known = {column.name: column for column in columns}
    faults = []
    for number, requested in enumerate(_requested(request)):
        names = requested.inputs if isinstance(requested, GroupChoice) else tuple(known)
        if isinstance(requested, GroupChoice) and not requested.inputs:
            faults.append(Fault("Expected at least one input in a group.", f"/basis/{number}/inputs"))
        for place, name in enumerate(names):
            if name not in known:
                detail = f"`{name}` is not among the inputs."
                faults.append(Fault(detail, f"/basis/{number}/inputs/{place}", column=name))
            elif name in names[:place]:
                faults.append(Fault(f"`{name}` is named twice.", f"/basis/{number}/inputs/{place}", column=name))
        if isinstance(requested.of if isinstance(requested, GroupChoice) else requested, Gabor):
            texts = [name for name in names if name in known and known[name].kind == "category"]
            if not 1 <= len(names) <= 2 or texts:
                got = f"`{texts[0]}`, which holds texts" if texts else str(len(names))
                detail = f"Expected one or two numeric inputs for wavelets, got {got}; name them in a group."
                faults.append(Fault(detail, f"/basis/{number}"))
    return faults


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].removesuffix(".") + "."
