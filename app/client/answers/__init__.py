"""What the service answers, as frozen values. Names and shapes are the API's; numbers are in the user's units."""

from app.client.answers.datasets import Category, Choice, Column, Dataset, Json, Slice
from app.client.answers.jobs import Event, Ignored, Input, Progress, Rival, TrainingJob, Transition, VersionName
from app.client.answers.models import (
    ClassWeight,
    Contender,
    DatasetName,
    Hyperparameters,
    InputWarp,
    InputWidth,
    Model,
    Outlier,
    RelevanceVector,
    Version,
)
from app.client.answers.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Latent,
    Prediction,
    Predictions,
    Variance,
)

__all__ = [
    "Category",
    "Choice",
    "ClassLatent",
    "ClassProbability",
    "ClassWeight",
    "Column",
    "Contender",
    "Contribution",
    "Dataset",
    "DatasetName",
    "Event",
    "Hyperparameters",
    "Ignored",
    "Input",
    "InputWarp",
    "InputWidth",
    "Json",
    "Latent",
    "Model",
    "Outlier",
    "Prediction",
    "Predictions",
    "Progress",
    "RelevanceVector",
    "Rival",
    "Slice",
    "TrainingJob",
    "Transition",
    "Variance",
    "Version",
    "VersionName",
]
