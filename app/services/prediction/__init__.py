"""Predictions of versions, whatever their task."""

from app.services.prediction.outputs import outputs_of, requested_outputs
from app.services.prediction.predict import USUAL, PredictRequest, evaluate_block, predict
from app.services.prediction.served import ServedVersion, version_metadata

__all__ = [
    "USUAL",
    "PredictRequest",
    "ServedVersion",
    "evaluate_block",
    "outputs_of",
    "predict",
    "requested_outputs",
    "version_metadata",
]
