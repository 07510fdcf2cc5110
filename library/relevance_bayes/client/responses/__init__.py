"""Responses of the service as frozen dataclasses. Names and shapes are the API's; numbers are in the user's units."""

from relevance_bayes.client.responses.predictions import Prediction, Predictions
from relevance_bayes.records.choices import Choice
from relevance_bayes.records.datasets import CategoryCount, Column, Dataset, Image
from relevance_bayes.records.pages import Page
from relevance_bayes.records.predictions import (
    ClassLatent,
    ClassProbability,
    Contribution,
    Decision,
    ExplanationSum,
    Latent,
    UnknownCategory,
    Variance,
)
from relevance_bayes.records.trainings import (
    ApproximationJob,
    ClassificationJob,
    ComparedModel,
    ComponentsJob,
    ImageJob,
    Job,
    RegressionJob,
    SupervisedJob,
    TrainingJob,
)
from relevance_bayes.records.values import Json
from relevance_bayes.records.versions import (
    Alternative,
    ApproximationVersion,
    ClassificationVersion,
    ComponentsVersion,
    ImageVersion,
    ImportedVersion,
    Member,
    RegressionVersion,
    SupervisedVersion,
    Version,
    VersionBase,
)

__all__ = [
    "Alternative",
    "ApproximationJob",
    "ApproximationVersion",
    "CategoryCount",
    "Choice",
    "ClassLatent",
    "ClassProbability",
    "ClassificationJob",
    "ClassificationVersion",
    "Column",
    "ComparedModel",
    "ComponentsJob",
    "ComponentsVersion",
    "Contribution",
    "Dataset",
    "Decision",
    "ExplanationSum",
    "Image",
    "ImageJob",
    "ImageVersion",
    "ImportedVersion",
    "Job",
    "Json",
    "Latent",
    "Member",
    "Page",
    "Prediction",
    "Predictions",
    "RegressionJob",
    "RegressionVersion",
    "SupervisedJob",
    "SupervisedVersion",
    "TrainingJob",
    "UnknownCategory",
    "Variance",
    "Version",
    "VersionBase",
]
