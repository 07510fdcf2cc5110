"""Which version is to be put beside the rows of which dataset."""

from uuid import UUID

from pydantic import ConfigDict, Field, TypeAdapter

from app.evaluation.requests import EvaluationRequest, PromotionRequest
from app.jobs.request_schemas import JobIn, VersionSelector
from relevance_bayes.types.evaluations import Metric
from relevance_bayes.types.promotions import Criterion


class ScoringJobIn(JobIn):
    """A version and a dataset that go together."""

    dataset_id: UUID = Field(description="Of a dataset with the columns that the version reads, of the same kinds.")
    version: VersionSelector | None = Field(
        None, description="A number, or an alias, for the version to which it points now. The newest where left out."
    )


class EvaluationIn(ScoringJobIn):
    """An evaluation of a version on a dataset that has the target."""

    model: str

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"model": "kiosk", "version": "champion", "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f"}
        }
    )

    def to_request(self) -> EvaluationRequest:
        """As the domain has it."""
        return EvaluationRequest(self.dataset_id, self.model, self.version)


class PromotionIn(ScoringJobIn):
    """Is a version, the challenger, better on a dataset than the one to which an alias points?"""

    metric: Metric | None = Field(
        None,
        description="What is compared, the less the better: `rmse` (the default), `mae` or `nll` of numbers, "
        "`log_loss` (the default), `brier` or `error` of classes.",
    )
    margin: float = Field(
        0.0, ge=0.0, allow_inf_nan=False, description="By how much more than nothing the challenger has to be better."
    )
    criterion: Criterion = Field(
        "interval",
        description="What has to be above the margin: the lower end of the improvement's 95 % interval, or itself.",
    )
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Has no effect: the interval needs no draws.")
    groups: str | None = Field(
        None,
        description="The column whose values say which rows belong together (patient, machine): the comparison is then "
        "of groups. Where left out, the column by which the challenger, or else the holder, was split, if the dataset "
        "has it.",
    )

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"version": "challenger", "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f", "metric": "nll"}
        }
    )

    def to_request(self, model: str, alias: str) -> PromotionRequest:
        """As the domain has it."""
        return PromotionRequest(
            self.dataset_id,
            model,
            alias,
            self.version,
            self.metric,
            self.margin,
            self.criterion,
            self.seed,
            self.groups,
        )


EVALUATION_IN: TypeAdapter[EvaluationIn] = TypeAdapter(EvaluationIn)
PROMOTION_IN: TypeAdapter[PromotionIn] = TypeAdapter(PromotionIn)
