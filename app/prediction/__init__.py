"""Predictions of versions, whatever their task."""

from app.prediction.predict import (
    USUAL,
    PredictRequest,
    ServedVersion,
    evaluate_block,
    outputs_of,
    predict,
    requested_outputs,
    version_metadata,
)

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
