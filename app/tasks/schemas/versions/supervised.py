"""The API's schema of versions of supervised tasks."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, Field

from app.registry.records import Version
from app.registry.schemas.shared import VersionBaseOut, shared_by_versions
from app.tasks.schemas.specification import AnyLikelihood, BasisOut, shown, shown_bases
from relevance_bayes.core.evidence import LogEvidence
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.spec import Algorithm, Prior
from relevance_bayes.documents.models import Alternative, Hyperparameters, Member, ScoreKind, SupervisedReport
from relevance_bayes.plans.requests import BudgetPlan, Missing, Split, Task, Validation
from relevance_bayes.types import reports as records
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName
from relevance_bayes.types.values import ColumnKind, IgnoredColumn, InputColumn, Label


def hyperparameters_record(found: Hyperparameters, temperature: float | None) -> records.Hyperparameters:
    """Return the hyperparameters of a model, whose class probabilities have this temperature."""
    return records.Hyperparameters(
        noise_sd=found.noise_sd,
        degrees_of_freedom=found.degrees_of_freedom,
        widths=found.widths,
        warps=found.warps,
        terms=found.terms,
        signal_sd=found.signal_sd,
        temperature=temperature,
        last_gain=found.last_gain,
        next_gain=found.next_gain,
    )


def evidence_record(found: LogEvidence) -> records.Evidence:
    """Return the API's form of an evidence."""
    return records.Evidence(found.value, found.kind, found.log_hyperprior, found.price)


class MemberOut(BaseModel):
    """A member of a version: one of the models that predict together, often the only one."""

    label: Label | None = Field(
        description="The class that it separates from all others; null where it models all classes."
    )
    kernel: Annotated[Kernel, Field(discriminator="type")] | None = Field(
        description="The kernel; null for none or several."
    )
    weight: float | None = Field(
        description="The weight of the member: the densities of several members are multiplied, each to the power of "
        "its weight. Weights sum to 1 and maximise the score on held-out rows. Null for the model of a class."
    )
    functions: int = Field(
        description="The number of kept functions. A class without kept rows has only a bias, and its probability is "
        "its frequency everywhere."
    )
    hyperparameters: records.Hyperparameters
    evidence: records.Evidence | None = Field(
        description="The log evidence; null for a nearest-neighbour process, which is compared on held-out rows."
    )
    evidence_unreduced: records.Evidence | None = Field(
        description="The log evidence before the reduction to few functions; null where nothing was reduced."
    )
    score: float | None = Field(description="The score of this member alone; null where folds did not measure it.")

    @classmethod
    def of(cls, member: Member, temperature: float | None) -> Self:
        """Return the API's form of a member."""
        unreduced = member.evidence_unreduced
        return cls(
            label=member.label,
            kernel=member.kernel,
            weight=member.weight,
            functions=member.functions,
            hyperparameters=hyperparameters_record(member.hyperparameters, temperature),
            evidence=None if member.evidence is None else evidence_record(member.evidence),
            evidence_unreduced=None if unreduced is None else evidence_record(unreduced),
            score=member.score,
        )


class AlternativeOut(BaseModel):
    """A compared alternative that was not selected."""

    basis: BasisOut | None = Field(description="The basis of its kernel; null where it was not recorded.")
    prior: Prior
    likelihood: AnyLikelihood
    functions: int | None = Field(
        description="The number of kept functions; null for a fit that was stopped early because its evidence was "
        "behind, and where folds measured it before functions were chosen."
    )
    kind: ScoreKind = Field(
        description="The kind of its score. `fold_log_density`: the mean log density of held-out rows over the folds, "
        "in nats a row, as `score` of the version. `integrated_evidence`: the log evidence with the hyperparameters "
        "integrated out, in nats, to compare with `integrated_evidence` of the version: a model with 3 more is about "
        "20 times as probable."
    )
    score: float | None = Field(
        description="The score; null with a `reason`. Extrapolated from some rows for a fit that was stopped early."
    )
    reason: str | None = Field(description="The reason why it could not be trained or measured.")

    @classmethod
    def of(cls, alternative: Alternative, inputs: Sequence[str], noise_column: str | None) -> Self:
        """Return the API's form of an alternative."""
        bases = [] if alternative.basis is None else shown_bases([alternative.basis], inputs)
        return cls(
            basis=next(iter(bases), None),
            prior=alternative.prior,
            likelihood=shown(alternative.likelihood, noise_column),
            functions=alternative.functions,
            kind=alternative.kind,
            score=alternative.score,
            reason=alternative.reason,
        )


