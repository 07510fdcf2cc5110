import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sparse_bayes.errors import DataError, OneClassError
from app.sparse_bayes.likelihoods import Bernoulli
from app.sparse_bayes.likelihoods.bernoulli import integrated_sigmoid
from tests.sparse_bayes.drawn import sigmoid_by_quadrature


def test_the_two_classes_share_all_probability() -> None:
    f = np.array([-700.0, -3.0, 0.0, 2.0, 700.0])
    one, other = (np.exp(Bernoulli().log_density(np.full(5, t), f, 1.0)) for t in (1.0, 0.0))
    np.testing.assert_allclose(one + other, 1.0, rtol=1e-12)
    np.testing.assert_allclose(one[1:4], 1.0 / (1.0 + np.exp(-f[1:4])), rtol=1e-12)


def test_it_has_no_noise() -> None:
    start, greatest = Bernoulli().start(np.array([0.0, 1.0]))
    assert start == greatest
    Bernoulli().noise(start)


def test_sites_stay_finite_far_out() -> None:
    precision, gradient = Bernoulli().sites(np.array([0.0, 1.0]), np.array([-1e4, 1e4]), 1.0)
    np.testing.assert_array_equal(precision, 0.0)
    np.testing.assert_array_equal(gradient, 0.0)


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(OneClassError, match="class 1"):
        Bernoulli().check(np.ones(4))


def test_targets_that_are_no_classes_are_refused() -> None:
    with pytest.raises(DataError, match=r"0\.0 and 1\.0"):
        Bernoulli().check(np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("sd", [1e-3, 0.1, 0.7, 2.9, 3.1, 5.0, 20.0, 1e3])
def test_the_sigmoid_is_integrated_to_ten_digits(sd: float) -> None:
    means = np.array([-800.0, -30.0, -6.0, -2.5, -0.3, 0.0, 1.0, 4.0, 12.0, 100.0])
    expected = [sigmoid_by_quadrature(float(mean), sd) for mean in means]
    np.testing.assert_allclose(integrated_sigmoid(means, np.full(10, sd**2)), expected, rtol=0.0, atol=1e-10)


@given(st.floats(-50.0, 50.0), st.floats(0.0, 1e3))
def test_the_two_classes_are_treated_alike(mean: float, sd: float) -> None:
    one, other = integrated_sigmoid(np.array([mean, -mean]), np.full(2, sd**2))
    assert 0.0 <= one <= 1.0
    assert one + other == pytest.approx(1.0, abs=1e-12)


def test_without_variance_it_is_the_sigmoid() -> None:
    mean = np.linspace(-5.0, 5.0, 11)
    np.testing.assert_allclose(integrated_sigmoid(mean, np.zeros(11)), 1.0 / (1.0 + np.exp(-mean)), rtol=1e-12)
