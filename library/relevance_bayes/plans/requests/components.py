"""The request and the plan of sparse kernel principal components."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal
from uuid import UUID

from relevance_bayes.core.kernels import Covariance, Gaussian
from relevance_bayes.types.values import IgnoredColumn, InputColumn, Missing


@dataclass(frozen=True)
class ComponentsRequest:
    """A request; None is the default.

    `width` is the papers' r, one for all inputs or one for each of those named; by default it follows from the
    distances between rows. The components explain the share `min_explained_variance`; the remainder is noise.
    """

    dataset_id: UUID
    inputs: tuple[str, ...] | None = None
    kernel: Covariance = field(default_factory=Gaussian, metadata={"discriminator": "type"})
    width: float | tuple[float, ...] | None = None
    min_explained_variance: float = 0.9
    standardise: bool | None = None
    missing: Missing | None = None
    model: str | None = None
    seed: int = 0
    task: Literal["components"] = "components"


@dataclass(frozen=True)
class ComponentsPlan:
    """The request resolved against the dataset's statistics; `widths` has one for all inputs or one for each."""

    model: str
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]
    kernel: Covariance
    widths: tuple[float, ...] | None
    min_explained_variance: float
    standardise: bool
    missing: Missing
    seed: int
    missing_reason: str = ""
    task: Literal["components"] = "components"

    target_member: ClassVar[str] = "target"
    """The member of a request that names the target."""

    @property
    def target(self) -> None:
        """Return None: there is no target."""
        return None
