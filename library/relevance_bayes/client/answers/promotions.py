"""Whether a version took an alias from the one to which it pointed."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from relevance_bayes.client.answers.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)
from relevance_bayes.client.answers.jobs import JobBase

M = TypeVar("M")
P = TypeVar("P")


@dataclass(frozen=True)
class Improvement:
    """The metric of both on the same rows; `estimate`, with its 95 % interval, is by how much the challenger's is less.

    None where there is no row to tell it by. `groups` are those of the rows, `effective_groups` as many of equal size;
    None where each row stands for itself.
    """

    metric: str
    rows: int
    rows_without_loss: int
    champion: float | None
    challenger: float | None
    estimate: float | None
    lower: float | None
    upper: float | None
    groups: int | None = None
    effective_groups: float | None = None


@dataclass(frozen=True)
class PromotionResult(Generic[M, P]):
    """Whether the alias moved, and why; `champion` and `improvement` are None where it pointed nowhere.

    `rows_seen_in_training` are those that one of both was trained on, which no figure counts.
    """

    moved: bool
    reason: str
    improvement: Improvement | None
    rows_without_challenger_loss: int
    challenger: EvaluationResult[M, P]
    champion: EvaluationResult[M, P] | None
    rows_seen_in_training: int | None = None


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
