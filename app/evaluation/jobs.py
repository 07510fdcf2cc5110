"""Evaluations and promotions as jobs: their plans, forms, results and responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from app.database.base import Document
from app.datasets.records import Dataset
from app.errors import ConflictError
from app.evaluation.metrics.losses import CLASS_METRICS, NUMBER_METRICS
from app.jobs.forms import JobForm
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from app.prediction.dataset_rows import VersionPlan, refuse_unfit
from app.registry.records import Version
from relevance_bayes.records.errors import Fault, InvalidRequestError
from relevance_bayes.records.evaluations import (
    AnyEvaluationResult,
    AnyPromotionResult,
    Evaluation,
    EvaluationRequest,
    Metric,
    Promotion,
    PromotionOptions,
    PromotionRequest,
)
from relevance_bayes.records.values import Task
from relevance_bayes.tasks.supervised.report import SupervisedReport
from relevance_bayes.tasks.supervised.request import GroupSplit

USUAL: Mapping[Task, Metric] = {"regression": "rmse", "classification": "log_loss"}
"""The default metrics of promotions."""


@dataclass(frozen=True)
class EvaluationPlan(VersionPlan):
    """The version that an evaluation is about, which predicts `target`."""

    task: Task
    target: str


@dataclass(frozen=True)
class PromotionPlan(EvaluationPlan):
    """The challenger, the alias and the number of its `champion`, None without one, and the compared metric.

    `groups` is the column whose values identify dependent rows, None where rows are independent.
    """

    alias: str
    champion: int | None
    metric: Metric
    groups: str | None


def plan_evaluation(request: EvaluationRequest, version: Version, dataset: Dataset) -> EvaluationPlan:
    """Resolve a request to the version that its reference names now; raises InvalidRequestError with all faults."""
    report = labelled(version, dataset)
    return EvaluationPlan(version.model, version.number, report.task, report.plan.target)


def plan_promotion(
    request: PromotionRequest, version: Version, holder: Version | None, dataset: Dataset
) -> PromotionPlan:
    """Resolve a request to versions; raises InvalidRequestError, ConflictError where both are the same."""
    if holder is not None and holder.number == version.number:
        detail = f"Alias {request.alias!r} of model {version.model!r} points to version {version.number} already."
        raise ConflictError(detail, [Fault(detail, pointer="/version")])
    report = labelled(version, dataset)
    reports = [report] if holder is None else [report, labelled(holder, dataset)]
    metrics: tuple[Metric, ...] = NUMBER_METRICS if report.task == "regression" else CLASS_METRICS
    metric = USUAL[report.task] if request.metric is None else request.metric
    if metric not in metrics:
        detail = f"Expected a metric of {report.task}, one of {', '.join(metrics)}; got {metric}."
        raise InvalidRequestError(detail, [Fault(detail, pointer="/metric")])
    return PromotionPlan(
        version.model,
        version.number,
        report.task,
        report.plan.target,
        request.alias,
        None if holder is None else holder.number,
        metric,
        _groups(request, reports, dataset),
    )


def _groups(request: PromotionRequest, reports: Sequence[SupervisedReport], dataset: Dataset) -> str | None:
    """Return the column of the groups: the named one, else the first column of the dataset by which a version split."""
    if request.groups is not None:
        if dataset.column(request.groups) is None:
            detail = f"The dataset has no column {request.groups!r}."
            raise InvalidRequestError(detail, [Fault(detail, pointer="/groups")])
        return request.groups
    splits = (report.plan.split for report in reports)
    columns = (split.column for split in splits if isinstance(split, GroupSplit))
    return next((column for column in columns if dataset.column(column) is not None), None)


def labelled(version: Version, dataset: Dataset) -> SupervisedReport:
    """Return the report of a version to be evaluated on a dataset; raises InvalidRequestError."""
    report = version.report
    if not isinstance(report, SupervisedReport):
        detail = f"A model of {report.task} has no target to evaluate: choose a model of numbers or classes."
        raise InvalidRequestError(detail, [Fault(detail, pointer="/model")])
    plan = report.plan
    required = {column.name: column.kind for column in plan.inputs} | {plan.target: plan.target_kind}
    refuse_unfit(required, dataset, optional={} if plan.noise_column is None else {plan.noise_column: "number"})
    return report


EVALUATION = JobForm(
    "evaluation",
    Document(TypeAdapter(EvaluationRequest)),
    Document(TypeAdapter(EvaluationPlan)),
    lambda plan: (plan.version,),
)
EVALUATION_RESULT: Document[AnyEvaluationResult] = Document(TypeAdapter(AnyEvaluationResult))
PROMOTION = JobForm(
    "promotion",
    Document(TypeAdapter(PromotionRequest)),
    Document(TypeAdapter(PromotionPlan)),
    lambda plan: (plan.version,) if plan.champion is None else (plan.version, plan.champion),
)
PROMOTION_RESULT: Document[AnyPromotionResult] = Document(TypeAdapter(AnyPromotionResult))

PROMOTION_OPTIONS: TypeAdapter[PromotionOptions] = TypeAdapter(PromotionOptions)
_EVALUATION: TypeAdapter[Evaluation] = TypeAdapter(Evaluation)
_PROMOTION: TypeAdapter[Promotion] = TypeAdapter(Promotion)


def evaluation_record(job: Job, *, diagnostics: bool = True) -> Evaluation:
    """Return the evaluation of a job, with diagnostics if requested; raises TypeError for a job of another kind."""
    _, plan = EVALUATION.read(job)
    result = EVALUATION_RESULT.read_optional(job.result)
    if result is not None and not diagnostics:
        result = replace(result, diagnostics=None)
    return _EVALUATION.validate_python({**vars(plan), **shared_by_jobs(job), "result": result})


def promotion_record(job: Job, *, diagnostics: bool = True) -> Promotion:
    """Return the promotion of a job, with diagnostics if requested; raises TypeError for a job of another kind."""
    request, plan = PROMOTION.read(job)
    result = PROMOTION_RESULT.read_optional(job.result)
    if result is not None and not diagnostics:
        champion = None if result.champion is None else replace(result.champion, diagnostics=None)
        result = replace(result, challenger=replace(result.challenger, diagnostics=None), champion=champion)
    return _PROMOTION.validate_python({**vars(request), **vars(plan), **shared_by_jobs(job), "result": result})
