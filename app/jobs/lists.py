"""The query parameters of lists of jobs."""

from uuid import UUID

from pydantic import Field

from app.http.lists import ListQuery
from app.jobs.records import JobFilter
from relevance_bayes.types.jobs import JobKind, JobState
from relevance_bayes.types.references import MAX_NUMBER


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


class ScoringsQuery(JobsQuery):
    """Filters of jobs that use a version of a model."""

    version: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Only jobs that use this version.")

    def which(self, kind: JobKind) -> JobFilter:
        """Return the filter for the service."""
        return JobFilter(kind, self.state, self.model, self.version, self.dataset_id)
