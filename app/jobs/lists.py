"""The query parameters of lists of jobs."""

from uuid import UUID

from pydantic import Field

from app.http.lists import ListQuery
from app.jobs.records import JobFilter
from relevance_bayes.types.jobs import JobKind, JobState
from relevance_bayes.types.references import MAX_NUMBER


class StateQuery(ListQuery):
    """Jobs by how far they are."""

    state: JobState | None = Field(None, description="Only those in this state.")


class JobsQuery(StateQuery):
    """Jobs by what they need."""

    model: str | None = Field(None, description="Only those that make, or use, versions of this model.")
    dataset_id: UUID | None = Field(None, description="Only those that learn from this dataset, or predict for it.")

    def which(self, kind: JobKind) -> JobFilter:
        """As the service has it."""
        return JobFilter(kind, self.state, self.model, dataset_id=self.dataset_id)


class ScoringsQuery(JobsQuery):
    """Jobs each of which uses a version of a model."""

    version: int | None = Field(None, ge=1, le=MAX_NUMBER, description="Only those that use this number.")

    def which(self, kind: JobKind) -> JobFilter:
        """As the service has it."""
        return JobFilter(kind, self.state, self.model, self.version, self.dataset_id)
