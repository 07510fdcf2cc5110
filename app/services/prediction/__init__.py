"""Predictions of versions, whatever their task."""

from app.services.prediction.outputs import outputs_of, requested_outputs
from app.services.prediction.predict import USUAL, PredictRequest, judge, predict
from app.services.prediction.served import ServedVersion, version_metadata

__all__ = [
    "USUAL",
    "PredictRequest",
    "ServedVersion",
    "judge",
    "outputs_of",
    "predict",
    "requested_outputs",
    "version_metadata",
]
