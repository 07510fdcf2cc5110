"""The degrees of freedom of few rows: by sums over rows and by traces, and the predictions with them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, norm, t

from relevance_bayes.core.inference.posterior import Augmentation
from relevance_bayes.core.likelihoods import GaussianNoise, Likelihood, LogGaussian, Poisson, StudentT
from relevance_bayes.core.likelihoods.transformed_gaussian import PositivePrediction
from relevance_bayes.core.models.effects import averages, joint
from relevance_bayes.core.models.fitting import fit, pose
from relevance_bayes.core.models.model import Model, Spec
from relevance_bayes.core.models.pool import (
    MAX_DEGREES_OF_FREEDOM,
    Pool,
    ReadyPool,
    degrees_of_freedom,
    effective_functions,
    one_row,
    ready_of,
    with_degrees_of_freedom,
)
from relevance_bayes.core.models.prediction import Ready, RealPrediction, latent, predict
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, rows_for, spec_for
from tests.library.core.models.test_pool import pool

NEW = np.linspace(-14.0, 14.0, 29)[:, None]

LOGARITHM = "logarithm"
SPECS: dict[str, Spec] = {
    "independent": spec_for(GaussianNoise()),
    "process": process_spec(GaussianNoise(), inputs=True),
    "process on rows": process_spec(GaussianNoise(), vectors="rows"),
    LOGARITHM: process_spec(LogGaussian()),
}


def rows_of(name: str, rows: int = 30) -> tuple[Array, Array]:
    return rows_for(LogGaussian() if name == LOGARITHM else GaussianNoise(), rows, 3)


def fitted(name: str, rows: int = 30) -> Model:
    spec = SPECS[name]
    X, targets = rows_of(name, rows)
    model = fit(X, targets, spec)
    return replace(model, augmentation=Augmentation.of(pose(X, targets, spec), model.functions))


def gaussian(found: object) -> RealPrediction:
    assert isinstance(found, RealPrediction)
    return found


@pytest.mark.parametrize("name", SPECS)
def test_the_effective_functions_are_the_sum_of_variance_over_noise_at_the_training_rows(name: str) -> None:
    model = fitted(name)
    X, _ = rows_of(name)
    assert model.noise_sd is not None
    expected = float(latent(model, X).weights.sum()) / model.noise_sd**2
    assert effective_functions(model) == pytest.approx(expected, rel=1e-6)
    assert 1.0 < expected < len(model.mean)


def test_each_row_and_function_leaves_one_degree_of_freedom_less() -> None:
    assert degrees_of_freedom(10, 3.5) == 5.5
    assert degrees_of_freedom(10, 0.2) == 8.0
    assert degrees_of_freedom(4, 3.0) == 1.0
    assert degrees_of_freedom(2, 5.0) == 1.0
    assert degrees_of_freedom(402, 1.0) == MAX_DEGREES_OF_FREEDOM
    assert degrees_of_freedom(403, 1.0) is None


def test_the_interval_that_is_left_gaussian_is_less_than_half_a_percent_too_narrow() -> None:
    rows = MAX_DEGREES_OF_FREEDOM + 3.0
    exact = float(t.ppf(0.975, MAX_DEGREES_OF_FREEDOM + 1.0)) * (rows / (rows - 1.0)) ** 0.5
    assert 1.0 < exact / float(norm.ppf(0.975)) < 1.005


@pytest.mark.parametrize("name", [name for name in SPECS if name != LOGARITHM])
def test_all_variances_are_corrected_and_the_mean_is_not(name: str) -> None:
    model = fitted(name)
    found = with_degrees_of_freedom(model)
    assert found.degrees_of_freedom == pytest.approx(29.0 - effective_functions(model))
    before, after = gaussian(predict(model, NEW)), gaussian(predict(found, NEW))
    np.testing.assert_array_equal(after.mean, before.mean)
    for part in ("noise", "weights", "residual", "variance"):
        np.testing.assert_allclose(getattr(after, part), getattr(before, part) * 30.0 / 29.0, rtol=1e-12)


def test_the_average_of_a_function_has_the_corrected_variance() -> None:
    for learned in (fitted("process"), pool()):
        factor = 30.0 / 29.0 if isinstance(learned, Model) else 40.0 / 39.0
        (mean, before), (same, after) = (_averages(one) for one in (learned, with_degrees_of_freedom(learned)))
        np.testing.assert_allclose(same, mean, rtol=1e-12)
        np.testing.assert_allclose(after, before * factor, rtol=1e-9)


def _averages(learned: Model | Pool) -> tuple[Array, Array]:
    ready = ready_of(learned)
    assert isinstance(ready, Ready | ReadyPool)
    return averages(ready, NEW[:28], 4)


def test_predictions_are_students_t_of_the_corrected_scale() -> None:
    model = fitted("process")
    found = with_degrees_of_freedom(model)
    prediction, before = gaussian(predict(found, NEW)), gaussian(predict(model, NEW))
    nu = found.degrees_of_freedom
    assert nu is not None
    scale = np.sqrt(before.variance * 30.0 / 29.0)
    expected = t.interval(0.9, nu, before.mean, scale)
    np.testing.assert_allclose(np.array(prediction.interval(0.9)), np.array(expected), rtol=1e-7)
    targets = before.mean + np.linspace(-3.0, 3.0, len(NEW))
    np.testing.assert_allclose(prediction.log_density(targets), t.logpdf(targets, nu, before.mean, scale), rtol=1e-6)


def test_the_logarithm_of_a_positive_target_is_students_t() -> None:
    model = fitted(LOGARITHM)
    found = with_degrees_of_freedom(model)
    logs = GaussianNoise().predictive(latent(found, NEW), found.noise_sd)
    nu = found.degrees_of_freedom
    assert nu is not None
    expected = np.exp(t.ppf(0.05, nu, logs.mean, np.sqrt(logs.variance * 30.0 / 29.0)))
    prediction = predict(found, NEW)
    assert isinstance(prediction, PositivePrediction)
    np.testing.assert_allclose(prediction.quantile(0.05), expected, rtol=1e-7)
    assert np.isfinite(prediction.mean).all()
    assert np.isfinite(prediction.variance).all()


@pytest.mark.parametrize("likelihood", [GaussianNoise(0.1), StudentT(), Poisson()], ids=lambda one: one.type)
def test_other_noise_is_not_integrated(likelihood: Likelihood) -> None:
    model = fit(*rows_for(likelihood, 30, 3), process_spec(likelihood))
    assert with_degrees_of_freedom(model) is model


@pytest.mark.parametrize("made", [lambda: fitted("process"), pool], ids=["model", "pool"])
def test_many_rows_leave_the_model_as_it_is(made: Callable[[], Model | Pool]) -> None:
    few = made()
    many = replace(few, rows=5_000) if isinstance(few, Model) else _of_rows(few, 5_000)
    assert with_degrees_of_freedom(many) is many


def _of_rows(found: Pool, rows: int) -> Pool:
    return replace(found, members=tuple(replace(one, rows=rows) for one in found.members))


def test_a_pool_has_the_mean_of_its_members_degrees_of_freedom_by_weight() -> None:
    found = with_degrees_of_freedom(pool())
    each = [with_degrees_of_freedom(one).degrees_of_freedom or 0.0 for one in pool().members]
    assert found.degrees_of_freedom == pytest.approx(float(found.weights @ np.array(each)))
    assert len({*each}) > 1
    prediction, _ = ready_of(found).predict(NEW)
    before, _ = ready_of(pool()).predict(NEW)
    now, then = gaussian(prediction), gaussian(before)
    assert now.degrees_of_freedom == found.degrees_of_freedom
    np.testing.assert_allclose(now.mean, then.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(now.variance, then.variance * 40.0 / 39.0, rtol=1e-9)


def test_a_pool_is_the_product_of_its_members_for_each_noise_integrated_over_their_posterior() -> None:
    """p(y | u) of each member is N(m_k, v_k / u), and p(u) of each Gamma(nu_k / 2, nu_k / 2); both are multiplied to
    the power of the weights and normalised, the second by its integral."""
    means, variances = np.array([0.3, -0.2]), np.array([0.5, 2.0])
    nus, weights = np.array([3.0, 7.5]), np.array([0.4, 0.6])
    variance = 1.0 / float(weights @ (1.0 / variances))
    mean = variance * float(weights @ (means / variances))

    def posterior(u: float) -> float:
        return float(np.exp(weights @ gamma.logpdf(u, 0.5 * nus, scale=2.0 / nus)))

    total, _ = quad(posterior, 0.0, np.inf)
    one = np.array([mean]), np.array([variance])
    found = RealPrediction(*one, np.zeros(1), np.zeros(1), float(weights @ nus))
    for y in (-4.0, -0.5, 0.1, 2.5):
        density, _ = quad(lambda u, y=y: posterior(u) * float(norm.pdf(y, mean, (variance / u) ** 0.5)), 0.0, np.inf)
        assert float(found.log_density(np.array([y]))[0]) == pytest.approx(np.log(density / total), abs=1e-7)


def test_one_row_and_rows_together_have_the_corrected_variance() -> None:
    for learned in (with_degrees_of_freedom(fitted("process")), with_degrees_of_freedom(pool())):
        ready = ready_of(learned)
        prediction, _ = ready.predict(NEW)
        scalar = one_row(ready)
        assert scalar is not None
        row = scalar(NEW[3])
        assert row.noise + row.weights + row.residual == pytest.approx(prediction_variance(prediction)[3], rel=1e-9)
        _, covariance = joint(ready, NEW)
        np.testing.assert_allclose(covariance.diagonal(), prediction_variance(prediction), rtol=1e-9)
        assert np.linalg.eigvalsh(covariance).min() > 0.0


def prediction_variance(prediction: object) -> Array:
    return gaussian(prediction).variance
