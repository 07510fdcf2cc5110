"""The report of a supervised training."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, Field

from app.registry.records import Version
from app.registry.schemas.basis import BasisOut, shown_bases
from app.registry.schemas.likelihoods import AnyLikelihood, shown
from app.registry.schemas.shared import VersionBaseOut, imported_record, shared_by_versions
from relevance_bayes.core.kernels import Kernel
from relevance_bayes.core.marginal import LogEvidence
from relevance_bayes.core.spec import Algorithm, Prior
from relevance_bayes.documents.models import Alternative, Hyperparameters, Member, ScoreKind, SupervisedReport
from relevance_bayes.plans.requests import Missing, Split, Task, Validation
from relevance_bayes.types import reports as records
from relevance_bayes.types.inputs import IgnoredColumn, InputColumn
from relevance_bayes.types.lineage import ImportedFrom
from relevance_bayes.types.models import DatasetName
from relevance_bayes.types.values import ColumnKind, Label


def hyperparameters_record(found: Hyperparameters, temperature: float | None) -> records.Hyperparameters:
    """Those of a model, whose probabilities of classes have this temperature."""
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
    """Evidence as it goes out."""
    return records.Evidence(found.value, found.kind, found.log_hyperprior, found.price)


class MemberOut(BaseModel):
    """One of the models that a version consists of: often the only one."""

    label: Label | None = Field(description="The class that it tells from all others; null where it is for them all.")
    kernel: Annotated[Kernel, Field(discriminator="type")] | None = Field(
        description="Null where it has none, or several."
    )
    weight: float | None = Field(
        description="The densities of several members are multiplied, each to the power of its weight. The weights add "
        "to 1, and were chosen to predict rows best that were not learned from. Null for the model of a class."
    )
    functions: int = Field(
        description="Functions kept. A class that has no rows keeps one, a bias: it is as probable everywhere as it is "
        "frequent."
    )
    hyperparameters: records.Hyperparameters
    evidence: records.Evidence | None = Field(
        description="Null for a nearest-neighbour process, which is judged by rows kept apart."
    )
    evidence_unreduced: records.Evidence | None = Field(
        description="Of the process before few functions took its place; null where none did."
    )
    score: float | None = Field(description="Of this member alone, where folds measured it.")

    @classmethod
    def of(cls, member: Member, temperature: float | None) -> Self:
        """A member as it goes out."""
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

    basis: BasisOut | None = Field(description="Of its kernel; null where that was not recorded.")
    prior: Prior
    likelihood: AnyLikelihood
    functions: int | None = Field(
        description="Functions kept; null for a fit that was given up when its scales were found, being behind then, "
        "and where folds measured it before any were chosen."
    )
    kind: ScoreKind = Field(
        description="What its score is. `fold_log_density`: the mean log density of the folds' rows, in nats a row, by "
        "what was learned without them, as `score` of the version is. `integrated_evidence`: the log evidence with the "
        "hyperparameters integrated out, in nats, beside `integrated_evidence` of the version: 3 more make a model "
        "about 20 times as probable."
    )
    score: float | None = Field(description="Null with a reason. Foretold from some rows for a fit that was given up.")
    reason: str | None = Field(description="Why it could not be learned or measured.")

    @classmethod
    def of(cls, alternative: Alternative, inputs: Sequence[str], noise_column: str | None) -> Self:
        """Return what was not taken as it goes out."""
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
        description="The labels of a classification: false and true, numbers from below, texts by alphabet."
    )
    class_rows: Sequence[records.ClassRows] = Field(
        description="The rows learned from by class, in the order of `classes`: how frequent they are is what "
        "`class_priors` of a prediction change. Empty for numbers, and for versions that are older than this."
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
        description="Of the only member; of several each has its own, and these are null or empty."
    )
    evidence: records.Evidence | None = Field(
        description="Of the only member; null of several, each of which has its own."
    )
    functions: int = Field(description="Functions kept.")
    candidates: int = Field(description="Functions that the fit taken could choose from.")
    rows: int = Field(description="Rows learned from.")
    rows_dropped: int
    rows_held_out: int
    termination: str = Field(description="Why the fit stopped.")
    metrics: Mapping[str, Mapping[str, float]] = Field(
        description="`holdout`: measured on the rows held out, where there are some. `validation`: how the "
        "training rows are predicted by trainings without their fold, unless the effort was `quick` and it was not "
        "asked for (`nll_se` is the standard error of its `nll`, `log_loss_se` of its `log_loss`), over all `rows` "
        "that were measured, each once: a fold whose other rows can't be learned from is passed over, and under "
        "`order` the first stretch is not measured. `leave_one_out`: a diagnostic, how each row learned from is "
        "predicted by all others in closed form, while functions, widths and noise were chosen with it present: it can "
        "flatter much."
    )
    members: Sequence[MemberOut] = Field(
        description="The models that predict together, one or more: processes, or one for each class in the order of "
        "`classes`."
    )
    score: records.Score | None = Field(
        description="By whole trainings on other rows, all choices repeated: what to expect of new rows. Of several "
        "processes it is measured before their reduction to few functions, which costs `score_loss`, but where that is "
        "more than `max_score_loss` it is measured after it. Null in versions that are older than this."
    )
    integrated_evidence: float | None = Field(
        description="The log evidence with the hyperparameters integrated out, in nats, where fits were compared by it."
    )
    alternatives: Sequence[AlternativeOut] = Field(
        description="What was compared and not taken. Another likelihood is taken by evidence where it is better by a "
        "tenth of a nat for each row, another model in the place of several by folds where its score is better by more "
        "than two standard errors, at a root mean square error of at most 1.1 times theirs."
    )
    max_score_loss: float = Field(
        description="What was asked for: nats a row that a pool's reduction to few functions may cost. More is lost "
        "where a prediction by more functions would take too long."
    )
    unreduced_functions: int | None = Field(
        description="Functions of the whole before it was reduced, one for each row and process, to which `score` "
        "belongs where `score_loss` is at most `max_score_loss`; null where nothing was reduced."
    )
    score_loss: float | None = Field(
        description="What keeping few functions costs of the score, in nats a row: up to `max_score_loss` as it is "
        "estimated, above as it is measured by folds, whose `metrics.validation` is then of what is kept. Null where "
        "nothing was reduced."
    )
    outliers: Sequence[records.Outlier] = Field(
        description="Under `student_t`, the rows that count less than a quarter of an ordinary one: the least typical "
        "first, at most 100. Empty under other likelihoods."
    )
    warnings: Sequence[records.TrainingWarning] = Field(
        description="What was left out, and what could not be done as planned; empty where nothing was."
    )
    local: records.LocalReport | None = Field(
        description="The comparison with nearest-neighbour processes; null where there was none. Where one was taken "
        "it is the only member, `functions` are those of the sparse model of whose residuals it is, and `score` and "
        "`metrics.validation` are of the rows kept apart."
    )
    dataset: DatasetName
    seconds: float
    software_version: str
    imported: ImportedFrom | None = Field(
        description="Null for what was trained here; else all figures are those of where it was."
    )

    @classmethod
    def of(cls, version: Version, report: SupervisedReport) -> Self:
        """A version with this report as it goes out."""
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
            "max_score_loss": plan.max_score_loss,
            "unreduced_functions": report.unreduced_functions,
            "score_loss": report.score_loss,
            "outliers": report.outliers,
            "warnings": report.warnings,
            "local": report.local,
            "imported": imported_record(report),
        }
        return cls.model_validate(shared_by_versions(version) | own)
