"""The reports and predictors of versions, one of each for a kind of task."""

from typing import TypeAlias

from relevance_bayes.documents.models.approximation import ApproximationPredictor, ApproximationReport
from relevance_bayes.documents.models.components import COMPONENTS_REPORTED, ComponentsPredictor, ComponentsReport
from relevance_bayes.documents.models.image import ImagePredictor, ImageReport
from relevance_bayes.documents.models.supervised import (
    Alternative,
    Hyperparameters,
    Member,
    ScoreKind,
    SupervisedPredictor,
    SupervisedReport,
)

VersionReport: TypeAlias = SupervisedReport | ApproximationReport | ImageReport | ComponentsReport
Predictor: TypeAlias = SupervisedPredictor | ApproximationPredictor | ImagePredictor | ComponentsPredictor

__all__ = [
    "COMPONENTS_REPORTED",
    "Alternative",
    "ApproximationPredictor",
    "ApproximationReport",
    "ComponentsPredictor",
    "ComponentsReport",
    "Hyperparameters",
    "ImagePredictor",
    "ImageReport",
    "Member",
    "Predictor",
    "ScoreKind",
    "SupervisedPredictor",
    "SupervisedReport",
    "VersionReport",
]
