"""The request and the plan of an approximation of a known function by few Gaussians."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from relevance_bayes.records.annotations import as_requested, wire
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import JobRequest, ModelName, Width
from relevance_bayes.records.trainings import ApproximationSettings
from relevance_bayes.records.values import IgnoredColumn
from relevance_bayes.tables.columns import ColumnSummary, TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.planning import default_model_name, input_column, name_faults, refusal, size, unknown_column


@dataclass(frozen=True)
class ApproximationRequest(JobRequest):
    """A sparse approximation of a sum of Gaussians by few of them; each row of the dataset is a term.

    f(x) = constant + sum_j c_j exp(-sum_k ((x_k - z_jk) / r_k)^2), as of a support vector machine, the mean of a
    Gaussian process or a kernel density estimate.
    """

    __pydantic_config__ = wire(extra="forbid", required=("task",))

    dataset_id: UUID
    """The table of the terms."""
    width: Width | Annotated[tuple[Width, ...], Field(min_length=1)]
    """The width r of the terms, in the units of the inputs; a list has one for each input. Of exp(-gamma |x - z|^2)
    it is gamma^-1/2, of a length scale l or a density's bandwidth h it is 2^1/2 times that."""
    coefficients: Annotated[str | None, Field(min_length=1)] = None
    """The column of the coefficients c. Default: all terms have the same, and f integrates to 1: a kernel density
    estimate."""
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """The columns of the centres z. Default: all other columns of numbers."""
    constant: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    """The constant of f; it is not approximated."""
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.01
    """The share of f that may be missed: |f - f_R| / |f|, |f|^2 the integral of f^2 without the constant. The fewest
    terms that reach it are kept."""
    max_functions: Annotated[int, Field(ge=1)] | None = None
    """The most terms that are kept, whatever their error."""
    density: bool = False
    """True if the kept terms are to be a density too: not negative, with the same integral."""
    model: ModelName | None = None
    """The model's name. Default: the dataset's."""
    task: Literal["approximation"] = "approximation"


@dataclass(frozen=True, kw_only=True)
class ApproximationPlan(ApproximationSettings):
    """The request resolved against the dataset: `widths` has one for each input."""

    model: str
    task: Literal["approximation"] = "approximation"

    target_member: ClassVar[str] = "coefficients"
    """The member of a request that names the target."""

    @property
    def target(self) -> str | None:
        """Return the column of the coefficients."""
        return self.coefficients


KEPT = as_requested(ApproximationPlan)
"""The members of the plan that are those of the request."""


MAX_TERMS = 10_000
"""The maximum number of rows of a table of terms: the fit computes their products with each other."""


