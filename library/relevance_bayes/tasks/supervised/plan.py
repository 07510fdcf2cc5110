"""The plan of a supervised training: its defaults, names and choices."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from relevance_bayes.core.algorithms import Greedy, Sequential
from relevance_bayes.core.basis import Basis, Bias, Group, Inputs, KernelBasis
from relevance_bayes.core.dictionaries import Dictionary, Gabor
from relevance_bayes.core.errors import IllegalCombinationError
from relevance_bayes.core.inference.problem import is_wide
from relevance_bayes.core.kernels import CityBlock, Covariance, Kernel, Matern32
from relevance_bayes.core.kernels.hyperparameters import (
    SHRINKAGE,
    CrossValidationWidth,
    EvidencePerInputWidth,
    EvidenceWidth,
    FixedWidth,
    InheritedWidth,
)
from relevance_bayes.core.likelihoods import ClassLikelihood, GaussianNoise, LogGaussian, TargetLikelihood
from relevance_bayes.core.models.local.neighbours import KERNELS, MIN_ROWS, LocalChoice, LocalKernel
from relevance_bayes.core.models.model import Prior, Spec, check, is_heteroscedastic
from relevance_bayes.core.priors import GaussianProcess, Independent
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.values import InputColumn, Task
from relevance_bayes.tables.columns import ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.planning import (
    chosen_inputs,
    default_model_name,
    has_effects,
    input_column,
    name_faults,
    placed,
    refusal,
    resolved_missing,
    scale_faults,
    seed_faults,
)
from relevance_bayes.tasks.supervised.cost import QUICK_ITERATIONS, within_budget
from relevance_bayes.tasks.supervised.request import (
    KEPT,
    MAX_SCORE_LOSSES,
    AutomaticLocal,
    AutomaticPrior,
    BasisChoice,
    GroupChoice,
    KernelChoice,
    LocalPlan,
    NearestNeighbours,
    NoLocal,
    SupervisedPlan,
    SupervisedRequest,
)
from relevance_bayes.tasks.supervised.rows import row_faults, split_faults
from relevance_bayes.tasks.supervised.target import (
    MAX_ROWS_FOR_LOGARITHM,
    bounded_targets,
    chosen_likelihood,
    class_alternatives,
    column_uses,
    core_likelihood,
    heavy_tails,
    likelihood_faults,
    named_class,
    noise_column,
    noise_faults,
    positive_class_faults,
    required_columns,
    resolve_target,
    varying_noise,
)

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
    kernels, warped = _kernels(request), not isinstance(request.basis, KernelChoice) or request.basis.warp != "none"
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


MAX_ROWS_FOR_INDEPENDENT = 5_000
"""The maximum number of rows for which independent weights are compared with a process: each iteration is a pass over
all rows."""

THOROUGH_ITERATIONS = 120
"""The maximum iterations of a joint optimisation of a thorough training."""

SPAN = 10.0
"""The ratio of the largest to the smallest target above which the logarithm is compared."""


def chosen_spec(request: SupervisedRequest, task: Task, *, classes: int, rows: int, inputs: Sequence[str]) -> Spec:
    """Return the requested spec, with a default for each choice left out.

    `classes` is the number of classes of the target; `inputs` are the columns of which groups name theirs.
    """
    process = isinstance(request.prior, GaussianProcess) or (
        not isinstance(request.prior, Independent) and _is_for_process(request)
    )
    likelihood = chosen_likelihood(
        core_likelihood(request.likelihood), task, classes=classes, rows=rows, process=process
    )
    prior = _prior(request, likelihood)
    algorithm = _greedy(request) if isinstance(prior, GaussianProcess) else Sequential()
    return Spec(
        likelihood=likelihood,
        basis=_bases(request.basis if request.basis is not None else KernelChoice(), prior, task, inputs),
        prior=prior,
        algorithm=request.algorithm if request.algorithm is not None else algorithm,
        seed=request.seed,
    )


def _greedy(request: SupervisedRequest) -> Greedy:
    """Return the algorithm of a process; that of a quick training also has few rows: see `cost.fitted_spec`."""
    match request.effort:
        case "quick":
            return Greedy(QUICK_ITERATIONS)
        case "thorough":
            return Greedy(THOROUGH_ITERATIONS)
        case _:
            return Greedy()


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
            few = classes or request.effort == "quick"
            requested = GaussianProcess(inducing_points="rows") if few else GaussianProcess()
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
    if is_heteroscedastic(spec.likelihood) or (request.effort == "quick" and request.basis is None):
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


def pooled_specs(request: SupervisedRequest, spec: Spec, *, rows: int, inputs: int) -> tuple[Spec, ...]:
    """Return the processes that are fitted together where the choices between them are left open; else none.

    A Gaussian kernel with a width for each input; Matern 3/2 with the same; a Gaussian one with one width for all; and
    with widths and a warp for each input, but not of a wide table, whose few rows for each input determine no warps. A
    requested kernel leaves only those with it, a warp of "none" those without.
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
    has_warps = requested.warp != "none" and (request.basis is not None or not is_wide(rows, inputs))
    warped = [] if not has_warps else [KernelBasis(requested.kernel, EvidencePerInputWidth(), "evidence")]
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


