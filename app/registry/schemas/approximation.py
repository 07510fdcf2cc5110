"""The sparse approximation of a known function."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, imported_record, shared_by_versions
from relevance_bayes.documents.models import ApproximationReport
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName, TermsError


class ApproximationVersionOut(VersionBaseOut):
    """Few terms that stand for all of a known function."""

    task: Literal["approximation"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    coefficients: str | None
    widths: Sequence[float] = Field(
        description="Of the terms there were, one for each input; those kept may be up to three times as wide "
        "(`shape` of the relevance vectors)."
    )
    constant: float
    density: bool
    rows: int = Field(description="Terms there were.")
    functions: int = Field(description="Terms kept.")
    error: float = Field(description="The share of the function that is missed: |f - f_R| / |f|, without the constant.")
    path: Sequence[TermsError] = Field(description="The least that was met with so many terms.")
    integral: float = Field(description="Of the function, without its constant.")
    integral_kept: float = Field(description="Of the terms that were kept.")
    integral_negative: float = Field(
        description="The integral of what lies below 0 of the terms kept, before they were made a `density`, to about "
        "0.2 % of the integral of their sizes."
    )
    dataset: DatasetName
    seconds: float
    software_version: str
    imported: ImportedFrom | None = Field(
        description="Null for what was trained here; else all figures are those of where it was."
    )

    @classmethod
    def of(cls, version: Version, report: ApproximationReport) -> Self:
        """A version with this report as it goes out."""
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
            "imported": imported_record(report),
        }
        return cls.model_validate(shared_by_versions(version) | own)
