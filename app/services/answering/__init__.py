"""Predictions of one version: for each kind of task what answers, and its answer."""

from app.services.answering.approximation import ApproximationAnswer
from app.services.answering.served import Answer, Answering, ServedVersion, answer, answering_of
from app.services.answering.supervised import ClassificationAnswer, RegressionAnswer, SupervisedAnswering
from app.services.answering.wanted import ListedFunction, Wanted

__all__ = [
    "Answer",
    "Answering",
    "ApproximationAnswer",
    "ClassificationAnswer",
    "ListedFunction",
    "RegressionAnswer",
    "ServedVersion",
    "SupervisedAnswering",
    "Wanted",
    "answer",
    "answering_of",
]
