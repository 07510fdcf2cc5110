"""Requests that name versions, and the plans that they are resolved to; `kind` tells them apart, also as JSON."""

from app.domain.requests.batch_prediction import PredictionPlan, PredictionRequest
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

__all__ = [
    "EvaluationPlan",
    "EvaluationRequest",
    "JudgingPlan",
    "JudgingRequest",
    "PredictionPlan",
    "PredictionRequest",
    "PromotionPlan",
    "PromotionRequest",
    "ScoringPlan",
    "ScoringRequest",
    "scored",
]
