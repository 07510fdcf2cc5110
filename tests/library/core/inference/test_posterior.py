"""import numpy as np"""

import numpy as np
import pytest

from relevance_bayes.core.inference.factors import FixedFactors, LaplaceFactors, build
from relevance_bayes.core.inference.posterior import Posterior, newton_step, posterior
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.types import Array
from tests.library.core.drawn import LIKELIHOODS, LOG_CONCAVE, columns_of, hyperparameters, problem_for

ACTIVE = (30, 4, 11, 25)


def rested(alpha: Array, beta: float) -> tuple[Posterior, Array, Array]:
    problem = problem_for(GaussianNoise())
    factors = build(problem, ACTIVE, np.zeros(4))
    found, _ = factors.posterior(alpha, beta, np.zeros(4))
    return found, columns_of(factors), problem.t


def test_covariance_and_mean_are_what_direct_solves_give() -> None:
    alpha, beta = hyperparameters(4, GaussianNoise())
    found, P, t = rested(alpha, beta)
    precision = np.diag(alpha) + beta * P.T @ P
    np.testing.assert_allclose(found.covariance @ precision, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(found.mean, beta * np.linalg.solve(precision, P.T @ t), rtol=1e-9)
    np.testing.assert_allclose(found.determined, 1.0 - alpha * found.covariance.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(found.whitened, found.covariance * np.sqrt(np.outer(alpha, alpha)), rtol=1e-12)


def test_the_divergence_is_that_of_two_gaussians() -> None:
    alpha, beta = hyperparameters(4, GaussianNoise())
    found, _, _ = rested(alpha, beta)
    sign, log_determinant = np.linalg.slogdet(alpha[:, None] * found.covariance)
    by_definition = 0.5 * (
        np.trace(alpha[:, None] * found.covariance) + found.mean @ (alpha * found.mean) - 4.0 - log_determinant
    )
    assert sign == 1.0
    assert found.log_shrinkage == pytest.approx(log_determinant, rel=1e-10)
    assert found.divergence == pytest.approx(by_definition, rel=1e-10)


@pytest.mark.parametrize("name", LOG_CONCAVE)
def test_a_newton_step_leads_to_the_posteriors_mean(name: str) -> None:
    likelihood = LIKELIHOODS[name]
    factors = build(problem_for(likelihood), ACTIVE, np.zeros(4))
    alpha, beta = hyperparameters(4, likelihood)
    assert isinstance(factors, FixedFactors | LaplaceFactors)
    sums = factors.sums(np.zeros(4), beta)
    away = np.array([0.3, -0.2, 0.1, 0.5])
    np.testing.assert_allclose(away + newton_step(sums, away, alpha), posterior(sums, away, alpha).mean, rtol=1e-9)


def test_gamma_stays_between_zero_and_one_at_extreme_precisions() -> None:
    found, _, _ = rested(np.array([1e-12, 1e12, 1e-3, 1e30]), 1e10)
    assert found.determined.min() >= 0.0
    assert found.determined.max() <= 1.0
    assert np.isfinite(found.mean).all()
