"""Recording a job that was asked for: what it needs is held till it is there, so that nobody deletes it in between."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.jobs import Job
from app.storage.engine import lock_for_writing
from app.storage.notifier import notify
from app.storage.tables import DatasetRow, JobTransitionRow, ModelRow, ModelVersionRow, TrainingJobRow
from relevance_bayes.types.errors import NotFoundError


def submit(session: Session, job: Job) -> None:
    """Record a queued job; raises NotFoundError when its dataset, or a version that it scores, is gone."""
    lock_for_writing(session.connection())
    # Whoever deletes the dataset locks this row too, and so sees the job, or is seen.
    dataset = select(DatasetRow.id).where(
        DatasetRow.id == job.dataset_id, DatasetRow.owner == job.owner, DatasetRow.state == "ready"
    )
    if session.scalar(dataset.with_for_update(read=True, key_share=True)) is None:
        raise NotFoundError(f"There is no dataset {job.dataset_id}.")
    # So does whoever deletes the model, or one of its versions.
    model = select(ModelRow.id).where(ModelRow.owner == job.owner, ModelRow.name == job.for_model)
    model_id = session.scalar(model.with_for_update(read=True, key_share=True))
    for number in job.scores:
        version = select(ModelVersionRow.id).where(
            ModelVersionRow.model_id == model_id, ModelVersionRow.number == number
        )
        if session.scalar(version) is None:
            raise NotFoundError(f"Model {job.for_model!r} has no version {number}.")
    session.add(row_of(job))
    session.flush()
    session.add(JobTransitionRow(job_id=job.id, number=1, at=job.created_at, state="queued", attempt=0))
    session.flush()
    notify(session, job.id)


def row_of(job: Job) -> TrainingJobRow:
    """The row of a queued job."""
    return TrainingJobRow(
        id=job.id,
        owner=job.owner,
        kind=job.kind,
        state="queued",
        created_at=job.created_at,
        dataset_id=job.dataset_id,
        request=job.request,
        plan=job.plan,
        for_model=job.for_model,
        of_version=job.scores[0] if job.scores else None,
        rival_version=job.scores[1] if len(job.scores) > 1 else None,
        priority=job.priority,
        retry_of=job.retry_of,
        events=1,
    )
