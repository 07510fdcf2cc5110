"""A version and the rows of a dataset: what is asked for, and what it was resolved to."""

from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from app.domain.references import Selector
from app.domain.requests.supervised import Task


@dataclass(frozen=True)
class EvaluationRequest:
    """How good a version's predictions are on a dataset that has the target too; None is the newest version."""

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


ScoringRequest: TypeAlias = EvaluationRequest
ScoringPlan: TypeAlias = EvaluationPlan


def scored(plan: ScoringPlan) -> tuple[int, ...]:
    """The numbers of the versions that are asked: first the one that it is about."""
    return (plan.version,)
