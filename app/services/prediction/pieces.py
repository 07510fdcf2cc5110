"""A long answer in pieces."""

from dataclasses import replace
from typing import TypeAlias

from app.domain.decisions import Decisions
from app.services.prediction.components import ComponentsPrediction
from app.services.prediction.explanation import Explanation
from app.services.prediction.served import Prediction
from app.services.prediction.supervised import ClassificationPrediction, RegressionPrediction
from app.services.prediction.values import ValuePrediction
from relevance_bayes.core.types import Array

Rows: TypeAlias = "slice[int, int, None]"


def rows_of(answer: Prediction) -> int:
    """How many rows were predicted for."""
    match answer:
        case RegressionPrediction():
            return len(answer.mean)
        case ClassificationPrediction():
            return len(answer.probabilities)
        case ValuePrediction():
            return len(answer.value)
        case ComponentsPrediction():
            return len(answer.novelty)


def support_of(answer: Prediction) -> Array | None:
    """Of each row (N,); None where the model can't tell."""
    match answer:
        case RegressionPrediction() | ClassificationPrediction():
            return answer.support
        case ValuePrediction() | ComponentsPrediction():
            return None


def piece_of(answer: Prediction, rows: Rows) -> Prediction:
    """The answer for some of the rows; what is said of all of them together, covariance and faults, stays."""
    match answer:
        case RegressionPrediction():
            return _numbers(answer, rows)
        case ClassificationPrediction():
            return _classes(answer, rows)
        case ValuePrediction():
            return ValuePrediction(answer.value[rows], answer.faults)
        case ComponentsPrediction():
            return replace(
                answer,
                components=answer.components[rows],
                missed=answer.missed[rows],
                log_density=answer.log_density[rows],
                novelty=answer.novelty[rows],
            )


def _numbers(answer: RegressionPrediction, rows: Rows) -> RegressionPrediction:
    return replace(
        answer,
        mean=answer.mean[rows],
        sd=answer.sd[rows],
        total=answer.total[rows],
        noise=answer.noise[rows],
        weights=answer.weights[rows],
        beyond=answer.beyond[rows],
        lower=answer.lower[rows],
        upper=answer.upper[rows],
        support=_some(answer.support, rows),
        explanation=_explained(answer.explanation, rows),
    )


def _classes(answer: ClassificationPrediction, rows: Rows) -> ClassificationPrediction:
    return replace(
        answer,
        probabilities=answer.probabilities[rows],
        latent_mean=answer.latent_mean[rows],
        latent_variance=answer.latent_variance[rows],
        support=_some(answer.support, rows),
        explanation=_explained(answer.explanation, rows),
        decisions=_decided(answer.decisions, rows),
    )


def _some(column: Array | None, rows: Rows) -> Array | None:
    return None if column is None else column[rows]


def _explained(found: Explanation | None, rows: Rows) -> Explanation | None:
    return None if found is None else found.some(rows)


def _decided(found: Decisions | None, rows: Rows) -> Decisions | None:
    return None if found is None else Decisions(found.chosen[rows], found.expected_cost[rows], found.rejected[rows])
