"""The test of residuals: rarely wrong where there is nothing to find, and rarely silent where there is."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from relevance_bayes.core.log_density import (
    LEVEL,
    MIN_ROWS,
    NATS_OF_CORRELATION,
    correlation,
    log_normal,
    max_gain_of_noise,
    noise_varies,
)
from relevance_bayes.core.types import Array

DRAWS = 1_500

Draw = Callable[[np.random.Generator, int], Array]
NORMAL: Draw = lambda rng, n: rng.standard_normal(n)  # noqa: E731
HEAVY: Draw = lambda rng, n: rng.standard_t(2.5, n)  # noqa: E731
SKEWED: Draw = lambda rng, n: rng.exponential(1.0, n) - 1.0  # noqa: E731


@pytest.mark.parametrize("draw", [NORMAL, HEAVY, SKEWED], ids=["normal", "heavy", "skewed"])
@pytest.mark.parametrize(
    ("rows", "inputs"), [(20, 1), *(pytest.param(*size, marks=pytest.mark.thorough) for size in ((60, 4), (200, 10)))]
)
def test_noise_of_one_size_is_rarely_taken_for_noise_that_varies(draw: Draw, rows: int, inputs: int) -> None:
    rng = np.random.default_rng((rows, inputs))
    X, mean = rng.standard_normal((rows, inputs)), rng.standard_normal(rows)
    false = sum(noise_varies(X, mean, draw(rng, rows)) for _ in range(DRAWS))
    assert false / DRAWS < LEVEL + 3.0 * (LEVEL * (1.0 - LEVEL) / DRAWS) ** 0.5


@pytest.mark.parametrize(
    "sd",
    [
        lambda x: np.exp(0.7 * x[:, 1]),
        lambda x: 0.2 + np.exp(-2.0 * x[:, 0] ** 2),
        lambda x: 1.0 / (0.3 + np.exp(-2.0 * x[:, 0] ** 2)),
    ],
    ids=["grows", "greatest in the middle", "least in the middle"],
)
def test_noise_that_varies_is_found(sd: Callable[[Array], Array]) -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        X = rng.standard_normal((150, 3))
        found += noise_varies(X, rng.standard_normal(150), sd(X) * rng.standard_normal(150))
    assert found >= 85


@pytest.mark.parametrize(("slope", "is_found"), [(0.1, False), (0.3, True)])
def test_of_many_rows_noise_must_vary_by_what_a_model_of_it_gains(slope: float, is_found: bool) -> None:
    """A log variance of `slope` x gains slope^2 / 4 nats a row of standard normal x: .0025 and .0225."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((20_000, 2))
    z = np.exp(0.5 * slope * X[:, 0]) * rng.standard_normal(len(X))
    r = correlation(rankdata(np.abs(z)), rankdata(X[:, 0]))
    assert r is not None
    assert r * len(X) ** 0.5 > 5.0  # significant in both
    assert noise_varies(X, X[:, 1], z) is is_found


def test_the_gain_of_a_correlation_is_that_of_knowing_the_noise() -> None:
    rng = np.random.default_rng(4)
    x, slope = rng.standard_normal(400_000), 0.3
    variance = np.exp(slope * x)
    z = np.sqrt(variance) * rng.standard_normal(len(x))
    r = correlation(np.log(np.abs(z)), x)
    assert r is not None
    gain = float(np.mean(log_normal(z, 0.0, variance) - log_normal(z, 0.0, float(np.mean(z**2)))))
    assert gain == pytest.approx(NATS_OF_CORRELATION * r**2, rel=0.1)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.5])
def test_the_most_that_noise_could_gain_is_the_gain_of_knowing_it(slope: float) -> None:
    rng = np.random.default_rng(6)
    variance = np.exp(slope * rng.standard_normal(400_000))
    variance /= variance.mean()
    z = np.sqrt(variance) * rng.standard_normal(len(variance))
    gain = float(np.mean(log_normal(z, 0.0, variance) - log_normal(z, 0.0, 1.0)))
    assert max_gain_of_noise(z) == pytest.approx(gain, abs=0.01)
    assert gain == pytest.approx(0.25 * slope**2, abs=0.01)  # 1/2 (log E e^g - E g)


def test_residuals_of_zero_leave_the_most_that_noise_could_gain_finite() -> None:
    assert np.isfinite(max_gain_of_noise(np.zeros(30)))


def test_noise_that_grows_with_the_mean_is_found() -> None:
    rng = np.random.default_rng(1)
    mean = rng.uniform(1.0, 5.0, 150)
    assert noise_varies(rng.standard_normal((150, 2)), mean, 0.3 * mean**2 * rng.standard_normal(150))


def test_the_correlation_of_ranks_is_spearmans() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.permutation(30).astype(np.float64), rng.permutation(30).astype(np.float64)
    assert correlation(one, other) == pytest.approx(spearmanr(one, other).statistic, rel=1e-12)
    assert correlation(np.ones(30), other) is None


def test_few_rows_or_constant_ones_are_uninformative() -> None:
    few = MIN_ROWS - 1
    assert not noise_varies(np.arange(float(few))[:, None], np.arange(float(few)), np.arange(float(few)) ** 3)
    assert not noise_varies(np.ones((50, 2)), np.ones(50), np.arange(50.0))
