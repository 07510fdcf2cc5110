"""The reports and predictors of versions, one of each for a kind of task, and versions as exported and imported."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

from relevance_bayes.core.approximation import Expansion
from relevance_bayes.core.basis import Basis
from relevance_bayes.core.components import Components
from relevance_bayes.core.evidence import LogEvidence
from relevance_bayes.core.images import ImageCode
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import TargetLikelihood
from relevance_bayes.core.local_model import LocalModel
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, alone
from relevance_bayes.core.priors import Prior
from relevance_bayes.core.types import Array
from relevance_bayes.plans.requests import ApproximationPlan, ComponentsPlan, ImagePlan, SupervisedPlan, Task
from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.baselines import Baseline, InputCells
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.lineage import ImportedFrom
from relevance_bayes.records.models import TermsError
from relevance_bayes.records.reports import (
    CalendarInputs,
    ClassRows,
    InputTerm,
    InputWarp,
    InputWidth,
    LocalReport,
    LogarithmicInputs,
    Outlier,
    Score,
    TextInputs,
    TrainingWarning,
)
from relevance_bayes.records.values import Label
from relevance_bayes.tables.encoding import Encoding, InputEncoding


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters of one model, in the user's units; None or empty where the model lacks them.

    `widths` are those in encoded inputs, for each kernel dictionary with functions in the model one, or one for each
    column; `terms` are the inputs with a term of their own. `signal_sd` is the process's (of the latent function for
    classes and counts). For a logarithmic target, `noise_sd` and `signal_sd` are of the logarithm. `last_gain` and
    `next_gain` are the gains, in nats, of the last function added, and of the best one not added.
    """

    noise_sd: float | None = None
    degrees_of_freedom: float | None = None
    widths: tuple[InputWidth, ...] = ()
    warps: tuple[InputWarp, ...] = ()
    terms: tuple[InputTerm, ...] = ()
    signal_sd: float | None = None
    last_gain: float | None = None
    next_gain: float | None = None


@dataclass(frozen=True)
class Member:
    """One of the models of a version, often the only one.

    `kernel` is None where it has none, or several. The densities of the processes of a pool are multiplied, each to the
    power of its `weight`; the weights sum to 1, and the only model has the weight 1. The model of one class, `label`,
    against all others has none. `evidence` is that of the `functions` that it kept, of the target in the user's units,
    None for a nearest-neighbour process, which is scored on held-out rows, and whose functions are its trend's, and
    `evidence_unreduced` that of the process before its reduction to few functions, None without one. `score` is the
    mean log density of the folds' rows under this member only, where it was measured.
    """

    kernel: Kernel | None
    weight: float | None
    functions: int
    hyperparameters: Hyperparameters
    evidence: LogEvidence | None
    evidence_unreduced: LogEvidence | None = None
    score: float | None = None
    label: Label | None = None


ScoreKind = Literal["fold_log_density", "integrated_evidence"]


@dataclass(frozen=True)
class Alternative:
    """A compared alternative that was not selected: its score, or the `reason` why it has none.

    The score is `fold_log_density`, the mean log density, in nats a row, of the folds' rows under fits without them; or
    `integrated_evidence`, the log evidence with the hyperparameters integrated out, in nats. Both are of the target in
    the user's units, so that scores are comparable whatever the likelihood.

    `basis` is its kernel's, which may distinguish it besides prior and likelihood, None where that was not recorded.
    `functions` are those that it kept, None where it was stopped early, its score then extrapolated from some rows, and
    where folds measured it before any were selected.
    """

    basis: Basis | None
    prior: Prior
    likelihood: TargetLikelihood
    functions: int | None
    kind: ScoreKind
    score: float | None
    reason: str | None = None


OtherMembers: TypeAlias = dict[str, dict[str, object]]
"""The members of an imported document, in `sums`, `groups` and `source`, that are not known here, and are exported with
it again."""


