"""The result of a fit: a version before it is recorded."""

from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from relevance_bayes.documents.models import (
    ApproximationPredictor,
    ApproximationReport,
    ComponentsPredictor,
    ComponentsReport,
    ImagePredictor,
    ImageReport,
    SupervisedPredictor,
    SupervisedReport,
)
from relevance_bayes.types.functions import RelevanceVector

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)
P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Learned(Generic[R_co, P_co]):
    """The result of a successful fit, which becomes a version and gets its number when it is recorded."""

    report: R_co
    vectors: tuple[RelevanceVector, ...]
    predictor: P_co


NewSupervisedVersion: TypeAlias = Learned[SupervisedReport, SupervisedPredictor]
NewApproximationVersion: TypeAlias = Learned[ApproximationReport, ApproximationPredictor]
NewImageVersion: TypeAlias = Learned[ImageReport, ImagePredictor]
NewComponentsVersion: TypeAlias = Learned[ComponentsReport, ComponentsPredictor]
NewVersion: TypeAlias = NewSupervisedVersion | NewApproximationVersion | NewImageVersion | NewComponentsVersion


def expected(value: object, kind: type[T]) -> T:
    """Return the value as an instance of that class; raises TypeError for another one."""
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value
