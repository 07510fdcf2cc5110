"""import numpy as np"""

import numpy as np
import pytest
import scipy

from relevance_bayes.core.log_density import log_normal
from relevance_bayes.core.models.pooling.reduction import Densities
from relevance_bayes.core.types import Array


def drawn(rows: int, members: int, seed: int = 0) -> tuple[Densities, Array]:
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((rows, members))
    return Densities(means, rng.uniform(0.2, 2.0, (rows, members))), rng.standard_normal(rows)


def test_the_product_is_the_normalised_product_of_the_densities() -> None:
    densities, _ = drawn(4, 3)
    weights = np.array([0.5, 0.3, 0.2])
    mean, variance = densities.product(weights)
    grid = np.linspace(-12.0, 12.0, 20_001)
    for row in range(4):
        members = log_normal(grid[:, None], densities.means[row], densities.variances[row])
        product = np.exp(members @ weights)
        product /= scipy.integrate.trapezoid(product, grid)
        np.testing.assert_allclose(product, np.exp(log_normal(grid, mean[row], variance[row])), atol=1e-9)


def test_members_that_agree_are_as_sure_as_one() -> None:
    means, variances = np.full((2, 3), 1.5), np.full((2, 3), 0.4)
    mean, variance = Densities(means, variances).product(np.array([0.2, 0.5, 0.3]))
    np.testing.assert_allclose(mean, 1.5)
    np.testing.assert_allclose(variance, 0.4)


def test_shares_add_to_one_and_make_the_mean() -> None:
    densities, _ = drawn(30, 4)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    shares = densities.shares(weights)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose((shares * densities.means).sum(axis=1), densities.product(weights)[0])


def test_the_gradient_of_the_weights_is_that_of_differences() -> None:
    densities, t = drawn(25, 3)
    t[:2] = 60.0  # rows that no member expects, whose density is bounded
    lowest = densities.min_log_density(t)
    for theta in (np.zeros(3), np.array([0.4, -1.2, 0.7])):
        _, gradient = densities._loss(theta, t, lowest)
        numeric = scipy.optimize.approx_fprime(theta, lambda at: densities._loss(at, t, lowest)[0], 1e-6)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-4)


def test_the_best_weights_are_those_of_a_grid() -> None:
    densities, t = drawn(200, 2, seed=3)
    found = densities.best_weights(t)

    def value(weights: Array) -> float:
        theta = np.log(weights) - np.log(weights).mean()
        return float(densities.log_density(t, weights).sum()) - 0.25 * float(theta @ theta)

    grid = [np.array([w, 1.0 - w]) for w in np.linspace(0.003, 0.997, 500)]
    best = max(grid, key=value)
    np.testing.assert_allclose(found, best, atol=4e-3)


def test_a_member_that_predicts_badly_gets_next_to_no_weight() -> None:
    rng = np.random.default_rng(1)
    t = rng.standard_normal(300)
    good = t + 0.1 * rng.standard_normal(300)
    means = np.column_stack([good, rng.standard_normal(300)])
    weights = Densities(means, np.column_stack([np.full(300, 0.01), np.full(300, 0.01)])).best_weights(t)
    assert weights[0] > 0.98
    assert weights.sum() == pytest.approx(1.0)


def test_one_member_has_all_the_weight() -> None:
    densities, t = drawn(10, 1)
    np.testing.assert_allclose(densities.best_weights(t), [1.0])


def test_one_row_of_no_density_does_not_decide() -> None:
    rng = np.random.default_rng(2)
    t = rng.standard_normal(100)
    means = np.column_stack([t + 0.1 * rng.standard_normal(100), t + 0.5 * rng.standard_normal(100)])
    variances = np.column_stack([np.full(100, 0.01), np.full(100, 0.25)])
    before = Densities(means, variances).best_weights(t)
    variances[0, 0] = 1e-12
    means[0, 0] = t[0] + 1.0
    after = Densities(means, variances).best_weights(t)
    assert abs(after[0] - before[0]) < 0.2


def test_a_row_that_all_members_miss_by_far_does_not_decide() -> None:
    """Each misses it by more than ten thousand nats, one by less than the others."""
    rng = np.random.default_rng(4)
    t = rng.standard_normal(100)
    means = np.column_stack([t + 0.1 * rng.standard_normal(100), t + 0.5 * rng.standard_normal(100)])
    variances = np.column_stack([np.full(100, 0.01), np.full(100, 0.25)])
    before = Densities(means, variances).best_weights(t)
    means[0] = t[0] + 500.0  # 1.25e7 nats for one, 5e5 for the other
    after = Densities(means, variances).best_weights(t)
    np.testing.assert_allclose(after, before, atol=0.02)


def test_rows_away_from_the_bound_have_the_weights_of_the_plain_log_density() -> None:
    densities, t = drawn(60, 3, seed=5)
    assert (densities.of_members(t).max(axis=1) > densities.min_log_density(t)).all()
    unbounded = np.full(60, -np.inf)
    np.testing.assert_array_equal(densities.best_weights(t), densities.best_weights(t, unbounded))
