"""The API's schema of requests for components."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.jobs.schemas import JobIn, NameIn
from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.plans.requests import ComponentsRequest, Missing
from relevance_bayes.types.errors import Fault

Width = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ComponentsJobIn(JobIn):
    """Principal components in a kernel's feature space, spanned by few rows, and by them the novelty of other rows.

    There is no target: nothing is predicted.
    """

    task: Literal["components"]
    dataset_id: UUID = Field(description="The rows to learn from, which define what is usual.")
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        None, description="The input columns. Default: every suitable column."
    )
    kernel: Annotated[Covariance, Field(discriminator="type")] = Field(
        Gaussian(), description="The similarity of two rows: 1 for equal rows, decreasing with their distance."
    )
    width: Width | Annotated[tuple[Width, ...], Field(min_length=1)] | None = Field(
        None,
        description="The width r of exp(-|x - z|^2 / r^2). A list has one for each of the named `inputs`. Default: the "
        "median distance between two rows; half of it resolves finer structure and needs more rows.",
    )
    min_explained_variance: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="The share of the variance in feature space that the components explain; the rest is noise.",
    )
    standardise: bool | None = Field(
        None,
        description="Whether the inputs are standardised to mean 0 and sd 1. Default: unless a `width` is given, which "
        "is then in the units of the inputs.",
    )
    missing: Missing | None = Field(
        None,
        description="The handling of missing values. `error`: a training with one is refused, and so is a "
        "row to predict. `drop_rows`: rows with one are left out of the training. `indicator`: the mean, or the shares "
        "of the categories, replaces them, and a 0/1 column marks them where there were some. Default: "
        "`indicator` where a column has missing values, else `error`.",
    )
    model: NameIn | None = Field(None, description="The model's name. Default: the dataset's.")
    seed: int = Field(
        0, ge=0, le=2**53 - 1, description="With the rows' content, determines which rows are drawn from many."
    )

    def to_request(self) -> ComponentsRequest:
        """Return the request as the service's record."""
        return ComponentsRequest(
            dataset_id=self.dataset_id,
            inputs=self.inputs,
            kernel=self.kernel,
            width=self.width,
            min_explained_variance=self.min_explained_variance,
            standardise=self.standardise,
            missing=self.missing,
            model=self.model,
            seed=self.seed,
        )

    def as_sent(self, fault: Fault) -> Fault:
        """Return a fault of the record as a fault of the request."""
        return fault
