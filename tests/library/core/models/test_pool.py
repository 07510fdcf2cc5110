"""Several models that predict together: their densities are multiplied, and all its figures add up."""

from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.errors import SparseBayesError
from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.likelihoods import Bernoulli, GaussianNoise
from relevance_bayes.core.models.effects import contributions, joint
from relevance_bayes.core.models.fitting import fit
from relevance_bayes.core.models.pool import Pool, ReadyPool, alone, members_of, n_functions, ready_of
from relevance_bayes.core.models.prediction import Ready, RealPrediction
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec, ripley, sinc

NEW = np.linspace(-16.0, 16.0, 23)[:, None]
WEIGHTS = np.array([0.5, 0.2, 0.3])


@cache
def pool() -> Pool:
    X, t = sinc(40, 0)
    specs = (
        process_spec(GaussianNoise(), kernel=Gaussian(), inputs=True),
        process_spec(GaussianNoise(), kernel=Matern32(), inputs=True),
        process_spec(GaussianNoise(), kernel=Gaussian(), warp="evidence"),
    )
    return Pool(tuple(fit(X, t, spec) for spec in specs), WEIGHTS)


def ready() -> ReadyPool:
    found = ready_of(pool())
    assert isinstance(found, ReadyPool)
    return found


def of_members() -> list[RealPrediction]:
    found, _ = ready().predictions(NEW, None)
    return found


def test_a_density_is_the_product_of_the_members_to_the_power_of_their_weights() -> None:
    found, _ = ready().predict(NEW)
    for n in range(len(NEW)):
        grid = found.mean[n] + np.linspace(-12.0, 12.0, 20_001) * np.sqrt(found.variance[n])
        log_density = np.zeros(len(grid))
        for one, weight in zip(of_members(), WEIGHTS, strict=True):
            log_density -= 0.5 * weight * (grid - one.mean[n]) ** 2 / one.variance[n]
        density = np.exp(log_density - log_density.max())
        density /= density.sum()
        mean = float(density @ grid)
        assert found.mean[n] == pytest.approx(mean, rel=1e-9, abs=1e-9)
        assert found.variance[n] == pytest.approx(float(density @ (grid - mean) ** 2), rel=1e-6)


def test_the_parts_of_the_variance_are_those_of_the_members_by_their_shares() -> None:
    found, support = ready().predict(NEW)
    variances = np.array([one.variance for one in of_members()])
    shares = ready().shares(variances)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0, rtol=1e-12)
    for name in ("noise", "weights", "residual"):
        parts = np.array([getattr(one, name) for one in of_members()])
        np.testing.assert_allclose(getattr(found, name), found.variance * (shares * parts / variances).sum(axis=0))
    assert support is not None
    assert (0.0 <= support).all()
    assert (support <= 1.0).all()


def test_a_member_of_all_the_weight_predicts_as_it_does_alone() -> None:
    first = pool().members[0]
    found, support = ready_of(Pool((first,), np.ones(1))).predict(NEW)
    expected, own = Ready.of(first).predict(NEW)
    assert isinstance(found, RealPrediction)
    np.testing.assert_allclose(found.mean, expected.mean if isinstance(expected, RealPrediction) else 0.0, rtol=1e-12)
    assert support is not None
    assert own is not None
    np.testing.assert_allclose(support, own)


def test_equal_members_are_not_surer_than_one() -> None:
    first = pool().members[0]
    found, _ = ready_of(Pool((first,) * 3, WEIGHTS)).predict(NEW)
    expected, _ = Ready.of(first).predict(NEW)
    assert isinstance(found, RealPrediction)
    assert isinstance(expected, RealPrediction)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-12)
    np.testing.assert_allclose(found.residual, expected.residual, rtol=1e-12)


def test_contributions_add_up_to_the_mean_and_count_through_the_members() -> None:
    found, _ = ready().predict(NEW)
    explained = contributions(ready(), NEW, 10_000)
    assert explained.functions.shape == (len(NEW), n_functions(pool()))
    np.testing.assert_allclose(explained.added.sum(axis=1), found.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(explained.total, found.mean, rtol=1e-9, atol=1e-12)
    assert sorted(explained.functions[0].tolist()) == list(range(n_functions(pool())))


def test_a_joint_covariance_has_the_pooled_variances_and_no_negative_eigenvalue() -> None:
    found, _ = ready().predict(NEW)
    mean, covariance = joint(ready(), NEW)
    np.testing.assert_array_equal(mean, found.mean)
    np.testing.assert_allclose(covariance.diagonal(), found.variance, rtol=1e-12)
    np.testing.assert_allclose(covariance, covariance.T, rtol=1e-12, atol=1e-15)
    assert np.linalg.eigvalsh(covariance).min() > 0.0


def test_equal_members_are_correlated_as_one_is() -> None:
    first = pool().members[0]
    _, covariance = joint(ready_of(Pool((first,) * 3, WEIGHTS)), NEW)
    _, expected = joint(Ready.of(first), NEW)
    np.testing.assert_allclose(covariance, expected, rtol=1e-9, atol=1e-12)


def test_one_model_is_its_only_member_and_a_pool_is_not_one_model() -> None:
    first = pool().members[0]
    assert members_of(first) == (first,)
    assert alone(first) is first
    with pytest.raises(SparseBayesError, match="several"):
        alone(pool())


def test_members_without_gaussian_noise_are_refused() -> None:
    classes = fit(*ripley(40, 0), process_spec(Bernoulli()))
    with pytest.raises(SparseBayesError, match="bernoulli"):
        ready_of(Pool((classes,), np.ones(1))).predict(np.zeros((1, 2)))


def test_rows_are_predicted_alike_one_by_one() -> None:
    found, _ = ready().predict(NEW)
    each: list[Array] = []
    for row in NEW:
        one, _ = ready().predict(row[None])
        assert isinstance(one, RealPrediction)
        each.append(one.mean)
    np.testing.assert_allclose(np.concatenate(each), found.mean, rtol=1e-12, atol=1e-14)
