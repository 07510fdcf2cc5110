"""Evaluations and promotions as jobs: their forms, results and responses."""

from dataclasses import replace

from pydantic import TypeAdapter

from app.database.base import Document
from app.evaluation.planning import EvaluationPlan, PromotionPlan
from app.jobs.forms import JobForm
from app.jobs.records import Job
from app.jobs.schemas import shared_by_jobs
from relevance_bayes.records.evaluations import AnyEvaluationResult, Evaluation, EvaluationRequest
from relevance_bayes.records.promotions import AnyPromotionResult, Promotion, PromotionOptions, PromotionRequest

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
