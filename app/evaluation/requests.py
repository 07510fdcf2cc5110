"""A version and the rows of a dataset: what is asked for, and what it was resolved to."""

from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from app.prediction.requests import PredictionPlan, PredictionRequest
from relevance_bayes.plans.requests.supervised import Task
from relevance_bayes.types.evaluations import Metric
from relevance_bayes.types.promotions import Criterion
from relevance_bayes.types.references import Selector


@dataclass(frozen=True)
class EvaluationRequest:
    """A request for an evaluation on a dataset that has the target; None is the newest version."""

    dataset_id: UUID
    model: str
    version: Selector = None
    kind: Literal["evaluation"] = "evaluation"


@dataclass(frozen=True)
class EvaluationPlan:
    """The request resolved to the number of a version, which predicts `target`."""

    model: str
    version: int
    task: Task
    target: str
    kind: Literal["evaluation"] = "evaluation"


@dataclass(frozen=True)
class PromotionRequest:
    """Point `alias` to a version, the challenger, if it is better on a dataset than the one to which it points.

    Its `metric`, None for the usual one, has to be better by more than `margin`: the lower end of the 95 % interval of
    that difference, or the `estimate` alone. Rows of one value in the column `groups` depend on each other; None for
    the column by which one of the two versions was split. The `seed` has no effect: nothing is drawn.
    """

    dataset_id: UUID
    model: str
    alias: str
    version: Selector = None
    metric: Metric | None = None
    margin: float = 0.0
    criterion: Criterion = "interval"
    seed: int = 0
    groups: str | None = None
    kind: Literal["promotion"] = "promotion"


@dataclass(frozen=True)
class PromotionPlan:
    """The request resolved: the challenger's number, and that of the alias's `champion` where it has one.

    `groups` is the column whose values say which rows depend on each other, None where each row stands for itself.
    """

    model: str
    version: int
    alias: str
    champion: int | None
    task: Task
    target: str
    metric: Metric
    margin: float
    criterion: Criterion
    seed: int
    groups: str | None = None
    kind: Literal["promotion"] = "promotion"


JudgingRequest: TypeAlias = EvaluationRequest | PromotionRequest
"""Of what puts predictions beside what came."""

JudgingPlan: TypeAlias = EvaluationPlan | PromotionPlan

ScoringRequest: TypeAlias = JudgingRequest | PredictionRequest
ScoringPlan: TypeAlias = JudgingPlan | PredictionPlan


def scored(plan: ScoringPlan) -> tuple[int, ...]:
    """The numbers of the versions that are asked: first the one that it is about."""
    match plan:
        case PromotionPlan(champion=int(champion)):
            return plan.version, champion
        case EvaluationPlan() | PromotionPlan() | PredictionPlan():
            return (plan.version,)