def plan_approximation(request: ApproximationRequest, dataset: TableSummary) -> ApproximationPlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults."""
    columns, ignored, faults = _inputs(request, dataset)
    width = request.width
    widths = width if isinstance(width, tuple) else (width,) * len(columns)
    faults += [
        *name_faults(request.model),
        *_coefficient_faults(request, dataset),
        *_width_faults(widths, columns),
        *_size_faults(columns),
        *_number_faults(request),
        *_density_faults(request, dataset),
    ]
    if dataset.rows > MAX_TERMS:
        faults.append(Fault(f"Expected at most {MAX_TERMS:,} terms, got {dataset.rows:,} rows.", "/dataset_id"))
    if faults:
        raise refusal(*faults)
    return ApproximationPlan(
        model=request.model if request.model is not None else default_model_name(dataset.name),
        inputs=tuple(map(input_column, columns)),
        ignored=ignored,
        widths=widths,
        **{name: getattr(request, name) for name in KEPT},
    )


def _inputs(
    request: ApproximationRequest, dataset: TableSummary
) -> tuple[list[ColumnSummary], tuple[IgnoredColumn, ...], list[Fault]]:
    """Return the named columns of numbers, or all but the coefficients."""
    if request.inputs is None:
        others = [column for column in dataset.columns if column.name != request.coefficients]
        chosen = [column for column in others if column.kind == "number"]
        ignored = tuple(IgnoredColumn(column.name, "it holds no numbers") for column in others if column not in chosen)
        named = [("/inputs", column) for column in chosen]
        if not chosen:
            return [], ignored, [Fault("No column of numbers is left for the centres of the terms.", "/inputs")]
        return chosen, ignored, _gap_faults(named)
    named, faults = [], []
    for number, name in enumerate(request.inputs):
        column, pointer = dataset.column(name), f"/inputs/{number}"
        if column is None:
            faults.append(Fault(unknown_column(dataset, name), pointer, column=name))
        elif name == request.coefficients:
            faults.append(Fault(f"`{name}` holds the coefficients, so it can't be an input.", pointer, column=name))
        elif name in request.inputs[:number]:
            faults.append(Fault(f"`{name}` is named twice.", pointer, column=name))
        elif column.kind != "number":
            faults.append(Fault(f"`{name}` holds no numbers.", pointer, column=name))
        else:
            named.append((pointer, column))
    return [column for _, column in named], (), [*faults, *_gap_faults(named)]


def _gap_faults(named: list[tuple[str, ColumnSummary]]) -> list[Fault]:
    return [
        Fault(
            f"`{column.name}` has missing values; leave those rows out.",
            pointer,
            column=column.name,
        )
        for pointer, column in named
        if column.missing
    ]


def _coefficient_faults(request: ApproximationRequest, dataset: TableSummary) -> list[Fault]:
    name = request.coefficients
    if name is None:
        return []
    column, wrong = dataset.column(name), None
    if column is None:
        wrong = unknown_column(dataset, name)
    elif column.kind != "number" or column.missing:
        wrong = f"`{name}` has missing values; leave them out." if column.missing else f"`{name}` holds no numbers."
    elif column.minimum == column.maximum == 0.0:
        wrong = f"`{name}` is 0 in every row: there is no function."
    return [] if wrong is None else [Fault(wrong, "/coefficients", column=name)]


def _density_faults(request: ApproximationRequest, dataset: TableSummary) -> list[Fault]:
    """Return a fault for a density whose integral is not above 0; all terms have the same widths, so it has the sign of
    the coefficients' mean."""
    column = None if request.coefficients is None else dataset.column(request.coefficients)
    if not request.density or column is None or column.mean is None or column.mean > 0.0:
        return []
    detail = f"A density's integral is above 0, but the mean of `{column.name}` is {column.mean:g}; omit `density`."
    return [Fault(detail, "/density", column=column.name)]


def _width_faults(widths: tuple[float, ...], columns: list[ColumnSummary]) -> list[Fault]:
    if columns and len(widths) != len(columns):
        return [Fault(f"Expected a width for each of {len(columns)} inputs, got {len(widths)}.", "/width")]
    if not all(1 / MAX_SCALED <= width <= MAX_SCALED for width in widths):
        reported = ", ".join(f"{width:g}" for width in dict.fromkeys(widths))
        return [Fault(f"Expected a width from {1 / MAX_SCALED:g} to {MAX_SCALED:g}, got {reported}.", "/width")]
    if abs(math.fsum(map(math.log, widths))) > 2.0 * math.log(MAX_SCALED):
        return [Fault("The widths' product, to which integrals are in proportion, is out of range.", "/width")]
    return []


def _size_faults(columns: list[ColumnSummary]) -> list[Fault]:
    return [
        Fault(f"`{column.name}` reaches {size(column):g}, too large to compute with.", "/inputs", column=column.name)
        for column in columns
        if size(column) > MAX_SCALED
    ]


def _number_faults(request: ApproximationRequest) -> list[Fault]:
    faults = []
    if not 0.0 < request.tolerance < 1.0:
        faults.append(Fault(f"Expected a tolerance above 0 and below 1, got {request.tolerance:g}.", "/tolerance"))
    if request.max_functions is not None and request.max_functions < 1:
        faults.append(Fault(f"Expected at least one term, got {request.max_functions}.", "/max_functions"))
    if not math.isfinite(request.constant):
        faults.append(Fault("Expected a finite constant.", "/constant"))
    elif request.density and request.constant != 0.0:
        faults.append(Fault("Expected no constant for a density, whose integral would diverge.", "/constant"))
    return faults
