import subprocess
import sys

import numpy as np
import pytest
import scipy

from relevance_bayes.core.log_density import (
    MAX_SHORTFALL,
    average_ranks,
    log_normal,
    log_one_normal,
    min_log_density,
    noise_varies,
)


def test_one_normal_has_the_mean_and_variance_of_the_targets() -> None:
    t = np.random.default_rng(0).gamma(2.0, size=40)
    np.testing.assert_allclose(log_one_normal(t), scipy.stats.norm.logpdf(t, t.mean(), t.std()), rtol=1e-12)


def test_one_normal_of_counts_has_the_probability_of_the_interval_about_each() -> None:
    t = np.random.default_rng(1).poisson(3.0, 60).astype(float)
    one = scipy.stats.norm(t.mean(), t.std())
    expected = np.log(one.cdf(t + 0.5) - one.cdf(t - 0.5))
    np.testing.assert_allclose(log_one_normal(t, half_width=0.5), expected, rtol=1e-9)


def test_a_count_far_out_has_a_finite_log_probability() -> None:
    t = np.append(np.zeros(10_000), 5_000.0)
    found = log_one_normal(t, half_width=0.5)
    assert np.isfinite(found).all()
    assert (found <= 0.0).all()
    assert found[-1] == pytest.approx(log_one_normal(t)[-1], rel=1e-2)


def test_equal_targets_have_no_bound_except_that_of_the_best_model() -> None:
    t = np.full(5, 2.0)
    assert (min_log_density(t) == -np.inf).all()
    np.testing.assert_allclose(min_log_density(t, np.arange(5.0)), np.arange(5.0) - MAX_SHORTFALL)


def test_the_bound_is_below_the_better_of_one_normal_and_the_best_model() -> None:
    t = np.random.default_rng(2).standard_normal(30)
    best = log_normal(t, t + 3.0, 0.25)  # 6 sds off: above one normal in no row
    best[:10] = 4.0
    lowest = min_log_density(t, best)
    np.testing.assert_allclose(lowest[:10], 4.0 - MAX_SHORTFALL)
    np.testing.assert_allclose(lowest[10:], log_one_normal(t)[10:] - MAX_SHORTFALL)


def test_the_bound_of_a_row_shifts_with_the_units_of_the_target() -> None:
    t = np.random.default_rng(3).standard_normal(30)
    np.testing.assert_allclose(min_log_density(100.0 * t + 7.0), min_log_density(t) - np.log(100.0))


def test_ranks_are_those_of_scipy() -> None:
    values = np.concatenate([np.random.default_rng(0).standard_normal(50), np.repeat([0.3, -1.0, 7.0], 4)])
    assert average_ranks(values) == pytest.approx(scipy.stats.rankdata(values))


def test_noise_varies_by_spearmans_correlation_of_its_sizes() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.0, 1.0, 200)
    X, z = np.column_stack([x, np.ones(200)]), rng.standard_normal(200)
    assert float(scipy.stats.spearmanr(np.abs(z * np.exp(x)), x).pvalue) < 1e-4
    assert noise_varies(X, np.zeros(200), z * np.exp(x))
    assert noise_varies(X, np.zeros(200), z * np.exp(2.0 * np.abs(x)))
    assert not noise_varies(X, np.zeros(200), z)


def test_tests_of_residuals_do_not_import_scipys_statistics() -> None:
    code = """
import sys
import numpy as np
from relevance_bayes.core.log_density import has_heavy_tails, noise_varies
z = np.random.default_rng(0).standard_normal(60)
has_heavy_tails(z), noise_varies(z[:, None], z, z)
print("scipy.stats" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "False\n"
