"""The sparse models with which nearest-neighbour processes are compared."""

from collections.abc import Generator

import numpy as np

from relevance_bayes.core.errors import NotPositiveDefiniteError
from relevance_bayes.core.likelihoods.predictive import NumberPrediction
from relevance_bayes.core.prediction import Ready
from relevance_bayes.core.selection.heteroscedastic import with_log_noise
from relevance_bayes.core.selection.ranking import FitContext, fitted_to
from relevance_bayes.core.selection.rows import Folding, Rows, Step
from relevance_bayes.core.selection.varying_noise import noise_varies
from relevance_bayes.core.spec import Spec


def sparse_alternative(
    others: Rows, spec: Spec, folding: Folding, on: FitContext
) -> Generator[Step, None, Ready | None]:
    """The sparse model of the other rows; None where it can't be computed."""
    try:
        fit = yield from fitted_to(others, spec, folding, on)
        return Ready.of(fit.model)
    except NotPositiveDefiniteError:
        return None


def alternative_of_varying_noise(
    others: Rows, spec: Spec, folding: Folding, on: FitContext
) -> Generator[Step, None, Ready | None]:
    """The model of heteroscedastic noise of the other rows; None where it can't be computed."""
    yield Step("fit", 0, None, "iterations")
    try:
        model, _ = yield from with_log_noise(others, spec, folding, on.fit_log, on.threads)
        return Ready.of(model)
    except NotPositiveDefiniteError:
        return None


def has_varying_noise(sparse: Ready, apart: Rows) -> bool:
    """True where the sizes of a model's residuals on held-out rows depend on the inputs or on the prediction."""
    predicted = sparse.predict(apart.X, apart.noise_sd)[0]
    if not isinstance(predicted, NumberPrediction):
        return False
    return noise_varies(apart.X, predicted.mean, (apart.t - predicted.mean) / np.sqrt(predicted.variance))
