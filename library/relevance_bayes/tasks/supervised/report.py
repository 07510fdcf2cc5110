"""The result of a supervised fit: the report for its owner, and the predictor."""

from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from relevance_bayes.core.basis import Basis
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import StudentT, TargetLikelihood
from relevance_bayes.core.models.classes import PerClass
from relevance_bayes.core.models.hurdle import HurdleModel
from relevance_bayes.core.models.local.model import LocalModel
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.pool import LearnedModel, Pool, alone, degrees_of_freedom_of, n_functions
from relevance_bayes.core.priors import Prior
from relevance_bayes.records.annotations import is_none
from relevance_bayes.records.diagnostics import Diagnostics
from relevance_bayes.records.reports import (
    Baseline,
    CalendarInputs,
    ClassRows,
    Evidence,
    InputCells,
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
from relevance_bayes.records.values import Label, Task
from relevance_bayes.records.versions import ImportedFrom, OtherMembers
from relevance_bayes.tables.encoding import Encoding, user_evidence, user_noise_sd, user_process_sd
from relevance_bayes.tasks.listing import Inputs, map_warps, model_terms, model_warps, model_widths, named_widths
from relevance_bayes.tasks.supervised.request import SupervisedPlan


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
    evidence: Evidence | None
    evidence_unreduced: Evidence | None = None
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
    def evidence(self) -> Evidence | None:
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


def derived_members(learned: LearnedModel, encoding: Encoding, inputs: Inputs = None) -> tuple[Member, ...]:
    """Return the processes of a pool, the models of classes or of a hurdle, or the only model, as far as they follow
    from what was learned: without scores and, except of a nearest-neighbour process, without kernels."""
    match learned:
        case LocalModel():
            return (_local(learned, encoding, inputs),)
        case Pool():
            weights = learned.weights.tolist()
            pairs = zip(learned.members, weights, strict=True)
            return tuple(replace(_member(model, learned, encoding, inputs), weight=weight) for model, weight in pairs)
        case PerClass():
            labels = zip(learned.members, encoding.target.classes, strict=False)
            return tuple(
                replace(_member(model, model, encoding, inputs), weight=None, label=label) for model, label in labels
            )
        case HurdleModel():
            return tuple(replace(_member(model, model, encoding, inputs), weight=None) for model in learned.members)
        case Model():
            return (_member(learned, learned, encoding, inputs),)


def _member(model: Model, learned: LearnedModel, encoding: Encoding, inputs: Inputs) -> Member:
    """Return a model of what was learned, by whose degrees of freedom it predicts under Gaussian noise."""
    target, noise = encoding.target, model.likelihood
    tails = noise.degrees_of_freedom if isinstance(noise, StudentT) else degrees_of_freedom_of(learned)
    found = Hyperparameters(
        noise_sd=user_noise_sd(target, model.noise_sd),
        degrees_of_freedom=None if tails is None or tails == "learned" else float(tails),
        widths=model_widths(model, encoding, inputs),
        warps=model_warps(model, encoding, inputs),
        terms=model_terms(model, encoding, inputs),
        signal_sd=user_process_sd(target, model.signal_variance),
        last_gain=model.last_gain,
        next_gain=model.next_gain,
    )
    return Member(None, 1.0, model.size, found, user_evidence(target, model.evidence, model.rows))


def _local(learned: LocalModel, encoding: Encoding, inputs: Inputs) -> Member:
    """Return a nearest-neighbour process, which has no evidence, and whose functions are those of its trend."""
    target, process, scales = encoding.target, learned.process, learned.process.hyperparameters
    found = Hyperparameters(
        noise_sd=user_noise_sd(target, process.noise_sd),
        widths=tuple(named_widths(scales.input_map, encoding, inputs)),
        warps=map_warps(scales.input_map, encoding, inputs),
        signal_sd=user_process_sd(target, scales.signal_variance),
    )
    return Member(process.kernel, 1.0, n_functions(learned), found, None)
