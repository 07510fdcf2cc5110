"""Components of rows to be learned, as it comes in."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.jobs.request_schemas import JobIn, NameIn
from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.plans.requests import ComponentsRequest, Missing
from relevance_bayes.types.errors import Fault

Width = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ComponentsJobIn(JobIn):
    """Principal components in a kernel's space, carried by few rows; by them, how new other rows are.

    Nothing is predicted, so there is no target.
    """

    task: Literal["components"]
    dataset_id: UUID = Field(description="The rows to learn from: what is usual.")
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        None, description="The columns to look at; without it, every column that is fit for it."
    )
    kernel: Annotated[Covariance, Field(discriminator="type")] = Field(
        Gaussian(), description="How alike two rows are: 1 for the same, falling with their distance."
    )
    width: Width | Annotated[tuple[Width, ...], Field(min_length=1)] | None = Field(
        None,
        description="How far likeness reaches: the r of exp(-|x - z|^2 / r^2). A list has one for each of the named "
        "`inputs`. Without it, the median distance between two rows; half of that sees finer shapes, by more rows.",
    )
    min_explained_variance: float = Field(
        0.9,
        gt=0,
        lt=1,
        description="What comes after as many components as explain such a share of the rows' images is noise.",
    )
    standardise: bool | None = Field(
        None,
        description="Whether the inputs are brought to mean 0 and sd 1 first; without it, they are unless a `width` is "
        "given, which then is one of theirs.",
    )
    missing: Missing = Field(
        "error",
        description="What becomes of gaps: the request is refused, rows with a gap are left out (`drop_rows`), or gaps "
        "are filled with the mean and a 0/1 column says where they were (`indicator`).",
    )
    model: NameIn | None = Field(None, description="The model's name; without it, the dataset's.")
    seed: int = Field(
        0, ge=0, le=2**53 - 1, description="Decides, with the rows' content, which are drawn where there are many."
    )

    def to_request(self) -> ComponentsRequest:
        """The same in the domain's words."""
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
        """A fault of the request, which is as it was sent."""
        return fault
