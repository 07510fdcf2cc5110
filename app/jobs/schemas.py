"""The members of jobs of all kinds."""

from app.http.problems import ProblemKind
from app.jobs.records import Job, Problem
from relevance_bayes.types.jobs import JobProblem, VersionName


def shared_by_jobs(job: Job) -> dict[str, object]:
    """Return the members of `JobBase`."""
    return {
        "id": str(job.id),
        "state": job.state,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "cancel_requested_at": job.cancel_requested_at,
        "attempt": job.attempt,
        "resumed_from": job.resumed_from,
        "progress": job.progress,
        "version": None if job.number is None else VersionName(model=job.model or job.for_model, version=job.number),
        "error": None if job.error is None else _job_problem(job, job.error),
        "transitions": job.transitions,
        "dataset_id": str(job.dataset_id),
        "model": job.for_model,
        "priority": job.priority,
        "retry_of": None if job.retry_of is None else str(job.retry_of),
    }


def _job_problem(job: Job, problem: Problem) -> JobProblem:
    return JobProblem(
        type=ProblemKind(422, problem.kind, problem.title).type,
        title=problem.title,
        detail=problem.detail,
        instance=job.path,
        errors=tuple(problem.faults),
    )
