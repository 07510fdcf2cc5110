"""The components of rows, and by how few they are carried."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, imported_record, shared_by_versions
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.documents.models import ComponentsReport
from relevance_bayes.plans.requests import Missing
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName
from relevance_bayes.types.reports import InputWidth


class ComponentsVersionOut(VersionBaseOut):
    """Components of rows in a kernel's space."""

    task: Literal["components"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    kernel: Annotated[Covariance, Field(discriminator="type")]
    widths: Sequence[InputWidth]
    standardised: bool
    missing: Missing
    seed: int
    min_explained_variance: float = Field(
        description="The share of the rows' images that components were to explain before noise."
    )
    explained_variance: float = Field(description="The share of the rows' images that the components found do reach.")
    noise_variance: float = Field(description="The variance along every other direction of the kernel's space.")
    variances: Sequence[float] = Field(
        description="Of the components beyond the noise, falling. An image has a square of 1."
    )
    log_marginal_likelihood: float = Field(
        description="In nats, over that of noise alone. It compares fits of the same rows, kernel, width and "
        "`noise_variance`."
    )
    functions: int = Field(description="Rows kept: they carry the components.")
    rows: int = Field(description="Rows there were.")
    rows_drawn: int = Field(
        description="Those drawn by content that were learned from: 2,000 at most. `novelty` goes by the others "
        "where these are as many, at most 10,000 of them, else by five folds."
    )
    rows_dropped: int = Field(description="Rows with gaps that were left out.")
    dataset: DatasetName
    seconds: float
    software_version: str
    imported: ImportedFrom | None = Field(
        description="Null for what was trained here; else all figures are those of where it was."
    )

    @classmethod
    def of(cls, version: Version, report: ComponentsReport) -> Self:
        """A version with this report as it goes out."""
        plan = report.plan
        own = {
            "task": report.task,
            "kernel": plan.kernel,
            "widths": report.widths,
            "standardised": plan.standardise,
            "missing": plan.missing,
            "seed": plan.seed,
            "min_explained_variance": plan.min_explained_variance,
            "explained_variance": report.explained_variance,
            "noise_variance": report.noise_variance,
            "variances": report.variances,
            "log_marginal_likelihood": report.log_marginal_likelihood,
            "rows_drawn": report.rows_drawn,
            "rows_dropped": report.rows_dropped,
            "imported": imported_record(report),
        }
        return cls.model_validate(shared_by_versions(version) | own)