@dataclass(frozen=True)
class SupervisedReport:
    """The report of a version, without its arrays, in the user's units.

    `members` are the models that predict together, one or more. `score` is on held-out rows, before the reduction to
    few functions, or after it where it loses more than allowed; None without one. `alternatives` were compared and not
    selected, `integrated_evidence` is what those of that kind are compared with. `metrics` maps a name ("holdout",
    "validation", "leave_one_out") to metrics ("rmse", "nll", ...); `candidates` is the number of functions considered,
    `functions` of those kept, over all members. Under a heavy-tailed likelihood `outliers` are the training rows that
    it accounts for. `score_loss` is the loss of the folds' score by the reduction to few functions, in nats a row, from
    `unreduced_functions` before. `class_rows` are the training rows by class, in the plan's order; empty for numbers.
    `imported` is None for a version trained here; else all other members are those of the original. `temperature` is
    that of the class probabilities, None for numbers. `warnings` describe what was left out, and what differs from the
    plan. `local` is the comparison with nearest-neighbour processes, None without one. `baseline` has the histograms of
    the training rows and of predictions for them, `diagnostics` reliability, residuals and the trace of the fit.
    `calendar` is the comparison with inputs derived from timestamps, `logarithms` that with logarithms of inputs with
    heavy tails, `texts` that with texts of many values; None without any. `input_rows` are the inputs of training rows
    from which missing values are drawn, None where none are kept.
    """

    task: Task
    plan: SupervisedPlan
    members: tuple[Member, ...]
    standardised: bool
    functions: int
    candidates: int
    rows: int
    rows_dropped: int
    rows_held_out: int
    termination: str
    metrics: dict[str, dict[str, float]]
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    score: Score | None
    integrated_evidence: float | None
    alternatives: tuple[Alternative, ...]
    score_loss: float | None
    outliers: tuple[Outlier, ...]
    class_rows: tuple[ClassRows, ...]
    temperature: float | None
    unreduced_functions: int | None
    warnings: tuple[TrainingWarning, ...]
    local: LocalReport | None
    calendar: CalendarInputs | None
    logarithms: LogarithmicInputs | None
    texts: TextInputs | None
    imported: ImportedFrom | None = None
    others: OtherMembers | None = field(default=None, metadata={"exclude_if": is_none})
    baseline: Baseline | None = None
    diagnostics: Diagnostics | None = None
    input_rows: tuple[InputCells, ...] | None = None

    def with_diagnostics(self, found: Diagnostics | None) -> "SupervisedReport":
        """Return the report with these diagnostics."""
        return replace(self, diagnostics=found)

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Return those of the only member; of several, empty ones."""
        return self.members[0].hyperparameters if len(self.members) == 1 else Hyperparameters()

    @property
    def evidence(self) -> LogEvidence | None:
        """Return that of the only member; None for several."""
        return self.members[0].evidence if len(self.members) == 1 else None


@dataclass(frozen=True, eq=False)
class SupervisedPredictor:
    """Raw columns to the matrix and back, and the sparse model, or several as a pool."""

    encoding: Encoding
    learned: LearnedModel

    @property
    def model(self) -> Model:
        """Return the only model; raises SparseBayesError for a pool."""
        return alone(self.learned)


@dataclass(frozen=True)
class ApproximationReport:
    """The report of a version, without its arrays.

    `rows` is the number of terms, `functions` of those kept; `error` is the share of f that they miss, and `path` has
    the lowest error for each number of terms. `integral` is that of f without its constant, and `integral_kept` that of
    the terms kept; `negative` is the integral of their part below 0, before a density was made non-negative. `imported`
    is None for a version trained here; else all other members are those of the original.
    """

    plan: ApproximationPlan
    functions: int
    rows: int
    error: float
    path: tuple[TermsError, ...]
    integral: float
    integral_kept: float
    integral_negative: float
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["approximation"] = "approximation"
    imported: ImportedFrom | None = None
    others: OtherMembers | None = field(default=None, metadata={"exclude_if": is_none})

    @property
    def baseline(self) -> None:
        """None: the rows are terms, and no sample of what is predicted for."""

    @property
    def diagnostics(self) -> None:
        """None: what is given is approximated, and nothing is predicted for rows that were left out."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ApproximationReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ApproximationPredictor:
    """Raw columns to x, and the terms kept."""

    encoding: InputEncoding
    expansion: Expansion


COMPONENTS_REPORTED = 10
"""The default number of components in a prediction."""


