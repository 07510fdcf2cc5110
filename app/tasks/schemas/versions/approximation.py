"""The API's schema of versions of the task approximation."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, shared_by_versions
from relevance_bayes.documents.models import ApproximationReport
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName, TermsError
from relevance_bayes.types.values import IgnoredColumn, InputColumn


class ApproximationVersionOut(VersionBaseOut):
    """A sparse approximation of a known function."""

    task: Literal["approximation"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    coefficients: str | None
    widths: Sequence[float] = Field(
        description="The width of the given terms, one for each input; kept terms may be up to three times as wide "
        "(`shape` of the relevance vectors)."
    )
    constant: float
    density: bool
    rows: int = Field(description="The number of given terms.")
    functions: int = Field(description="The number of kept terms.")
    error: float = Field(description="The missed share of the function: |f - f_R| / |f|, without the constant.")
    path: Sequence[TermsError] = Field(description="The least error found for each number of terms.")
    integral: float = Field(description="The integral of the function, without its constant.")
    integral_kept: float = Field(description="The integral of the kept terms.")
    integral_negative: float = Field(
        description="The integral of the negative part of the kept terms, before they were made a `density`, to about "
        "0.2 % of the integral of their absolute values."
    )
    dataset: DatasetName
    seconds: float
    software_version: str
    imported: ImportedFrom | None = Field(
        description="Null for a version trained here; all figures of an imported version are those of its origin."
    )

    @classmethod
    def of(cls, version: Version, report: ApproximationReport) -> Self:
        """Return the API's form of a version with this report."""
        plan = report.plan
        own = {
            "task": report.task,
            "coefficients": plan.coefficients,
            "widths": plan.widths,
            "constant": plan.constant,
            "density": plan.density,
            "error": report.error,
            "path": report.path,
            "integral": report.integral,
            "integral_kept": report.integral_kept,
            "integral_negative": report.integral_negative,
            "imported": report.imported,
        }
        return cls.model_validate(shared_by_versions(version) | own)
