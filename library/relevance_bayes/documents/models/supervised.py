"""The result of a supervised fit: the report for its owner, and the predictor."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from relevance_bayes.core.basis import Basis
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.likelihoods import TargetLikelihood
from relevance_bayes.core.marginal import LogEvidence
from relevance_bayes.core.model import Model
from relevance_bayes.core.pool import LearnedModel, alone
from relevance_bayes.core.priors import Prior
from relevance_bayes.plans.requests import SupervisedPlan, Task
from relevance_bayes.tables.encoding import Encoding
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.reports import (
    ClassRows,
    InputTerm,
    InputWarp,
    InputWidth,
    LocalReport,
    Outlier,
    Score,
    TrainingWarning,
)
from relevance_bayes.types.values import Label


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters of one model, in the user's units; None or empty where it has no such thing.

    `widths` are those in encoded inputs, for each kernel dictionary with functions in the model one, or one for each
    column; `terms` are the inputs that a process sees apart from the others. `signal_sd` is the process's (of the
    latent function for classes and counts). Where the target's logarithm is learned, `noise_sd` and `signal_sd` are of
    that. `last_gain` and `next_gain` are the nats that the last function brought that entered, and the best would have
    brought that did not.
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
    """One of the models that a version consists of, often the only one.

    `kernel` is None where it has none, or several. The densities of the processes of a pool are multiplied, each to the
    power of its `weight`; the weights add to 1, and the only model has the weight 1. The model of one class, `label`,
    against all others has none. `evidence` is that of the `functions` that it kept, of the target in the user's units,
    None of a nearest-neighbour process, which is judged by rows kept apart, and whose functions are its trend's,
    and `evidence_unreduced` that of the process before few functions took its place, None where none did. `score` is
    the mean log density of the folds' rows by the member alone, where these measured it.
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

    By `fold_log_density`, the mean log density, in nats a row, of the folds' rows by what was learned without them; or
    by `integrated_evidence`, the log evidence with the hyperparameters integrated out, in nats. Both are of the target
    in the user's units, so that scores can be compared whatever the likelihood.

    `basis` is its kernel's, which may tell it apart beside prior and likelihood, None where that was not recorded.
    `functions` are those that it kept, None where it was given up on the way, its score being foretold from some rows
    then, and where folds measured it before any were chosen.
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

    `members` are the models that predict together, one or more. `score` is by rows that were not learned from, before
    their reduction to few functions, after it where it loses more than was asked for; None in versions that are older
    than this. `alternatives` are what was compared and not taken, `integrated_evidence` is what those of that kind are
    compared with. `metrics` maps a name ("holdout", "validation", "leave_one_out") to figures ("rmse", "nll", ...);
    `candidates` counts functions looked at, `functions` those kept, of all members. Under noise with heavy tails
    `outliers` are the rows learned from that it accounts for. `score_loss` is what keeping few functions costs of the
    folds' score, in nats a row, where there were `unreduced_functions` before. `class_rows` are the rows learned from
    by class, in the plan's order; empty for numbers, and in versions that are older than this. `imported` is None for
    what was trained here; else all other figures are those of where it was. `temperature` is that of the probabilities
    of classes, None for numbers, and in versions that are older than it. `warnings` say what was left out, and what
    could not be done as planned. `local` is the comparison with nearest-neighbour processes, None where there was none.
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
    score: Score | None = None
    integrated_evidence: float | None = None
    alternatives: tuple[Alternative, ...] = ()
    score_loss: float | None = None
    outliers: tuple[Outlier, ...] = ()
    class_rows: tuple[ClassRows, ...] = ()
    imported: ImportedFrom | None = None
    temperature: float | None = None
    unreduced_functions: int | None = None
    warnings: tuple[TrainingWarning, ...] = ()
    local: LocalReport | None = None

    @property
    def hyperparameters(self) -> Hyperparameters:
        """Those of the only member; of several none are the whole's."""
        return self.members[0].hyperparameters if len(self.members) == 1 else Hyperparameters()

    @property
    def evidence(self) -> LogEvidence | None:
        """That of the only member; None of several."""
        return self.members[0].evidence if len(self.members) == 1 else None


@dataclass(frozen=True, eq=False)
class SupervisedPredictor:
    """All that a prediction needs: raw columns to the matrix and back, and the sparse model, or several as a pool."""

    encoding: Encoding
    learned: LearnedModel

    @property
    def model(self) -> Model:
        """The model, where it is one alone; raises SparseBayesError for a pool."""
        return alone(self.learned)
