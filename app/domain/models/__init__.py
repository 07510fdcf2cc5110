"""Models: what a training leaves, for each kind of task a report and a predictor, kept as versions of a name."""

from app.domain.models.approximation import ApproximationPredictor, ApproximationReport, TermsError
from app.domain.models.components import COMPONENTS_TOLD, ComponentsPredictor, ComponentsReport
from app.domain.models.image import ImagePredictor, ImageReport
from app.domain.models.imported import ImportedFrom
from app.domain.models.supervised import (
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
from app.domain.models.vectors import ClassWeight, FunctionName, InputShape, ListedFunction, RelevanceVector
from app.domain.models.versions import (
    Learned,
    Model,
    NewApproximationVersion,
    NewComponentsVersion,
    NewImageVersion,
    NewSupervisedVersion,
    NewVersion,
    Predictor,
    Version,
    VersionReport,
)

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
    "Learned",
    "ListedFunction",
    "Member",
    "Model",
    "NewApproximationVersion",
    "NewComponentsVersion",
    "NewImageVersion",
    "NewSupervisedVersion",
    "NewVersion",
    "Outlier",
    "Predictor",
    "RelevanceVector",
    "Score",
    "ScoreKind",
    "SupervisedPredictor",
    "SupervisedReport",
    "TermsError",
    "TrainingWarning",
    "Version",
    "VersionReport",
]
