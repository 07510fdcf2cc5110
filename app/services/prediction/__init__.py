"""Predictions of one version: for each kind of task what answers, and its answer."""

from app.services.prediction.columns import flat_columns, real_columns, version_metadata
from app.services.prediction.components import ComponentsPrediction
from app.services.prediction.expansion import VersionExpansion, expansion_of
from app.services.prediction.explanation import Explanation
from app.services.prediction.judging import JudgedBlock, judge
from app.services.prediction.options import PredictOptions
from app.services.prediction.outputs import outputs_asked, outputs_of
from app.services.prediction.pieces import piece_of, rows_of, support_of
from app.services.prediction.predict import USUAL, PredictRequest, predict
from app.services.prediction.served import Prediction, PredictiveModel, ServedVersion, predictive_model
from app.services.prediction.supervised import ClassificationPrediction, RegressionPrediction, SupervisedModel
from app.services.prediction.values import ImageModel, ValuePrediction

__all__ = [
    "USUAL",
    "ClassificationPrediction",
    "ComponentsPrediction",
    "Explanation",
    "ImageModel",
    "JudgedBlock",
    "PredictOptions",
    "PredictRequest",
    "Prediction",
    "PredictiveModel",
    "RegressionPrediction",
    "ServedVersion",
    "SupervisedModel",
    "ValuePrediction",
    "VersionExpansion",
    "expansion_of",
    "flat_columns",
    "judge",
    "outputs_asked",
    "outputs_of",
    "piece_of",
    "predict",
    "predictive_model",
    "real_columns",
    "rows_of",
    "support_of",
    "version_metadata",
]
