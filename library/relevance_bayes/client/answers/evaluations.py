"""How good a version's predictions for a dataset are."""

from typing import TypeAlias

from relevance_bayes.client.answers.jobs import JobBase
from relevance_bayes.types.evaluations import (
    ClassDiagnostics,
    ClassMetrics,
    EvaluationResult,
    NumberDiagnostics,
    NumberMetrics,
)


class NumbersEvaluation(JobBase, frozen=True, kw_only=True, tag="regression"):
    """How good predictions of numbers are; `result` once it succeeded."""

    target: str
    result: EvaluationResult[NumberMetrics, NumberDiagnostics] | None


class ClassesEvaluation(JobBase, frozen=True, kw_only=True, tag="classification"):
    """How good predictions of classes are; `result` once it succeeded."""

    target: str
    result: EvaluationResult[ClassMetrics, ClassDiagnostics] | None


Evaluation: TypeAlias = NumbersEvaluation | ClassesEvaluation
