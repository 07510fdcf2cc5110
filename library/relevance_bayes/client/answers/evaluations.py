"""How good a version's predictions for a dataset are."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.annotations import OneOf
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)


@dataclass(frozen=True, kw_only=True)
class NumbersEvaluation(JobBase):
    """How good predictions of numbers are; `result` once it succeeded."""

    task: Literal["regression"] = "regression"
    target: str
    result: EvaluationResult[NumberMetrics, NumberDiagnostics] | None


@dataclass(frozen=True, kw_only=True)
class ClassesEvaluation(JobBase):
    """How good predictions of classes are; `result` once it succeeded."""

    task: Literal["classification"] = "classification"
    target: str
    result: EvaluationResult[ClassMetrics, ClassDiagnostics] | None


Evaluation: TypeAlias = Annotated[NumbersEvaluation | ClassesEvaluation, OneOf("task")]
