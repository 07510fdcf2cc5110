from math import comb, exp, log

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import cauchy as cauchy_distribution
from scipy.stats import norm

from relevance_bayes.core.inference.evidence import WIDE, Peak, cauchy, log_choices, normal
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences


def test_a_normal_hyperprior_is_its_density_with_its_derivatives() -> None:
    at = np.array([-4.0, 0.3, 2.0])
    value, slope, precision = normal(at)
    assert value == pytest.approx(float(norm.logpdf(at, 0.0, WIDE).sum()))
    np.testing.assert_allclose(slope, by_differences(lambda there: normal(there)[0], at), rtol=1e-7)
    np.testing.assert_allclose(precision, -by_differences(lambda there: float(normal(there)[1].sum()), at), rtol=1e-7)


def test_a_cauchy_hyperprior_is_its_density_with_its_derivatives() -> None:
    at = np.array([-0.15, 0.03, 0.1])
    value, slope, precision = cauchy(at, 0.2)
    assert value == pytest.approx(float(cauchy_distribution.logpdf(at, scale=0.2).sum()))
    np.testing.assert_allclose(slope, by_differences(lambda there: cauchy(there, 0.2)[0], at), rtol=1e-7)
    np.testing.assert_allclose(
        precision, -by_differences(lambda there: float(cauchy(there, 0.2)[1].sum()), at), rtol=1e-6
    )
    assert cauchy(np.array([3.0]), 0.2)[2] == 0.0


@pytest.mark.parametrize(("candidates", "chosen"), [(5, 0), (5, 5), (10, 3), (200, 17)])
def test_choices_are_counted(candidates: int, chosen: int) -> None:
    assert log_choices(candidates, chosen) == pytest.approx(log(comb(candidates, chosen)), abs=1e-9)


def peaked(at: Array, curvature: Array) -> Peak:
    """L = -7 - (theta - at)' curvature (theta - at)/2."""
    return Peak(-7.0, *normal(at), curvature)


def test_a_quadratic_evidence_is_integrated_exactly() -> None:
    at, curvature = 1.3, 4.0
    expected = log(quad(lambda x: exp(-7.0 - 0.5 * curvature * (x - at) ** 2) * norm.pdf(x, 0.0, WIDE), -30.0, 30.0)[0])
    assert peaked(np.array([at]), np.array([[curvature]])).integral == pytest.approx(expected, abs=1e-9)


def test_what_the_evidence_does_not_see_costs_nothing() -> None:
    seen = peaked(np.array([1.0]), np.array([[9.0]]))
    beside = peaked(np.array([1.0, 11.0]), np.diag([9.0, 0.0]))
    assert beside.integral == pytest.approx(seen.integral, abs=1e-9)


def test_a_saddle_is_no_gain() -> None:
    flat, saddle = (peaked(np.array([0.0]), np.array([[curvature]])) for curvature in (0.0, -5.0))
    assert saddle.integral == pytest.approx(flat.integral)


def test_nothing_learned_is_nothing_integrated() -> None:
    assert peaked(np.empty(0), np.empty((0, 0))).integral == -7.0
