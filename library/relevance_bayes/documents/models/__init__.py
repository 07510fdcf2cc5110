"""What a training leaves: for each kind of task a report and a predictor."""

from typing import TypeAlias

from relevance_bayes.documents.models.approximation import ApproximationPredictor, ApproximationReport, TermsError
from relevance_bayes.documents.models.components import COMPONENTS_TOLD, ComponentsPredictor, ComponentsReport
from relevance_bayes.documents.models.image import ImagePredictor, ImageReport
from relevance_bayes.documents.models.imported import ImportedFrom
from relevance_bayes.documents.models.supervised import (
    Alternative,
    ClassRows,
    Hyperparameters,
    InputTerm,
    InputWarp,
    InputWidth,
    Member,
    Outlier,
    Score,
    ScoreKind,
    SupervisedPredictor,
    SupervisedReport,
    TrainingWarning,
)
from relevance_bayes.documents.models.vectors import (
    ClassWeight,
    FunctionName,
    InputShape,
    ListedFunction,
    RelevanceVector,
)

VersionReport: TypeAlias = SupervisedReport | ApproximationReport | ImageReport | ComponentsReport
Predictor: TypeAlias = SupervisedPredictor | ApproximationPredictor | ImagePredictor | ComponentsPredictor

__all__ = [
    "COMPONENTS_TOLD",
    "Alternative",
    "ApproximationPredictor",
    "ApproximationReport",
    "ClassRows",
    "ClassWeight",
    "ComponentsPredictor",
    "ComponentsReport",
    "FunctionName",
    "Hyperparameters",
    "ImagePredictor",
    "ImageReport",
    "ImportedFrom",
    "InputShape",
    "InputTerm",
    "InputWarp",
    "InputWidth",
    "ListedFunction",
    "Member",
    "Outlier",
    "Predictor",
    "RelevanceVector",
    "Score",
    "ScoreKind",
    "SupervisedPredictor",
    "SupervisedReport",
    "TermsError",
    "TrainingWarning",
    "VersionReport",
]
