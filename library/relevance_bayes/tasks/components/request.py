"""The request and the plan of sparse kernel principal components."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.records.annotations import AsRequested, as_requested, wire
from relevance_bayes.records.jobs import MAX_SEED, JobRequest, ModelName, Width
from relevance_bayes.records.trainings import ComponentsSettings
from relevance_bayes.records.values import Missing


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
