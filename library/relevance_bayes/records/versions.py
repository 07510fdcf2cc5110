"""Versions of models, one record for each kind of task, and their lineage. Figures are in the user's units."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.records.annotations import Id, OneOf, wire
from relevance_bayes.records.choices import (
    Algorithm,
    Basis,
    Covariance,
    Kernel,
    Likelihood,
    Missing,
    Prior,
    ScoreKind,
    Split,
    Validation,
)
from relevance_bayes.records.html import facts_html
from relevance_bayes.records.models import DatasetName, TermsError
from relevance_bayes.records.reports import (
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
from relevance_bayes.records.values import ColumnKind, IgnoredColumn, InputColumn, Label


@dataclass(frozen=True)
class ImportedFrom:
    """The original of an imported version."""

    __pydantic_config__ = wire()

    model: str
    version: int
    digest: str
    """SHA-256 of the imported file, in hexadecimal digits: its `ETag` at the original service."""


@dataclass(frozen=True)
class DatasetOrigin:
    """The training data."""

    __pydantic_config__ = wire()

    id: Id
    digest: str
    """SHA-256 of its content: names, kinds and values. Datasets with the same digest are identical."""
    name: str | None
    """Null after it is deleted."""
    exists: bool
    """True if it still exists."""


@dataclass(frozen=True)
class Parent:
    """The newest version at the time when this one was recorded."""

    __pydantic_config__ = wire()

    version: int
    exists: bool
    """True if it still exists."""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """The origin of a version, with all that is needed to reproduce it."""

    __pydantic_config__ = wire()

    model: str
    version: int
    created_at: datetime
    dataset: DatasetOrigin
    job_id: Id | None
    """The training; null for an imported version."""
    request: dict[str, object] | None
    """The request, in which null is a default; the version has the resolved values. Null for an imported version."""
    imported: ImportedFrom | None = None
    """The original of an imported version; null for a version trained here."""
    parent: Parent | None
    """Null for the first version, and where it is unknown."""
    software_version: str


OtherMembers: TypeAlias = dict[str, dict[str, object]]
"""The members of an imported document, in `sums`, `groups` and `source`, that are not known here, and are exported with
it again."""


@dataclass(frozen=True)
class Member:
    """A member of a version: one of the models that predict together, often the only one."""

    __pydantic_config__ = wire()

    kernel: Kernel | None
    """The kernel; null for none or several."""
    weight: float | None
    """The weight of the member: the densities of several members are multiplied, each to the power of its weight.
    Weights sum to 1 and maximise the score on held-out rows. Null for the model of a class."""
    functions: int
    """The number of kept functions. A class without kept rows has only a bias, and its probability is its frequency
    everywhere."""
    hyperparameters: Hyperparameters
    evidence: Evidence | None
    """The log evidence; null for a nearest-neighbour process, which is compared on held-out rows."""
    evidence_unreduced: Evidence | None
    """The log evidence before the reduction to few functions; null where nothing was reduced."""
    score: float | None
    """The score of this member alone; null where folds did not measure it."""
    label: Label | None = None
    """The class that it separates from all others; null where it models all classes."""


@dataclass(frozen=True)
class Alternative:
    """A compared alternative that was not selected."""

    __pydantic_config__ = wire()

    basis: Basis | None
    """The basis of its kernel; null where it was not recorded."""
    prior: Prior
    likelihood: Likelihood
    functions: int | None
    """The number of kept functions; null for a fit that was stopped early because its evidence was behind, and
    where folds measured it before functions were chosen."""
    kind: ScoreKind
    """The kind of its score. `fold_log_density`: the mean log density of held-out rows over the folds, in nats a
    row, as `score` of the version. `integrated_evidence`: the log evidence with the hyperparameters integrated out,
    in nats, to compare with `integrated_evidence` of the version: a model with 3 more is about 20 times as
    probable."""
    score: float | None
    """The score; null with a `reason`. Extrapolated from some rows for a fit that was stopped early."""
    reason: str | None
    """The reason why it could not be trained or measured."""


@dataclass(frozen=True, kw_only=True)
class VersionBase:
    """The members of all versions; only description and tags change.

    A version of an unknown task has only these.
    """

    __pydantic_config__ = wire()

    model: str
    version: int
    created_at: datetime
    job_id: Id | None
    """The training that made the version; null for an imported version."""
    parent: int | None = None
    """The newest version when this one was recorded; null for the first, and where unknown."""
    description: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    inputs: tuple[InputColumn, ...]
    ignored: tuple[IgnoredColumn, ...]
    functions: int
    """The number of kept functions: of an approximation, kept terms; of components, kept rows."""
    rows: int
    """The number of training rows: of an approximation, given terms; of an image, pixels."""
    dataset: DatasetName
    seconds: float
    software_version: str
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
    """A version of a supervised training; it never changes."""

    target: str
    target_kind: ColumnKind
    classes: tuple[Label, ...]
    """The labels of a classification: false and true, numbers ascending, texts in alphabetical order."""
    class_rows: tuple[ClassRows, ...] = ()
    """The number of training rows of each class, in the order of `classes`: the class frequencies that
    `class_priors` of a prediction replace. Empty for numbers."""
    likelihood: Likelihood
    basis: tuple[Basis, ...]
    prior: Prior
    algorithm: Algorithm
    standardised: bool
    missing: Missing
    split: Split
    holdout: float
    validation: Validation | None = None
    seed: int
    hyperparameters: Hyperparameters
    """The hyperparameters of the only member; null or empty where there are several members."""
    evidence: Evidence | None
    """The log evidence of the only member; null where there are several members."""
    candidates: int
    """The number of candidate functions of the selected fit."""
    rows_dropped: int
    rows_held_out: int
    termination: str
    """The reason why the fit stopped."""
    metrics: dict[str, dict[str, float]]
    """`holdout`: measured on the rows held out, if any. `validation`: cross-validated on the training rows, each
    predicted by a training without its fold (`nll_se` is the standard error of its `nll`, `log_loss_se` of its
    `log_loss`), over all `rows` that were measured, each once; null with the effort `quick` unless it was
    requested. A fold whose other rows can't be trained on is skipped, and under `order` the first stretch is not
    measured. `leave_one_out`: a diagnostic, each training row, or 20,000 of more, predicted from all others in
    closed form, while functions, widths and noise were chosen with it present: it can be much too optimistic."""
    members: tuple[Member, ...]
    """The models that predict together, one or more: processes, or one for each class in the order of `classes`."""
    score: Score | None = None
    """The expected score on new rows, by complete trainings on other rows with all choices repeated. Of several
    processes it is measured before their reduction to few functions, which costs `score_loss`; where that exceeds
    `max_score_loss` it is measured after it. Null where none was
    measured."""
    integrated_evidence: float | None = None
    """The log evidence with the hyperparameters integrated out, in nats, where fits were compared by it."""
    alternatives: tuple[Alternative, ...] = ()
    """The compared alternatives that were not selected. Another likelihood is selected where its evidence is better
    by a tenth of a nat for each row; a single model instead of several where its score over folds is better by more
    than two standard errors, at a root mean square error of at most 1.1 times theirs."""
    budget: BudgetPlan | None = None
    """The requested budget of work, and what was left out for it. Null without one."""
    positive_class: Label | None = None
    """The class that counts as positive in evaluations. Null where none was named."""
    max_score_loss: float = 0.01
    """The requested limit of the score, in nats a row, that the reduction to few functions may cost. More is lost
    where a prediction by more functions would take too long."""
    unreduced_functions: int | None = None
    """The number of functions before the reduction, one for each row and process; `score` belongs to these where
    `score_loss` is at most `max_score_loss`. Null where nothing was reduced."""
    score_loss: float | None = None
    """The cost of the reduction to few functions in nats a row of the score: estimated where it is at most
    `max_score_loss`, else measured by folds, and `metrics.validation` is then that of the reduced model. Null where
    nothing was reduced."""
    outliers: tuple[Outlier, ...]
    """Under `student_t`, the rows whose weight is less than a quarter of an ordinary row's, at most 100, the least
    typical first. Empty under other likelihoods."""
    warnings: tuple[TrainingWarning, ...] = ()
    """Rows and alternatives that were left out, and departures from the plan; empty without any."""
    local: LocalReport | None = None
    """The comparison with nearest-neighbour processes; null where there was none. Where a process was selected it
    is the only member, `functions` are those of the sparse model whose residuals it models, and `score` and
    `metrics.validation` are those on the held-out rows."""
    calendar: CalendarInputs | None = None
    """The inputs derived from timestamps, with the gain by which they were selected or left out; null where none
    were compared."""
    logarithms: LogarithmicInputs | None = None
    """The inputs with heavy tails, with the gain by which their logarithms were selected or left out; null where
    none were compared."""
    texts: TextInputs | None = None
    """The texts of more than 50 values, with the gain by which their effects on the target were selected or left
    out; null where none were compared."""
    imported: ImportedFrom | None = None
    """Null for a version trained here; all figures of an imported version are those of its origin."""

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
    """A sparse approximation of a known function."""

    task: Literal["approximation"] = "approximation"

    coefficients: str | None
    widths: tuple[float, ...]
    """The width of the given terms, one for each input; kept terms may be up to three times as wide (`shape` of the
    relevance vectors)."""
    constant: float
    density: bool
    error: float
    """The missed share of the function: |f - f_R| / |f|, without the constant."""
    path: tuple[TermsError, ...]
    """The least error found for each number of terms."""
    integral: float
    """The integral of the function, without its constant."""
    integral_kept: float
    """The integral of the kept terms."""
    integral_negative: float
    """The integral of the negative part of the kept terms, before they were made a `density`, to about 0.2 % of the
    integral of their absolute values."""
    imported: ImportedFrom | None = None
    """Null for a version trained here; all figures of an imported version are those of its origin."""


@dataclass(frozen=True, kw_only=True)
class ImageVersion(VersionBase):
    """A sparse code of an image by wavelets."""

    task: Literal["image"] = "image"

    height: int
    width: int
    peak: float
    candidates: int
    """The number of candidate functions."""
    error: float
    """The root mean square error, in the unit of the intensities."""
    psnr: float | None
    """20 log10(peak / error), in dB; null for an error of 0."""
    noise_sd: float
    """The noise sd of the search: learned, given, or the resolution of the search."""
    path: tuple[TermsError, ...]
    """The error for each number of functions, at most 200 of them."""
    termination: str
    """The reason why the search stopped."""


@dataclass(frozen=True, kw_only=True)
class ComponentsVersion(VersionBase):
    """Principal components of rows in the kernel's feature space."""

    task: Literal["components"] = "components"

    kernel: Covariance
    widths: tuple[InputWidth, ...]
    standardised: bool
    missing: Missing
    seed: int
    min_explained_variance: float
    """The requested share of the variance in feature space that the components explain."""
    explained_variance: float
    """The share of that variance that the found components explain."""
    noise_variance: float
    """The variance along every other direction of the feature space."""
    variances: tuple[float, ...]
    """The variances of the components in excess of the noise, descending. A row has the square norm 1."""
    log_marginal_likelihood: float
    """The log evidence in excess of that of noise alone, in nats. It compares fits with the same rows, kernel,
    width and `noise_variance`."""
    rows_drawn: int
    """The number of training rows, at most 2,000, drawn by content. `novelty` is calibrated on the other rows where
    these are as many, at most 10,000 of them, else by five folds."""
    rows_dropped: int
    """The number of rows with gaps, which were left out."""
    imported: ImportedFrom | None = None
    """Null for a version trained here; all figures of an imported version are those of its origin."""


ImportedVersion: TypeAlias = Annotated[
    RegressionVersion | ClassificationVersion | ApproximationVersion | ComponentsVersion, OneOf("task")
]
"""Versions that can be imported: all but image codes."""

KnownVersion: TypeAlias = Annotated[
    RegressionVersion | ClassificationVersion | ApproximationVersion | ImageVersion | ComponentsVersion, OneOf("task")
]

Version: TypeAlias = Annotated[KnownVersion | VersionBase, OneOf("task")]
"""A version, which may be of a task that is not known here."""