@dataclass(frozen=True)
class ComponentsReport:
    """The report of a version, without its arrays.

    `rows` are those that novelty is measured against, of which `rows_drawn` were trained on; `functions` is the number
    of rows that carry the components. `reached` is the share of all rows' images explained by the components,
    `variances` are theirs in feature space, descending, and `noise_variance` is the residual variance.
    `log_marginal_likelihood` is relative to that of noise only. `widths` are those in encoded inputs. `imported` is
    None for a version trained here; else all other members are those of the original. `baseline` has the histograms of
    the training rows and of their novelty.
    """

    plan: ComponentsPlan
    functions: int
    rows: int
    rows_drawn: int
    rows_dropped: int
    widths: tuple[InputWidth, ...]
    explained_variance: float
    noise_variance: float
    variances: tuple[float, ...]
    log_marginal_likelihood: float
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["components"] = "components"
    imported: ImportedFrom | None = None
    others: OtherMembers | None = field(default=None, metadata={"exclude_if": is_none})
    baseline: Baseline | None = None

    @property
    def diagnostics(self) -> None:
        """None: there is no target."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ComponentsReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ComponentsPredictor:
    """Raw columns to x, the components, and the log densities of rows like the training rows, ascending."""

    encoding: InputEncoding
    components: Components
    log_densities: Array


@dataclass(frozen=True)
class ImageReport:
    """The report of a version, without its arrays.

    `rows` is the number of pixels, `functions` that of the code, its constant included; `error` is the root mean square
    error, `psnr` 20 log10(peak / error) in dB, None without error, and `path` has the lowest error for each number of
    functions. `noise_sd` is the estimated noise.
    """

    plan: ImagePlan
    functions: int
    candidates: int
    rows: int
    error: float
    psnr: float | None
    noise_sd: float
    path: tuple[TermsError, ...]
    termination: str
    dataset_id: UUID
    dataset_digest: str
    seconds: float
    software_version: str
    task: Literal["image"] = "image"

    @property
    def imported(self) -> None:
        """None: images are not imported."""
        return

    @property
    def baseline(self) -> None:
        """None: the rows are pixels, and no sample of what is predicted for."""

    @property
    def diagnostics(self) -> None:
        """None: what is given is approximated, and nothing is predicted for rows that were left out."""

    def with_diagnostics(self, found: Diagnostics | None) -> "ImageReport":
        """Return the report itself."""
        return self


@dataclass(frozen=True, eq=False)
class ImagePredictor:
    """Rows and columns to positions, and the code of the image."""

    encoding: InputEncoding
    code: ImageCode


VersionReport: TypeAlias = SupervisedReport | ApproximationReport | ImageReport | ComponentsReport
Predictor: TypeAlias = SupervisedPredictor | ApproximationPredictor | ImagePredictor | ComponentsPredictor


@dataclass(frozen=True, eq=False)
class ExportedBase:
    """Version `number` of `model`, as trained.

    Each kind of task adds its `report` and its `predictor`, which is all that predictions need.
    """

    model: str
    number: int
    created_at: datetime

    @property
    def noise_column(self) -> str | None:
        """Return the optional column of each row's noise sd; None where there is none."""
        return None

    @property
    def has_rows(self) -> bool:
        """True if it predicts from training rows, so that it can't be exported as a program."""
        return False

    @property
    def averages_gaps(self) -> bool:
        """True if rows with missing values are averages over training rows, unless there is an indicator of them."""
        return False


@dataclass(frozen=True, eq=False)
class ExportedSupervised(ExportedBase):
    """A version that predicts numbers or classes."""

    report: SupervisedReport
    predictor: SupervisedPredictor

    @property
    def noise_column(self) -> str | None:
        """Return the target's noise column."""
        return self.predictor.encoding.target.noise_column

    @property
    def has_rows(self) -> bool:
        """True for a nearest-neighbour process."""
        return isinstance(self.predictor.learned, LocalModel)

    @property
    def averages_gaps(self) -> bool:
        """True: missing values are drawn from training rows, or from histograms of them."""
        return True


@dataclass(frozen=True, eq=False)
class ExportedApproximation(ExportedBase):
    """An approximation of a known function by few terms."""

    report: ApproximationReport
    predictor: ApproximationPredictor


@dataclass(frozen=True, eq=False)
class ExportedComponents(ExportedBase):
    """Principal components, with the novelty of rows."""

    report: ComponentsReport
    predictor: ComponentsPredictor


ExportedVersion: TypeAlias = ExportedSupervised | ExportedApproximation | ExportedComponents
