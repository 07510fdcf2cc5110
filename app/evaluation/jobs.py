"""Evaluations and promotions as jobs: their requests, plans and results as JSON."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Discriminator, TypeAdapter

from app.database.json_documents import Document
from app.evaluation.promotion_results import Promotion
from app.evaluation.requests import (
    EvaluationPlan,
    EvaluationRequest,
    JudgingPlan,
    JudgingRequest,
    PromotionPlan,
    PromotionRequest,
    scored,
)
from app.evaluation.results import Evaluation
from app.jobs.records import Job, queued, wrong_kind

BY_KIND = Discriminator("kind")
REQUEST: Document[JudgingRequest] = Document(TypeAdapter(Annotated[JudgingRequest, BY_KIND]))
PLAN: Document[JudgingPlan] = Document(TypeAdapter(Annotated[JudgingPlan, BY_KIND]))
EVALUATION = Document(TypeAdapter(Evaluation))
PROMOTION = Document(TypeAdapter(Promotion))


def queued_judging(
    owner: str,
    request: JudgingRequest,
    plan: JudgingPlan,
    *,
    at: datetime,
    priority: int = 0,
    retry_of: UUID | None = None,
) -> Job:
    """Return a new evaluation or promotion."""
    return queued(
        owner,
        plan.kind,
        dataset_id=request.dataset_id,
        for_model=plan.model,
        request=REQUEST.write(request),
        plan=PLAN.write(plan),
        at=at,
        scored=scored(plan),
        priority=priority,
        retry_of=retry_of,
    )


def judging_of(job: Job) -> tuple[JudgingRequest, JudgingPlan]:
    """Return the request and the plan of an evaluation or a promotion; raises TypeError for a job of another kind."""
    if job.kind not in ("evaluation", "promotion"):
        raise wrong_kind(job, "an evaluation or a promotion")
    return REQUEST.read(job.request), PLAN.read(job.plan)


def evaluation_of(job: Job) -> tuple[EvaluationRequest, EvaluationPlan]:
    """Return the request and the plan of an evaluation; raises TypeError for a job of another kind."""
    if job.kind == "evaluation":
        request, plan = judging_of(job)
        if isinstance(request, EvaluationRequest) and isinstance(plan, EvaluationPlan):
            return request, plan
    raise wrong_kind(job, "an evaluation")


def promotion_of(job: Job) -> tuple[PromotionRequest, PromotionPlan]:
    """Return the request and the plan of a promotion; raises TypeError for a job of another kind."""
    if job.kind == "promotion":
        request, plan = judging_of(job)
        if isinstance(request, PromotionRequest) and isinstance(plan, PromotionPlan):
            return request, plan
    raise wrong_kind(job, "a promotion")


def evaluation_result_of(job: Job) -> Evaluation | None:
    """Return the result of an evaluation; None where it has not succeeded."""
    return None if job.result is None else EVALUATION.read(job.result)


def promotion_result_of(job: Job) -> Promotion | None:
    """Return the result of a promotion; None where it has not succeeded."""
    return None if job.result is None else PROMOTION.read(job.result)
