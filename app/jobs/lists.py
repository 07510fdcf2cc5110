"""The query parameters of lists of jobs."""

from uuid import UUID

from pydantic import Field

from app.http.lists import ListQuery
from app.jobs.records import JobFilter
from relevance_bayes.types.jobs import JobKind, JobState
from relevance_bayes.types.references import MAX_NUMBER


class StateQuery(ListQuery):
    """The query parameters of a list of jobs, filtered by state."""

    state: JobState | None = Field(None, description="Return only jobs in this state.")


class JobsQuery(StateQuery):
    """The query parameters of a list of jobs, filtered by state, model and dataset."""

    model: str | None = Field(None, description="Return only jobs that make, or use, versions of this model.")
    dataset_id: UUID | None = Field(None, description="Return only jobs that read this dataset.")

    def which(self, kind: JobKind) -> JobFilter:
        """Return the filter of these parameters."""
        return JobFilter(kind, self.state, self.model, dataset_id=self.dataset_id)


class ScoringsQuery(JobsQuery):
    """The query parameters of a list of jobs that use a version of a model."""

    version: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Return only jobs that use this version number.")

    def which(self, kind: JobKind) -> JobFilter:
        """Return the filter of these parameters."""
        return JobFilter(kind, self.state, self.model, self.version, self.dataset_id)
