"""The request and the plan of sparse kernel principal components: the columns, the kernel, and its width."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.records.annotations import AsRequested, as_requested, wire
from relevance_bayes.records.errors import Fault
from relevance_bayes.records.jobs import MAX_SEED, JobRequest, ModelName, Width
from relevance_bayes.records.trainings import ComponentsSettings
from relevance_bayes.records.values import Missing
from relevance_bayes.tables.columns import TableSummary
from relevance_bayes.tables.encoding.table import MAX_SCALED
from relevance_bayes.tasks.planning import (
    chosen_inputs,
    default_model_name,
    gap_faults,
    input_column,
    name_faults,
    placed,
    refusal,
    resolved_missing,
    scale_faults,
    seed_faults,
    share_faults,
)


@dataclass(frozen=True)
class ComponentsRequest(JobRequest):
    """Principal components in a kernel's feature space, spanned by few rows, and by them the novelty of other rows.

    There is no target: nothing is predicted.
    """

    __pydantic_config__ = wire(extra="forbid", required=("task",))

    dataset_id: UUID
    """The rows to learn from, which define what is usual."""
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """The input columns. Default: every suitable column."""
    kernel: Annotated[Covariance, Field(discriminator="type")] = Gaussian()
    """The similarity of two rows: 1 for equal rows, decreasing with their distance."""
    width: Width | Annotated[tuple[Width, ...], Field(min_length=1)] | None = None
    """The width r of exp(-|x - z|^2 / r^2). A list has one for each of the named `inputs`. Default: the median
    distance between two rows; half of it resolves finer structure and needs more rows."""
    min_explained_variance: Annotated[float, Field(gt=0, lt=1)] = 0.9
    """The share of the variance in feature space that the components explain; the rest is noise."""
    standardise: bool | None = None
    """True to standardise the inputs to mean 0 and sd 1. Default: unless a `width` is given, which is then in
    the units of the inputs."""
    missing: Missing | None = None
    """The handling of missing values. `error`: a training with one is refused, and so is a row to predict.
    `drop_rows`: rows with one are left out of the training. `indicator`: the mean, or the shares of the categories,
    replaces them, and a 0/1 column marks them where there were some. Default: `indicator` where a column has missing
    values, else `error`."""
    model: ModelName | None = None
    """The model's name. Default: the dataset's."""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = 0
    """With the rows' content, determines which rows are drawn from many."""
    task: Literal["components"] = "components"


@dataclass(frozen=True, kw_only=True)
class ComponentsPlan(ComponentsSettings):
    """The request resolved against the dataset's statistics; `widths` has one for all inputs or one for each."""

    model: str
    kernel: AsRequested[Covariance]
    missing: Missing
    task: Literal["components"] = "components"

    target_member: ClassVar[str] = "target"
    """The member of a request that names the target."""

    @property
    def target(self) -> None:
        """Return None: there is no target."""
        return None


KEPT = as_requested(ComponentsPlan)
"""The members of the plan that are those of the request."""


def plan_components(request: ComponentsRequest, dataset: TableSummary) -> ComponentsPlan:
    """Resolve a request against its dataset; raises InvalidRequestError with all faults found."""
    if dataset.rows < 2:
        rows = f"{dataset.rows} row{'s' if dataset.rows != 1 else ''}"
        raise refusal(Fault(f"The dataset has {rows}; at least two are needed to learn from.", "/dataset_id"))
    columns, ignored, input_faults = chosen_inputs(dataset, request.inputs)
    standardise = request.standardise if request.standardise is not None else request.width is None
    inputs = placed(columns, request.inputs)
    missing = resolved_missing(request.missing, (), inputs)
    faults = [
        *input_faults,
        *scale_faults(inputs, named=request.inputs is not None, standardise=standardise),
        *name_faults(request.model),
        *_width_faults(request),
        *_explained_faults(request.min_explained_variance),
        *seed_faults(request.seed),
        *(gap_faults(dataset, inputs) if missing.treatment == "error" else ()),
        *(share_faults(dataset, 0.0, columns) if missing.treatment == "drop_rows" else ()),
    ]
    if faults:
        raise refusal(*faults)
    width = request.width
    return ComponentsPlan(
        model=request.model if request.model is not None else default_model_name(dataset.name),
        inputs=tuple(map(input_column, columns)),
        ignored=ignored,
        widths=width if isinstance(width, tuple) else None if width is None else (width,),
        standardise=standardise,
        missing=missing.treatment,
        missing_reason=missing.reason,
        **{name: getattr(request, name) for name in KEPT},
    )


def _explained_faults(explained: float) -> list[Fault]:
    if 0.0 < explained < 1.0:
        return []
    return [Fault(f"Expected a share above 0 and below 1, got {explained:g}.", "/min_explained_variance")]


def _width_faults(request: ComponentsRequest) -> list[Fault]:
    """Return faults of the widths. A list follows the order of `inputs`, which it therefore requires."""
    width = request.width
    several = isinstance(width, tuple)
    faults = [
        Fault(
            f"The width must be from {1 / MAX_SCALED:g} to {MAX_SCALED:g}, got {one:g}.",
            f"/width/{place}" if several else "/width",
        )
        for place, one in enumerate(width if isinstance(width, tuple) else () if width is None else (width,))
        if not 1 / MAX_SCALED <= one <= MAX_SCALED
    ]
    if isinstance(width, tuple):
        if request.inputs is None:
            detail = "A list of widths follows the order of `inputs`, which are required with it."
            faults.append(Fault(detail, "/inputs"))
        elif len(width) != len(request.inputs):
            reported = f"expected {len(request.inputs)}, got {len(width)}"
            faults.append(Fault(f"A list of widths must have one for each input: {reported}.", "/width"))
    return faults