class SupervisedVersionOut(VersionBaseOut):
    """A version of a supervised training; it never changes. Figures are in the user's units."""

    task: Task
    target: str
    target_kind: ColumnKind
    classes: Sequence[Label] = Field(
        description="The labels of a classification: false and true, numbers ascending, texts in alphabetical order."
    )
    class_rows: Sequence[records.ClassRows] = Field(
        description="The number of training rows of each class, in the order of `classes`: the class frequencies that "
        "`class_priors` of a prediction replace. Empty for numbers."
    )
    inputs: Sequence[InputColumn]
    ignored: Sequence[IgnoredColumn]
    likelihood: AnyLikelihood
    basis: Sequence[BasisOut]
    prior: Prior
    algorithm: Algorithm
    standardised: bool
    missing: Missing
    split: Split
    holdout: float
    validation: Validation | None
    seed: int
    hyperparameters: records.Hyperparameters = Field(
        description="The hyperparameters of the only member; null or empty where there are several members."
    )
    evidence: records.Evidence | None = Field(
        description="The log evidence of the only member; null where there are several members."
    )
    functions: int = Field(description="The number of kept functions.")
    candidates: int = Field(description="The number of candidate functions of the selected fit.")
    rows: int = Field(description="The number of training rows.")
    rows_dropped: int
    rows_held_out: int
    termination: str = Field(description="The reason why the fit stopped.")
    metrics: Mapping[str, Mapping[str, float]] = Field(
        description="`holdout`: measured on the rows held out, if any. `validation`: cross-validated on the training "
        "rows, each predicted by a training without its fold (`nll_se` is the standard error of its `nll`, "
        "`log_loss_se` of its `log_loss`), over all `rows` that were measured, each once; null with the effort `quick` "
        "unless it was requested. A fold whose other rows can't be trained on is skipped, and under `order` the first "
        "stretch is not measured. `leave_one_out`: a diagnostic, each training row, or 20,000 of more, predicted from "
        "all others in closed form, while functions, widths and noise were chosen with it present: it can be much too "
        "optimistic."
    )
    members: Sequence[MemberOut] = Field(
        description="The models that predict together, one or more: processes, or one for each class in the order of "
        "`classes`."
    )
    score: records.Score | None = Field(
        description="The expected score on new rows, by complete trainings on other rows with all choices repeated. Of "
        "several processes it is measured before their reduction to few functions, which costs `score_loss`; where "
        "that exceeds `max_score_loss` it is measured after it. Null where none was measured."
    )
    integrated_evidence: float | None = Field(
        description="The log evidence with the hyperparameters integrated out, in nats, where fits were compared by it."
    )
    alternatives: Sequence[AlternativeOut] = Field(
        description="The compared alternatives that were not selected. Another likelihood is selected where its "
        "evidence is better by a tenth of a nat for each row; a single model instead of several where its score over "
        "folds is better by more than two standard errors, at a root mean square error of at most 1.1 times theirs."
    )
    budget: BudgetPlan | None = Field(
        description="The requested budget of work, and what was left out for it. Null without one."
    )
    positive_class: Label | None = Field(
        description="The class that counts as positive in evaluations. Null where none was named."
    )
    max_score_loss: float = Field(
        description="The requested limit of the score, in nats a row, that the reduction to few functions may cost. "
        "More is lost where a prediction by more functions would take too long."
    )
    unreduced_functions: int | None = Field(
        description="The number of functions before the reduction, one for each row and process; `score` belongs to "
        "these where `score_loss` is at most `max_score_loss`. Null where nothing was reduced."
    )
    score_loss: float | None = Field(
        description="The cost of the reduction to few functions in nats a row of the score: estimated where it is at "
        "most `max_score_loss`, else measured by folds, and `metrics.validation` is then that of the reduced model. "
        "Null where nothing was reduced."
    )
    outliers: Sequence[records.Outlier] = Field(
        description="Under `student_t`, the rows whose weight is less than a quarter of an ordinary row's, at most "
        "100, the least typical first. Empty under other likelihoods."
    )
    warnings: Sequence[records.TrainingWarning] = Field(
        description="Rows and alternatives that were left out, and departures from the plan; empty without any."
    )
    local: records.LocalReport | None = Field(
        description="The comparison with nearest-neighbour processes; null where there was none. Where a process was "
        "selected it is the only member, `functions` are those of the sparse model whose residuals it models, and "
        "`score` and `metrics.validation` are those on the held-out rows."
    )
    calendar: records.CalendarInputs | None = Field(
        description="The inputs derived from timestamps, with the gain by which they were selected or left out; null "
        "where none were compared."
    )
    logarithms: records.LogarithmicInputs | None = Field(
        description="The inputs with heavy tails, with the gain by which their logarithms were selected or left out; "
        "null where none were compared."
    )
    texts: records.TextInputs | None = Field(
        description="The texts of more than 50 values, with the gain by which their effects on the target were "
        "selected or left out; null where none were compared."
    )
    dataset: DatasetName
    seconds: float
    software_version: str
    imported: ImportedFrom | None = Field(
        description="Null for a version trained here; all figures of an imported version are those of its origin."
    )

    @classmethod
    def of(cls, version: Version, report: SupervisedReport) -> Self:
        """Return the API's form of a version with this report."""
        plan, spec = report.plan, report.plan.spec
        own = {
            "task": report.task,
            "target": plan.target,
            "target_kind": plan.target_kind,
            "classes": plan.classes,
            "class_rows": report.class_rows,
            "likelihood": shown(spec.likelihood, plan.noise_column),
            "basis": shown_bases(spec.basis, [column.name for column in plan.inputs]),
            "prior": spec.prior,
            "algorithm": spec.algorithm,
            "standardised": report.standardised,
            "missing": plan.missing,
            "split": plan.split,
            "holdout": plan.holdout,
            "validation": plan.validation,
            "seed": spec.seed,
            "hyperparameters": hyperparameters_record(report.hyperparameters, report.temperature),
            "evidence": None if report.evidence is None else evidence_record(report.evidence),
            "candidates": report.candidates,
            "rows_dropped": report.rows_dropped,
            "rows_held_out": report.rows_held_out,
            "termination": report.termination,
            "metrics": report.metrics,
            "members": [MemberOut.of(member, report.temperature) for member in report.members],
            "score": report.score,
            "integrated_evidence": report.integrated_evidence,
            "alternatives": [
                AlternativeOut.of(one, [column.name for column in plan.inputs], plan.noise_column)
                for one in report.alternatives
            ],
            "budget": plan.budget,
            "positive_class": plan.positive_class,
            "max_score_loss": plan.max_score_loss,
            "unreduced_functions": report.unreduced_functions,
            "score_loss": report.score_loss,
            "outliers": report.outliers,
            "warnings": report.warnings,
            "local": report.local,
            "calendar": report.calendar,
            "logarithms": report.logarithms,
            "texts": report.texts,
            "imported": report.imported,
        }
        return cls.model_validate(shared_by_versions(version) | own)
