"""Requests for trainings and their plans; `task` discriminates them, also in JSON."""

from typing import TypeAlias

from relevance_bayes.plans.requests.approximation import ApproximationPlan, ApproximationRequest
from relevance_bayes.plans.requests.components import ComponentsPlan, ComponentsRequest
from relevance_bayes.plans.requests.image import ImagePlan, ImageRequest
from relevance_bayes.plans.requests.supervised import (
    MAX_FOLDS,
    MAX_SCORE_LOSSES,
    MIN_FOLDS,
    AutomaticLocal,
    AutomaticPrior,
    BasisChoice,
    Budget,
    Dates,
    Effort,
    GroupChoice,
    GroupSplit,
    KernelChoice,
    LocalOption,
    LocalPlan,
    NearestNeighbours,
    NoLocal,
    OrderSplit,
    Prefer,
    PriorChoice,
    RandomSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
    Task,
    Text,
    Validation,
)
from relevance_bayes.types.reports import BudgetPlan
from relevance_bayes.types.values import IgnoredColumn, InputColumn, Missing

TrainingRequest: TypeAlias = SupervisedRequest | ApproximationRequest | ImageRequest | ComponentsRequest
TrainingPlan: TypeAlias = SupervisedPlan | ApproximationPlan | ImagePlan | ComponentsPlan

__all__ = [
    "MAX_FOLDS",
    "MAX_SCORE_LOSSES",
    "MIN_FOLDS",
    "ApproximationPlan",
    "ApproximationRequest",
    "AutomaticLocal",
    "AutomaticPrior",
    "BasisChoice",
    "Budget",
    "BudgetPlan",
    "ComponentsPlan",
    "ComponentsRequest",
    "Dates",
    "Effort",
    "GroupChoice",
    "GroupSplit",
    "IgnoredColumn",
    "ImagePlan",
    "ImageRequest",
    "InputColumn",
    "KernelChoice",
    "LocalOption",
    "LocalPlan",
    "Missing",
    "NearestNeighbours",
    "NoLocal",
    "OrderSplit",
    "Prefer",
    "PriorChoice",
    "RandomSplit",
    "Split",
    "SupervisedPlan",
    "SupervisedRequest",
    "Task",
    "Text",
    "TrainingPlan",
    "TrainingRequest",
    "Validation",
]