def plan_supervised(request: SupervisedRequest, dataset: TableSummary) -> SupervisedPlan:
    """Resolve a request against its dataset, within its budget; raises InvalidRequestError with all faults found."""
    found = _planned(request, dataset)
    if request.budget is None:
        return found
    quick = _planned(replace(request, effort="quick"), dataset)
    return within_budget(found, quick, dataset.rows, request.budget.cpu_seconds)


def _at_one_basis(fault: Fault, request: SupervisedRequest) -> Fault:
    """Return a fault with its pointer into the request, where a single basis may stand for a list."""
    if isinstance(request.basis, tuple) or fault.pointer is None or not fault.pointer.startswith("/basis/0"):
        return fault
    return replace(fault, pointer=f"/basis{fault.pointer.removeprefix('/basis/0')}")


def _planned(request: SupervisedRequest, dataset: TableSummary) -> SupervisedPlan:
    """Resolve a request without its budget."""
    if dataset.rows < 2:
        rows = f"{dataset.rows} row{'s' if dataset.rows != 1 else ''}"
        raise refusal(Fault(f"The dataset has {rows}; at least two are needed to learn from.", "/dataset_id"))
    target = resolve_target(dataset, request.target, request.task, core_likelihood(request.likelihood))
    columns, ignored, input_faults = chosen_inputs(
        dataset,
        request.inputs,
        target=request.target,
        uses=column_uses(request),
        has_effects=request.text == "target",
    )
    names = [column.name for column in columns]
    spec = chosen_spec(request, target.task, classes=len(target.classes), rows=dataset.rows, inputs=names)
    standardise = request.standardise if request.standardise is not None else not has_fixed_width(spec)
    inputs = placed(columns, request.inputs)
    needed = required_columns(dataset, request, target.column)
    missing = resolved_missing(request.missing, needed, inputs, where_many=" from 20 of them, and 2 % of the rows, on")
    faults = [
        *input_faults,
        *scale_faults(inputs, named=request.inputs is not None, standardise=standardise),
        *name_faults(request.model),
        *likelihood_faults(spec.likelihood, target.task, target.column, len(target.classes)),
        *(() if (named := request.positive_class) is None else positive_class_faults(named, target)),
        *width_faults(request),
        *(group_faults(request, columns) or spec_faults(spec)),
        *noise_faults(dataset, noise_column(request), target=request.target),
        *split_faults(dataset, request.split, target=request.target),
        *row_faults(dataset, request, missing.treatment, needed, inputs),
        *local_faults(request, spec, dataset.rows),
    ]
    if faults:
        raise refusal(*(_at_one_basis(fault, request) for fault in faults))
    processes = pooled_specs(request, spec, rows=dataset.rows, inputs=len(inputs))
    first, *pool = processes or (spec,)
    is_bounded = bool(processes) and target.column.minimum is not None and target.column.minimum >= 0.0
    beside = compared_specs(request, spec, rows=dataset.rows, target=target.column)
    max_score_loss = request.max_score_loss or MAX_SCORE_LOSSES[request.prefer]
    read = tuple(input_column(column) for column in columns)
    chosen, *alternatives = class_alternatives(request, first, inputs=len(inputs)) or (first,)
    return SupervisedPlan(
        task=target.task,
        task_reason=target.reason,
        model=request.model if request.model is not None else default_model_name(dataset.name),
        target=request.target,
        target_kind=target.column.kind,
        classes=target.classes,
        inputs=read,
        ignored=ignored,
        spec=chosen,
        standardise=standardise,
        missing=missing.treatment,
        missing_reason=missing.reason,
        dates=request.dates if any(column.kind == "timestamp" for column in read) else "time",
        text=request.text if any(map(has_effects, read)) else "leave_out",
        compared_models=(
            *beside,
            *(bounded_targets(request, spec, rows=dataset.rows, target=target.column) if is_bounded else ()),
            *heavy_tails(request, spec, processes, rows=dataset.rows),
            *varying_noise(request, spec, processes, rows=dataset.rows),
        ),
        noise_column=noise_column(request),
        pool=tuple(pool),
        alternatives=tuple(alternatives),
        max_score_loss=max_score_loss,
        budget=None,
        local=planned_local(request, chosen, rows=dataset.rows, inputs=read, max_score_loss=max_score_loss),
        positive_class=None if named is None else named_class(named, target.classes),
        **{name: getattr(request, name) for name in KEPT},
    )
