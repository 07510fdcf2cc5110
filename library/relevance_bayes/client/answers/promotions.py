"""Whether a version took an alias from the one to which it pointed."""

from typing import TypeAlias

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    NumberDiagnostics,
    NumberMetrics,
)
from relevance_bayes.types.promotions import PromotionResult


class PromotionBase(JobBase, frozen=True, kw_only=True):
    """What is compared, and how; `champion` is the version to which the alias pointed."""

    target: str
    alias: str
    champion: int | None
    metric: str
    margin: float
    criterion: str
    seed: int
    groups: str | None = None


class NumbersPromotion(PromotionBase, frozen=True, kw_only=True, tag="regression"):
    """Of versions that predict numbers."""

    result: PromotionResult[NumberMetrics, NumberDiagnostics] | None


class ClassesPromotion(PromotionBase, frozen=True, kw_only=True, tag="classification"):
    """Of versions that predict classes."""

    result: PromotionResult[ClassMetrics, ClassDiagnostics] | None


Promotion: TypeAlias = NumbersPromotion | ClassesPromotion
