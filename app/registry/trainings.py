"""Trainings, the jobs that add versions to models, with their requests and plans as JSON."""

from datetime import datetime
from uuid import UUID

from pydantic import TypeAdapter

from app.database.json_documents import Document
from app.jobs.records import Job, queued, wrong_kind
from relevance_bayes.plans.requests import TrainingPlan, TrainingRequest

REQUEST = Document(TypeAdapter(TrainingRequest))
PLAN = Document(TypeAdapter(TrainingPlan))


def queued_training(
    owner: str,
    request: TrainingRequest,
    plan: TrainingPlan,
    *,
    at: datetime,
    priority: int = 0,
    retry_of: UUID | None = None,
) -> Job:
    """Return a new training."""
    return queued(
        owner,
        "training",
        dataset_id=request.dataset_id,
        for_model=plan.model,
        request=REQUEST.write(request),
        plan=PLAN.write(plan),
        at=at,
        priority=priority,
        retry_of=retry_of,
    )


def training_of(job: Job) -> tuple[TrainingRequest, TrainingPlan]:
    """Return the request and the plan of a training; raises TypeError for a job of another kind."""
    if job.kind != "training":
        raise wrong_kind(job, "a training")
    return REQUEST.read(job.request), PLAN.read(job.plan)
