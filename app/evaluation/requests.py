"""Requests for evaluations and promotions, and their plans."""

from dataclasses import dataclass
from typing import Literal, TypeAlias
from uuid import UUID

from relevance_bayes.plans.requests.supervised import Task
from relevance_bayes.types.evaluations import Metric
from relevance_bayes.types.promotions import Criterion
from relevance_bayes.types.references import Selector


@dataclass(frozen=True)
class EvaluationRequest:
    """A request for an evaluation on a dataset that has the target; the version None is the newest one."""

    dataset_id: UUID
    model: str
    version: Selector = None
    kind: Literal["evaluation"] = "evaluation"


@dataclass(frozen=True)
class EvaluationPlan:
    """An evaluation request, resolved to the number of a version, which predicts `target`."""

    model: str
    version: int
    task: Task
    target: str
    kind: Literal["evaluation"] = "evaluation"


@dataclass(frozen=True)
class PromotionRequest:
    """A request to point `alias` to a version, the challenger, if it is better on a dataset than the current version.

    Its `metric`, None for the default, has to be better by more than `margin`: the lower end of the 95 % interval of
    the difference, or the `estimate` alone. Rows with one value in the column `groups` depend on each other; None for
    the column by which one of the two versions was split. The `seed` has no effect: nothing is random.
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
    """A promotion request, resolved to the challenger's number and the alias's `champion`, None without one.

    `groups` is the column whose values identify dependent rows, None where rows are independent.
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
"""The requests for jobs that compare predictions with the target."""
