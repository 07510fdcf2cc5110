"""Which version is to be put beside the rows of which dataset."""

from uuid import UUID

from pydantic import ConfigDict, Field, TypeAdapter

from app.api.schemas.requests.compare import VersionSelector
from app.api.schemas.requests.shared import JobIn
from app.domain.requests import EvaluationRequest


class ScoringJobIn(JobIn):
    """A version and a dataset that go together."""

    dataset_id: UUID = Field(description="Of a dataset with the columns that the version reads, of the same kinds.")
    model: str
    version: VersionSelector | None = Field(
        None, description="A number, or an alias, for the version to which it points now. The newest where left out."
    )


class EvaluationIn(ScoringJobIn):
    """How good are a version's predictions for a dataset, which has the target too?"""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"model": "kiosk", "version": "champion", "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f"}
        }
    )

    def to_request(self) -> EvaluationRequest:
        """As the domain has it."""
        return EvaluationRequest(self.dataset_id, self.model, self.version)


EVALUATION_IN: TypeAdapter[EvaluationIn] = TypeAdapter(EvaluationIn)
