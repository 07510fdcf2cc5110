"""The request and the plan of an approximation of a known function by few Gaussians."""

from dataclasses import dataclass
from typing import ClassVar, Literal
from uuid import UUID

from relevance_bayes.types.values import IgnoredColumn, InputColumn


@dataclass(frozen=True)
class ApproximationRequest:
    """f(x) = constant + sum_j c_j exp(-sum_k ((x_k - z_jk) / r_k)^2), a row of the dataset for each term.

    The `inputs` of a row are z_j, its `coefficients` column is c_j; without that, all are equal and f integrates to 1.
    `width` is r, one for all inputs or one for each. As few terms are kept as have a relative error of at most
    `tolerance`, at most `max_functions`. Those of a `density` are non-negative, with the same integral.
    """

    dataset_id: UUID
    width: float | tuple[float, ...]
    coefficients: str | None = None
    inputs: tuple[str, ...] | None = None
    constant: float = 0.0
    tolerance: float = 0.01
    max_functions: int | None = None
    density: bool = False
    model: str | None = None
    task: Literal["approximation"] = "approximation"


@dataclass(frozen=True)
class ApproximationPlan:
    """The request resolved against the dataset: `widths` has one for each input."""

    model: str
    coefficients: str | None
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]
    widths: tuple[float, ...]
    constant: float
    tolerance: float
    max_functions: int | None
    density: bool
    task: Literal["approximation"] = "approximation"

    target_member: ClassVar[str] = "coefficients"
    """The member of a request that names the target."""

    @property
    def target(self) -> str | None:
        """Return the column of the coefficients."""
        return self.coefficients
