"""The API's schema of requests for approximations."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from app.jobs.schemas import JobIn, NameIn
from relevance_bayes.plans.requests import ApproximationRequest
from relevance_bayes.types.errors import Fault

Width = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ApproximationJobIn(JobIn):
    """A sparse approximation of a sum of Gaussians by few of them; each row of the dataset is a term.

    f(x) = constant + sum_j c_j exp(-sum_k ((x_k - z_jk) / r_k)^2), as of a support vector machine, the mean of a
    Gaussian process or a kernel density estimate.
    """

    task: Literal["approximation"]
    dataset_id: UUID = Field(description="The table of the terms.")
    coefficients: str | None = Field(
        None,
        min_length=1,
        description="The column of the coefficients c. Default: all terms have the same, and f integrates to 1: a "
        "kernel density estimate.",
    )
    inputs: Annotated[tuple[str, ...], Field(min_length=1)] | None = Field(
        None, description="The columns of the centres z. Default: all other columns of numbers."
    )
    width: Width | Annotated[tuple[Width, ...], Field(min_length=1)] = Field(
        description="The width r of the terms, in the units of the inputs; a list has one for each input. Of exp(-gamma"
        " |x - z|^2) it is gamma^-1/2, of a length scale l or a density's bandwidth h it is 2^1/2 times that."
    )
    constant: float = Field(0.0, allow_inf_nan=False, description="The constant of f; it is not approximated.")
    tolerance: float = Field(
        0.01,
        gt=0,
        lt=1,
        description="The share of f that may be missed: |f - f_R| / |f|, |f|^2 the integral of f^2 without the "
        "constant. The fewest terms that reach it are kept.",
    )
    max_functions: Annotated[int, Field(ge=1)] | None = Field(
        None, description="The most terms that are kept, whatever their error."
    )
    density: bool = Field(
        False, description="Whether the kept terms are a density too: not negative, with the same integral."
    )
    model: NameIn | None = Field(None, description="The model's name. Default: the dataset's.")

    def to_request(self) -> ApproximationRequest:
        """Return the request as the service's record."""
        return ApproximationRequest(
            dataset_id=self.dataset_id,
            width=self.width,
            coefficients=self.coefficients,
            inputs=self.inputs,
            constant=self.constant,
            tolerance=self.tolerance,
            max_functions=self.max_functions,
            density=self.density,
            model=self.model,
        )

    def as_sent(self, fault: Fault) -> Fault:
        """Return a fault of the record as a fault of the request."""
        return fault
