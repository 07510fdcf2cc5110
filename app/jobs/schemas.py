"""Members of requests for jobs, query parameters of lists of jobs, and members of jobs of all kinds."""

from collections.abc import Callable
from inspect import signature
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from app.http.idempotency_records import StoredResponse
from app.http.lists import ListQuery
from app.http.negotiation import to_json
from app.http.problems import ProblemKind
from app.jobs.records import Job, JobFailure, JobFilter
from relevance_bayes.records.jobs import JobBase, JobKind, JobProblem, JobState, JobSummary, VersionName
from relevance_bayes.records.models import MAX_NUMBER

POSITION_PATTERN = "^(0|[0-9a-f]{16}-[1-9][0-9]{0,17})$"
"""The text of a position among the changes of jobs."""


class StateQuery(ListQuery):
    """Filters of jobs by state."""

    state: JobState | None = Field(None, description="Only jobs in this state.")


class JobsQuery(StateQuery):
    """Filters of jobs by model and dataset."""

    model: str | None = Field(None, description="Only jobs that create or use versions of this model.")
    dataset_id: UUID | None = Field(None, description="Only jobs that train on this dataset, or predict for it.")

    def which(self, kind: JobKind) -> JobFilter:
        """Return the filter for the service."""
        return JobFilter(kind, self.state, self.model, dataset_id=self.dataset_id)


class AllJobsQuery(JobsQuery):
    """Filters of jobs of all kinds."""

    kind: JobKind | None = Field(None, description="Only jobs of this kind.")
    counts: bool = Field(False, description="Also count the jobs in each state.")

    @property
    def filter(self) -> JobFilter:
        """Return the filter for the service."""
        return JobFilter(self.kind, self.state, self.model, dataset_id=self.dataset_id)


class JobChangesQuery(BaseModel):
    """Filters of changes of jobs of all kinds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: str | None = Field(
        None,
        pattern=POSITION_PATTERN,
        description="`last_change` of a page, or 0 for all known changes; without it, changes from now on.",
    )
    kind: JobKind | None = Field(None, description="Only jobs of this kind.")
    model: str | None = Field(None, description="Only jobs that create or use versions of this model.")
    dataset_id: UUID | None = Field(None, description="Only jobs that train on this dataset, or predict for it.")

    @property
    def filter(self) -> JobFilter:
        """Return the filter for the service."""
        return JobFilter(self.kind, model=self.model, dataset_id=self.dataset_id)


class ScoringsQuery(JobsQuery):
    """Filters of jobs that use a version of a model."""

    version: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Only jobs that use this version.")

    def which(self, kind: JobKind) -> JobFilter:
        """Return the filter for the service."""
        return JobFilter(kind, self.state, self.model, self.version, self.dataset_id)


def job_summary(job: Job) -> JobSummary:
    """Return the summary of a job of any kind."""
    return _SUMMARY.validate_python({**shared_by_jobs(job), "kind": job.kind, "path": job.path})


_SUMMARY: TypeAdapter[JobSummary] = TypeAdapter(JobSummary)


_SAME = tuple({*signature(JobBase).parameters} & {*signature(Job).parameters})
"""The names of the members that the job of the API has in common with the stored one."""


def shared_by_jobs(job: Job) -> dict[str, object]:
    """Return the members of `JobBase`."""
    return {name: getattr(job, name) for name in _SAME} | {
        "id": str(job.id),
        "resumed_from": job.resumed_from,
        "version": None if job.number is None else VersionName(model=job.model or job.for_model, version=job.number),
        "error": None if job.error is None else _job_problem(job, job.error),
        "dataset_id": str(job.dataset_id),
        "model": job.for_model,
        "retry_of": None if job.retry_of is None else str(job.retry_of),
    }


def _job_problem(job: Job, problem: JobFailure) -> JobProblem:
    return JobProblem(
        type=ProblemKind(422, problem.kind, problem.title).type,
        title=problem.title,
        detail=problem.detail,
        instance=job.path,
        errors=tuple(problem.faults),
    )


def queued_response(record_of: Callable[[Job], JobBase], job: Job) -> StoredResponse:
    """Return the response to the submission of a job: its record, and its path as `Location`."""
    return StoredResponse(202, (("Location", job.path), ("Content-Type", "application/json")), to_json(record_of(job)))
