"""What every likelihood promises, for all members at once."""

from typing import get_args

import numpy as np
import pytest

from app.sparse_bayes.likelihoods import Likelihood
from tests.sparse_bayes.drawn import LIKELIHOODS, rows_for

BETA = 2.3
NUDGE = 1e-4


def test_every_member_of_the_union_is_tested() -> None:
    assert {type(likelihood) for likelihood in LIKELIHOODS.values()} == set(get_args(Likelihood))


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_sites_are_the_derivatives_of_the_log_density(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    _, t = rows_for(likelihood, 20, 0)
    f = np.random.default_rng(1).normal(0.0, 2.0, len(t))
    below, here, above = (likelihood.log_density(t, f + step, BETA) for step in (-NUDGE, 0.0, NUDGE))
    precision, gradient = likelihood.sites(t, f, BETA)
    np.testing.assert_allclose(gradient, (above - below) / (2.0 * NUDGE), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(precision, -(above - 2.0 * here + below) / NUDGE**2, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_slope_of_the_precision_is_its_derivative(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    _, t = rows_for(likelihood, 20, 0)
    f = np.random.default_rng(2).normal(0.0, 2.0, len(t))
    (below, _), (above, _) = (likelihood.sites(t, f + step, BETA) for step in (-NUDGE, NUDGE))
    np.testing.assert_allclose(likelihood.precision_slope(t, f), (above - below) / (2.0 * NUDGE), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_constant_precision_is_one_number_for_all_rows_and_all_f(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    _, t = rows_for(likelihood, 20, 0)
    f = np.linspace(-3.0, 3.0, len(t))
    precision, _ = likelihood.sites(t, f, BETA)
    assert likelihood.constant_precision == bool(np.all(precision == precision[0]))
