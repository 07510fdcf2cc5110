"""Predictions of versions, whatever their task."""

from app.services.prediction.outputs import outputs_asked, outputs_of
from app.services.prediction.predict import USUAL, PredictRequest, judge, predict
from app.services.prediction.served import ServedVersion, version_metadata

__all__ = [
    "USUAL",
    "PredictRequest",
    "ServedVersion",
    "judge",
    "outputs_asked",
    "outputs_of",
    "predict",
    "version_metadata",
]
