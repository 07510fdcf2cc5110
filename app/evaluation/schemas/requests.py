"""The API's schemas of requests for evaluations and promotions."""

from uuid import UUID

from pydantic import ConfigDict, Field, TypeAdapter

from app.evaluation.requests import EvaluationRequest, PromotionRequest
from app.jobs.schemas import JobIn, VersionSelector
from relevance_bayes.types.evaluations import Metric
from relevance_bayes.types.promotions import Criterion


class ScoringJobIn(JobIn):
    """A version and a dataset that has its columns."""

    dataset_id: UUID = Field(description="A dataset with the input columns of the version, of the same kinds.")
    version: VersionSelector | None = Field(
        None, description="The version's number, or an alias, resolved now. Default: the newest."
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
        """Return the request as the service's record."""
        return EvaluationRequest(self.dataset_id, self.model, self.version)


class PromotionIn(ScoringJobIn):
    """A promotion: the alias moves to a version, the challenger, if it is better than the current one on a dataset."""

    metric: Metric | None = Field(
        None,
        description="The compared metric, lower is better: `rmse` (the default), `mae` or `nll` of numbers, "
        "`log_loss` (the default), `brier` or `error` of classes.",
    )
    margin: float = Field(
        0.0, ge=0.0, allow_inf_nan=False, description="The improvement that the challenger has to exceed."
    )
    criterion: Criterion = Field(
        "interval",
        description="The figure that has to exceed the margin: the lower end of the 95 % interval, or the estimate.",
    )
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Has no effect: the interval is not random.")
    groups: str | None = Field(
        None,
        description="The column whose values identify rows that belong together (patient, machine): the comparison is "
        "then between groups. Default: the column by which the challenger, or else the champion, was split, if the "
        "dataset has it.",
    )

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"version": "challenger", "dataset_id": "01a20411-6a2e-7c58-9f0b-5b7c1a2d3e4f", "metric": "nll"}
        }
    )

    def to_request(self, model: str, alias: str) -> PromotionRequest:
        """Return the request as the service's record."""
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
