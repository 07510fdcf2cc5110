"""Two classes beside their frequencies."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.algorithms import Greedy
from relevance_bayes.core.basis import Bias, KernelBasis
from relevance_bayes.core.kernels import Gaussian, Laplacian
from relevance_bayes.core.kernels.hyperparameters import EvidenceWidth
from relevance_bayes.core.likelihoods import Bernoulli
from relevance_bayes.core.likelihoods.base import ClassPrediction
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.pool import n_functions
from relevance_bayes.core.models.prediction import predict
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import Rows, Selection, Trained, train

SPEC = Spec(Bernoulli(), (KernelBasis(Gaussian(), EvidenceWidth()), Bias()), GaussianProcess(), Greedy())
OTHER = replace(SPEC, basis=(KernelBasis(Laplacian(), EvidenceWidth()), Bias()))


def ended(rows: Rows) -> Trained:
    *_, last = train(rows, Selection(SPEC, alternatives=(OTHER,)))
    assert isinstance(last, Trained)
    return last


def table(seed: int, gain: float, n: int = 24) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return Rows(X, (gain * X[:, 0] + rng.logistic(size=n) > 0.3).astype(np.float64))


def test_frequencies_are_taken_where_no_function_predicts_better() -> None:
    """Their score is the log loss of each fold by the frequencies of the others."""
    constants = [rows for rows in (table(seed, 0.0) for seed in range(6)) if n_functions(ended(rows).learned) == 1]
    assert len(constants) >= 3
    rows = constants[0]
    found = ended(rows)
    assert isinstance(found.learned, Model)
    prediction = predict(found.learned, rows.X[:3])
    assert isinstance(prediction, ClassPrediction)
    np.testing.assert_allclose(prediction.probabilities[:, 1], (rows.t.sum() + 0.5) / (len(rows.t) + 1.0), rtol=1e-6)
    assert found.score.value == pytest.approx(-found.validation["log_loss"])


def test_a_function_stays_where_it_predicts_better() -> None:
    found = ended(table(1, 6.0, 60))
    assert isinstance(found.learned, Model)
    assert found.learned.size > 1
    assert found.score.value is not None
    assert found.score.value > -0.5
