"""Models and their versions."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.html import facts_html
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName, TermsError
from relevance_bayes.types.reports import (
    BudgetPlan,
    CalendarInputs,
    ClassRows,
    Evidence,
    Hyperparameters,
    InputWidth,
    LocalReport,
    LogarithmicInputs,
    Outlier,
    Score,
    TextInputs,
    TrainingWarning,
)
from relevance_bayes.types.values import Choice, ColumnKind, IgnoredColumn, InputColumn, Label


@dataclass(frozen=True)
class Member:
    """One of the models of a version: a process, that of the class `label`, or the only one.

    The weights of processes sum to 1, and were determined by folds. `evidence_unreduced` is that of the process before
    its reduction to few functions, None without one. A nearest-neighbour process has no evidence.
    """

    kernel: Choice | None
    weight: float | None
    functions: int
    hyperparameters: Hyperparameters
    evidence: Evidence | None
    evidence_unreduced: Evidence | None
    score: float | None
    label: Label | None = None


@dataclass(frozen=True)
class Alternative:
    """A compared alternative that was not selected: its score, or the reason why it has none.

    The score is `fold_log_density`, in nats a row, as the version's `score`; or `integrated_evidence`, in nats.

    `functions` is None where it was stopped early, its score then extrapolated, and where folds measured it.
    """

    basis: Choice | None
    prior: Choice
    likelihood: Choice
    functions: int | None
    kind: str
    score: float | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class VersionBase:
    """The members of all versions; only description and tags change.

    A version of an unknown task has only these.
    """

    model: str
    version: int
    created_at: datetime
    job_id: str | None
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]
    functions: int
    rows: int
    dataset: DatasetName
    seconds: float
    software_version: str
    parent: int | None = None
    description: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    task: str

    def _repr_html_(self) -> str:
        return facts_html(f"{self.model}, version {self.version}", self._facts())

    def _facts(self) -> dict[str, object]:
        return {
            "description": self.description,
            "task": self.task,
            "rows": self.rows,
            "inputs": ", ".join(column.name for column in self.inputs),
            "functions": self.functions,
            "trained": self.created_at,
        }


@dataclass(frozen=True, kw_only=True)
class SupervisedVersion(VersionBase):
    """A version with the report of a supervised training."""

    target: str
    target_kind: ColumnKind
    classes: tuple[Label, ...]
    likelihood: Choice
    basis: tuple[Choice, ...]
    prior: Choice
    algorithm: Choice
    standardised: bool
    missing: str
    split: Choice
    holdout: float
    seed: int
    hyperparameters: Hyperparameters
    evidence: Evidence | None
    candidates: int
    rows_dropped: int
    rows_held_out: int
    termination: str
    metrics: dict[str, dict[str, float]]
    members: tuple[Member, ...]
    score: Score | None = None
    integrated_evidence: float | None = None
    alternatives: tuple[Alternative, ...] = ()
    outliers: tuple[Outlier, ...]
    validation: Choice | None = None
    class_rows: tuple[ClassRows, ...] = ()
    imported: ImportedFrom | None = None
    max_score_loss: float = 0.01
    budget: BudgetPlan | None = None
    positive_class: Label | None = None
    unreduced_functions: int | None = None
    score_loss: float | None = None
    warnings: tuple[TrainingWarning, ...] = ()
    local: LocalReport | None = None
    calendar: CalendarInputs | None = None
    logarithms: LogarithmicInputs | None = None
    texts: TextInputs | None = None

    def _facts(self) -> dict[str, object]:
        metrics = {f"{name}, {rows}": value for rows, of in self.metrics.items() for name, value in of.items()}
        return {
            **super()._facts(),
            "target": self.target,
            "noise sd": self.hyperparameters.noise_sd,
            "log evidence": None if self.evidence is None else self.evidence.value,
            "score": None if self.score is None else self.score.value,
            **metrics,
            "warnings": " ".join(warning.detail for warning in self.warnings),
        }

    @property
    def noise_column(self) -> str | None:
        """Return the optional column of each row's noise sd; None where the model has one sd for all rows."""
        match self.likelihood.get("noise_sd"):
            case {"column": str(name)}:
                return name
            case _:
                return None


@dataclass(frozen=True, kw_only=True)
class RegressionVersion(SupervisedVersion):
    """A version that predicts a number."""

    task: Literal["regression"] = "regression"


@dataclass(frozen=True, kw_only=True)
class ClassificationVersion(SupervisedVersion):
    """A version that predicts classes."""

    task: Literal["classification"] = "classification"


@dataclass(frozen=True, kw_only=True)
class ApproximationVersion(VersionBase):
    """Few terms that approximate a known function, and their error."""

    task: Literal["approximation"] = "approximation"

    coefficients: str | None
    widths: tuple[float, ...]
    constant: float
    density: bool
    error: float
    path: tuple[TermsError, ...]
    integral: float
    integral_kept: float
    integral_negative: float
    imported: ImportedFrom | None = None


@dataclass(frozen=True, kw_only=True)
class ImageVersion(VersionBase):
    """Few wavelets that encode an image, and their root mean square error."""

    task: Literal["image"] = "image"

    height: int
    width: int
    peak: float
    candidates: int
    error: float
    psnr: float | None
    noise_sd: float
    path: tuple[TermsError, ...]
    termination: str


@dataclass(frozen=True, kw_only=True)
class ComponentsVersion(VersionBase):
    """Kernel principal components, carried by few rows; `variances` are theirs, descending.

    `reached` is the share of the rows' images that they explain; `rows_drawn` were trained on.
    """

    task: Literal["components"] = "components"

    kernel: Choice
    widths: tuple[InputWidth, ...]
    standardised: bool
    missing: str
    seed: int
    min_explained_variance: float
    explained_variance: float
    noise_variance: float
    variances: tuple[float, ...]
    log_marginal_likelihood: float
    rows_drawn: int
    rows_dropped: int
    imported: ImportedFrom | None = None


ImportedVersion: TypeAlias = Annotated[
    RegressionVersion | ClassificationVersion | ApproximationVersion | ComponentsVersion, OneOf("task")
]
"""Versions that can be imported: all but image codes."""

Version: TypeAlias = Annotated[
    RegressionVersion | ClassificationVersion | ApproximationVersion | ImageVersion | ComponentsVersion | VersionBase,
    OneOf("task"),
]
