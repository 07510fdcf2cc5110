"""The row of a job that is submitted."""

from app.jobs.records import Job
from app.jobs.tables import TrainingJobRow


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
        of_version=job.scored[0] if job.scored else None,
        rival_version=job.scored[1] if len(job.scored) > 1 else None,
        priority=job.priority,
        retry_of=job.retry_of,
        events=1,
    )
