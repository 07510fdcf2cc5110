"""from dataclasses import replace"""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.kernels import Matern52
from relevance_bayes.core.models.local import model as prediction
from relevance_bayes.core.models.local.learning import LocalTask, local_process
from relevance_bayes.core.models.local.model import LocalProcess, residuals
from relevance_bayes.core.types import Array
from tests.library.core.models.local.drawn_locally import plausible, posed, wavy


def model(*, neighbours: int = 40, linear: bool = False) -> LocalProcess:
    X, t = wavy(150)
    task = LocalTask(posed(X, t + 7.0, linear=linear), neighbours=neighbours)
    return local_process(task, Matern52(), plausible(task.problem))


def new(rows: int = 20) -> Array:
    return np.random.default_rng(5).standard_normal((rows, 3))


@pytest.mark.parametrize("linear", [True, False])
def test_with_all_rows_as_neighbours_it_predicts_as_the_process_itself(linear: bool) -> None:
    of_all = model(neighbours=1_000, linear=linear)
    h, rows, X = of_all.hyperparameters, of_all.rows, new()
    U, Z, F = h.input_map(rows.X), h.input_map(X), np.column_stack([np.ones(20), X])[:, : len(h.alpha)]
    kernel = Matern52()
    C = h.signal_variance * kernel(U, U) + (rows.F / h.alpha) @ rows.F.T + np.eye(150) / h.beta
    c = h.signal_variance * kernel(Z, U) + (F / h.alpha) @ rows.F.T
    prior = h.signal_variance + np.square(F) @ (1.0 / h.alpha)
    found = of_all.latent(X)
    np.testing.assert_allclose(found.mean, of_all.centre + c @ np.linalg.solve(C, rows.t), rtol=1e-9)
    expected = prior - np.einsum("nm,mn->n", c, np.linalg.solve(C, c.T))
    np.testing.assert_allclose(found.variance, expected, rtol=1e-6, atol=1e-9)
    assert found.support is not None
    np.testing.assert_allclose(found.support, 1.0 - expected / prior, atol=1e-8)


def test_the_centre_of_the_targets_is_in_the_mean() -> None:
    X, t = wavy(150)
    assert float(np.mean(np.abs(model().latent(X).mean - 7.0 - t))) < 0.1


def test_a_row_is_predicted_as_among_others() -> None:
    local, X = model(), new()
    together = local.latent(X)
    alone = [local.latent(X[i : i + 1]) for i in range(len(X))]
    np.testing.assert_allclose(together.mean, [float(one.mean[0]) for one in alone], rtol=1e-10)
    np.testing.assert_allclose(together.variance, [float(one.variance[0]) for one in alone], rtol=1e-8)


def test_far_from_all_rows_the_latent_has_its_prior() -> None:
    local = model()
    found = local.latent(np.full((1, 3), 1e3))
    assert found.variance[0] > 0.9 * local.hyperparameters.signal_variance
    assert found.support is not None
    assert found.support[0] < 0.7


def test_a_process_of_residuals_is_of_the_targets_less_the_other_models_mean() -> None:
    X, t = wavy(400, noise=0.05)

    def mean(at: Array) -> Array:
        return np.sin(2.0 * at[:, 0]) + 7.0

    task = LocalTask(residuals(posed(X[:300], t[:300] + 7.0), mean), neighbours=64)
    np.testing.assert_allclose(task.rows.t, (t[:300] + 7.0 - mean(X[:300]))[task.order], rtol=1e-12, atol=1e-12)
    local = local_process(task, Matern52(), plausible(task.problem, noise=0.05))
    error = t[300:] + 7.0 - mean(X[300:]) - local.latent(X[300:]).mean
    assert float(np.mean(error**2)) < 0.2 * float(np.var(t[300:] - mean(X[300:])))


def test_many_rows_are_predicted_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    local, X = model(), new(50)
    together = local.latent(X)
    monkeypatch.setattr(prediction, "ROWS_AT_ONCE", 7)
    apart = local.latent(X)
    np.testing.assert_allclose(apart.mean, together.mean, rtol=1e-10)
    np.testing.assert_allclose(apart.variance, together.variance, rtol=1e-8)


def test_a_row_beyond_all_numbers_has_its_prior() -> None:
    local = model()
    bent = replace(local.hyperparameters.input_map, tail=np.full(3, 2.0))
    local = replace(local, hyperparameters=replace(local.hyperparameters, input_map=bent))
    found = local.latent(np.full((2, 3), 1e60))
    assert np.isfinite(found.mean).all()
    assert found.variance[0] > 0.9 * local.hyperparameters.signal_variance


def test_rows_of_another_width_are_refused() -> None:
    with pytest.raises(DataError, match="expected X"):
        model().latent(np.zeros((4, 2)))
