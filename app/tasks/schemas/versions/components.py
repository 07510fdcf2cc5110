"""The API's schema of versions of the task components."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, shared_by_versions
from relevance_bayes.core.kernels import Covariance
from relevance_bayes.documents.models import ComponentsReport
from relevance_bayes.plans.requests import Missing
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName
from relevance_bayes.types.reports import InputWidth
from relevance_bayes.types.values import IgnoredColumn, InputColumn


class ComponentsVersionOut(VersionBaseOut):
    """Principal components of rows in the kernel's feature space."""

    task: Literal["components"]
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    kernel: Annotated[Covariance, Field(discriminator="type")]
    widths: Sequence[InputWidth]
    standardised: bool
    missing: Missing
    seed: int
    min_explained_variance: float = Field(
        description="The requested share of the variance in feature space that the components explain."
    )
    explained_variance: float = Field(description="The share of that variance that the found components explain.")
    noise_variance: float = Field(description="The variance along every other direction of the feature space.")
    variances: Sequence[float] = Field(
        description="The variances of the components in excess of the noise, descending. A row has the square norm 1."
    )
    log_marginal_likelihood: float = Field(
        description="The log evidence in excess of that of noise alone, in nats. It compares fits with the same rows, "
        "kernel, width and `noise_variance`."
    )
    functions: int = Field(description="The number of kept rows, which span the components.")
    rows: int = Field(description="The number of rows of the dataset that were used.")
    rows_drawn: int = Field(
        description="The number of training rows, at most 2,000, drawn by content. `novelty` is calibrated on the "
        "other rows where these are as many, at most 10,000 of them, else by five folds."
    )
    rows_dropped: int = Field(description="The number of rows with gaps, which were left out.")
    dataset: DatasetName
    seconds: float
    software_version: str
    imported: ImportedFrom | None = Field(
        description="Null for a version trained here; all figures of an imported version are those of its origin."
    )

    @classmethod
    def of(cls, version: Version, report: ComponentsReport) -> Self:
        """Return the API's form of a version with this report."""
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
            "imported": report.imported,
        }
        return cls.model_validate(shared_by_versions(version) | own)
