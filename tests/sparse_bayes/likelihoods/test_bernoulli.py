import numpy as np
import pytest

from app.sparse_bayes.errors import DataError, OneClassError
from app.sparse_bayes.likelihoods import Bernoulli


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
