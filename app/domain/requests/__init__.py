"""What a caller asks of workers, and what it was resolved to: one request and one plan for each kind of it.

The `task` of trainings tells them apart, also as JSON, the `kind` those of what asks versions.
"""

from typing import TypeAlias

from app.domain.requests.approximation import ApproximationPlan, ApproximationRequest
from app.domain.requests.batch_prediction import AnyTask, PredictionPlan, PredictionRequest
from app.domain.requests.columns import IgnoredColumn, InputColumn, Missing
from app.domain.requests.components import ComponentsPlan, ComponentsRequest
from app.domain.requests.image import ImagePlan, ImageRequest
from app.domain.requests.scoring import (
    EvaluationPlan,
    EvaluationRequest,
    JudgingPlan,
    JudgingRequest,
    PromotionPlan,
    PromotionRequest,
    ScoringPlan,
    ScoringRequest,
    scored,
)
from app.domain.requests.supervised import (
    LEAST_FOLDS,
    MAX_SCORE_LOSSES,
    MOST_FOLDS,
    AutomaticPrior,
    BasisChoice,
    Effort,
    GroupChoice,
    GroupSplit,
    KernelChoice,
    OrderSplit,
    Prefer,
    PriorChoice,
    RandomSplit,
    Split,
    SupervisedPlan,
    SupervisedRequest,
    Task,
    Validation,
)

TrainingRequest: TypeAlias = SupervisedRequest | ApproximationRequest | ImageRequest | ComponentsRequest
TrainingPlan: TypeAlias = SupervisedPlan | ApproximationPlan | ImagePlan | ComponentsPlan

__all__ = [
    "LEAST_FOLDS",
    "MAX_SCORE_LOSSES",
    "MOST_FOLDS",
    "AnyTask",
    "ApproximationPlan",
    "ApproximationRequest",
    "AutomaticPrior",
    "BasisChoice",
    "ComponentsPlan",
    "ComponentsRequest",
    "Effort",
    "EvaluationPlan",
    "EvaluationRequest",
    "GroupChoice",
    "GroupSplit",
    "IgnoredColumn",
    "ImagePlan",
    "ImageRequest",
    "InputColumn",
    "JudgingPlan",
    "JudgingRequest",
    "KernelChoice",
    "Missing",
    "OrderSplit",
    "PredictionPlan",
    "PredictionRequest",
    "Prefer",
    "PriorChoice",
    "PromotionPlan",
    "PromotionRequest",
    "RandomSplit",
    "ScoringPlan",
    "ScoringRequest",
    "Split",
    "SupervisedPlan",
    "SupervisedRequest",
    "Task",
    "TrainingPlan",
    "TrainingRequest",
    "Validation",
    "scored",
]
