"""Models: what a training leaves, for each kind of task a report and a predictor, kept as versions of a name."""

from app.domain.models.supervised import (
    ClassRows,
    Contender,
    InputTerm,
    InputWarp,
    InputWidth,
    Outlier,
    SupervisedPredictor,
    SupervisedReport,
)
from app.domain.models.vectors import ClassWeight, InputShape, RelevanceVector
from app.domain.models.versions import Model, NewVersion, Predictor, Version, VersionReport

__all__ = [
    "ClassRows",
    "ClassWeight",
    "Contender",
    "InputShape",
    "InputTerm",
    "InputWarp",
    "InputWidth",
    "Model",
    "NewVersion",
    "Outlier",
    "Predictor",
    "RelevanceVector",
    "SupervisedPredictor",
    "SupervisedReport",
    "Version",
    "VersionReport",
]
