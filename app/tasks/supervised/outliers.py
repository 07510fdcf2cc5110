"""Outliers: training rows with little weight in a fit with heavy tails."""

import numpy as np

from app.tasks.supervised.materialise import Materialised
from relevance_bayes.core.likelihoods import StudentT
from relevance_bayes.core.likelihoods.student_t import HeavyTailedPrediction
from relevance_bayes.core.pool import LearnedModel, alone, likelihood_of
from relevance_bayes.core.prediction import predict
from relevance_bayes.types.reports import Outlier

ATYPICAL = 0.25
"""The weight, relative to an ordinary row, below which a row is an outlier: 4 scales away at 4 degrees of freedom."""

MAX_OUTLIERS = 100


def outliers(model: LearnedModel, made: Materialised) -> tuple[Outlier, ...]:
    """Return the outliers among the training rows, the least typical first; none without heavy tails."""
    likelihood = likelihood_of(model)
    if not isinstance(likelihood, StudentT):
        return ()
    learned = made.rows()[: made.training]
    prediction = predict(alone(model), learned[:, : made.inputs])
    assert isinstance(prediction, HeavyTailedPrediction)
    typicality = likelihood.typicality(prediction, np.array(learned[:, made.inputs]))
    least = np.argsort(typicality, kind="stable")[:MAX_OUTLIERS]
    return tuple(
        Outlier(int(number), float(value))
        for number, value in zip(learned[least, -1].tolist(), typicality[least].tolist(), strict=True)
        if value < ATYPICAL
    )
