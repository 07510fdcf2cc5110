"""The request and the plan of an approximation of a known function by few Gaussians."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from uuid import UUID

from pydantic import Field

from relevance_bayes.records.annotations import as_requested, wire
from relevance_bayes.records.jobs import JobRequest, ModelName, Width
from relevance_bayes.records.trainings import ApproximationSettings


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
