"""The prediction of each row by all others: against the covariance of all rows, where noise is next to none."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.folds import subset
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import iterates, learned, pose
from relevance_bayes.core.models.model import Model
from relevance_bayes.core.models.prediction import latent, leave_one_out, prior_variance, whitened
from relevance_bayes.core.priors import GaussianProcess
from relevance_bayes.core.selection import Rows
from tests.library.core.drawn import process_spec


@pytest.fixture(scope="module")
def signs() -> Rows:
    """A smooth process fits steps only by functions near most rows, with no noise."""
    rng = np.random.default_rng(86)
    rng.integers(1, 5, 2)
    X = rng.standard_normal((80, 4))
    t = np.sign(np.sin(2.0 * X[:, 0]) + 0.3 * X.sum(axis=1))
    return Rows((X - X.mean(axis=0)) / X.std(axis=0), (t - t.mean()) / t.std())


@pytest.fixture(scope="module")
def model(signs: Rows) -> Model:
    spec = process_spec(GaussianNoise(), inputs=True, warp="evidence")
    spec = replace(spec, prior=GaussianProcess(inducing_points="rows", rho=1.0, min_gain=2.0))
    problem = pose(signs.X, signs.t, spec)
    (last,) = deque(iterates(problem, spec), maxlen=1)
    return learned(problem, last)


def test_rows_that_decide_their_own_fit_are_predicted_as_the_covariance_of_all_rows_has_them(
    model: Model, signs: Rows
) -> None:
    assert model.noise_sd is not None
    found = latent(model, signs.X)
    noise = model.noise_sd**2 + found.residual
    columns, alpha = whitened(model, signs.X)
    inverse = np.linalg.inv((columns / alpha) @ columns.T + np.diag(noise))
    shares = noise * inverse.diagonal()
    assert shares.min() < 1e-4  # the posterior covariance has lost these: some of them are below 0 there
    means = signs.t - (inverse @ signs.t) / inverse.diagonal()
    left_out = leave_one_out(model, signs, 1.0)
    density = -0.5 * np.log(2.0 * np.pi / inverse.diagonal()) - 0.5 * (signs.t - means) ** 2 * inverse.diagonal()
    assert left_out["rmse"] == pytest.approx(float(np.sqrt(np.mean((signs.t - means) ** 2))), rel=0.02)
    assert left_out["nll"] == pytest.approx(-float(density.mean()), abs=0.05)


def test_the_functions_prior_is_that_of_their_weights(model: Model, signs: Rows) -> None:
    columns, alpha = whitened(model, signs.X)
    assert prior_variance(model, signs.X) == pytest.approx(((columns / alpha) @ columns.T).diagonal(), rel=1e-12)
    assert model.signal_variance is not None
    F = len(alpha) - sum(alpha == 1.0 / model.signal_variance)
    reached = model.signal_variance * np.square(columns[:, : len(alpha) - F]).sum(axis=1)
    assert reached == pytest.approx(
        model.signal_variance - latent(model, signs.X).residual, abs=1e-6 * model.signal_variance
    )


def test_of_many_rows_those_drawn_by_content_are_measured(
    model: Model, signs: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = subset(signs.X, signs.t, 30, 0)
    expected = leave_one_out(model, signs.take(some), 1.0)
    assert expected["rmse"] != leave_one_out(model, signs, 1.0)["rmse"]
    monkeypatch.setattr("relevance_bayes.core.models.prediction.MAX_ROWS_MEASURED", 30)
    assert leave_one_out(model, signs, 1.0) == expected
