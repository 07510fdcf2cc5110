"""Whether a version took an alias from the one to which it pointed."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    NumberDiagnostics,
    NumberMetrics,
)
from relevance_bayes.types.promotions import PromotionResult


@dataclass(frozen=True, kw_only=True)
class PromotionBase(JobBase):
    """What is compared, and how; `champion` is the version to which the alias pointed."""

    target: str
    alias: str
    champion: int | None
    metric: str
    margin: float
    criterion: str
    seed: int
    groups: str | None = None


@dataclass(frozen=True, kw_only=True)
class NumbersPromotion(PromotionBase):
    """Of versions that predict numbers."""

    task: Literal["regression"] = "regression"
    result: PromotionResult[NumberMetrics, NumberDiagnostics] | None


@dataclass(frozen=True, kw_only=True)
class ClassesPromotion(PromotionBase):
    """Of versions that predict classes."""

    task: Literal["classification"] = "classification"
    result: PromotionResult[ClassMetrics, ClassDiagnostics] | None


Promotion: TypeAlias = Annotated[NumbersPromotion | ClassesPromotion, OneOf("task")]
