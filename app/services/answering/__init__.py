"""Predictions of one version: for each kind of task what answers, and its answer."""

from app.services.answering.columns import flat_columns, real_columns, version_metadata
from app.services.answering.components import ComponentsAnswer
from app.services.answering.expansion import VersionExpansion, expansion_of
from app.services.answering.explanation import Explanation
from app.services.answering.judging import JudgedBlock, judge
from app.services.answering.outputs import outputs_asked, outputs_of
from app.services.answering.pieces import piece_of, rows_of, support_of
from app.services.answering.served import Answer, Answering, ServedVersion, answer, answering_of
from app.services.answering.supervised import ClassificationAnswer, RegressionAnswer, SupervisedAnswering
from app.services.answering.values import ImageAnswering, ValueAnswer
from app.services.answering.wanted import Wanted

__all__ = [
    "Answer",
    "Answering",
    "ClassificationAnswer",
    "ComponentsAnswer",
    "Explanation",
    "ImageAnswering",
    "JudgedBlock",
    "RegressionAnswer",
    "ServedVersion",
    "SupervisedAnswering",
    "ValueAnswer",
    "VersionExpansion",
    "Wanted",
    "answer",
    "answering_of",
    "expansion_of",
    "flat_columns",
    "judge",
    "outputs_asked",
    "outputs_of",
    "piece_of",
    "real_columns",
    "rows_of",
    "support_of",
    "version_metadata",
]
