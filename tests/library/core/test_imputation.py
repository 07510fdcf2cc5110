"""Draws of missing columns: leave-one-out errors against regressions without a row, weights against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relevance_bayes.core.imputation import MIN_DONORS, RIDGES, WIDTHS, Donors, _kernel
from relevance_bayes.core.types import Array

ROWS = 40


def table(noise: float = 0.1) -> tuple[Array, Array]:
    """Two observed columns, and a missing one that depends on the first."""
    random = np.random.default_rng(5)
    observed = random.standard_normal((ROWS, 2)) * [2.0, 0.5] + [1.0, -3.0]
    return observed, (np.sin(observed[:, :1]) + noise * random.standard_normal((ROWS, 1)))


def left_out_error(observed: Array, missing: Array, width: float | None, ridge: float) -> float:
    """The mean square error of kernel ridge regressions, each without the row that it predicts."""
    scaled = (observed - observed.mean(axis=0)) / observed.std(axis=0)
    gram = _kernel(scaled, scaled, width)
    errors = []
    for row in range(ROWS):
        others = np.arange(ROWS) != row
        dual = np.linalg.solve(gram[np.ix_(others, others)] + ridge * np.eye(ROWS - 1), missing[others, 0])
        errors.append(missing[row, 0] - gram[row, others] @ dual)
    return float(np.mean(np.square(errors)))


def test_the_regression_has_nearly_the_least_leave_one_out_error_of_all_compared() -> None:
    observed, missing = table()
    fit = Donors.of(observed, missing, np.array([True])).fits[0]
    errors = [left_out_error(observed, missing, width, ridge) for width in WIDTHS for ridge in RIDGES.tolist()]
    assert min(errors) * (1.0 - 1e-6) <= fit.error <= min(errors) / 0.98
    assert_allclose(np.square(missing[:, 0] - fit.left_out).mean(), fit.error, rtol=1e-9)


def test_all_donors_have_the_same_weight_where_nothing_is_observed() -> None:
    _, missing = table()
    values, weights = Donors.of(np.empty((ROWS, 0)), missing, np.array([True])).at(np.empty((3, 0)))
    assert_array_equal(weights, np.full((3, ROWS), 1.0 / ROWS))
    assert_array_equal(values, np.repeat(missing[None], 3, axis=0))


def test_values_of_numbers_are_about_the_function_of_the_observed_columns() -> None:
    observed, missing = table()
    at = np.array([[0.5, -3.0], [2.0, -2.5]])
    values, weights = Donors.of(observed, missing, np.array([True])).at(at)
    means = (weights[:, :, None] * values).sum(axis=1)[:, 0]
    sds = np.sqrt((weights * np.square(values[:, :, 0] - means[:, None])).sum(axis=1))
    assert_allclose(means, np.sin(at[:, 0]), atol=0.15)
    assert (sds > 0.05).all()
    assert (sds < 0.3).all()


def test_weights_are_those_of_a_gaussian_in_the_predicted_values() -> None:
    observed, missing = table(noise=1.0)
    donors = Donors.of(observed, missing, np.array([True]))
    at = np.array([[0.5, -3.0]])
    fit = donors.fits[0]
    predicted = fit.predict((at - donors.shift) / donors.scale, donors.observed)[0]
    expected = np.exp(-0.5 * np.square(predicted - fit.left_out) / fit.error)
    assert 1.0 / np.square(expected / expected.sum()).sum() > MIN_DONORS
    assert_allclose(donors.at(at)[1][0], expected / expected.sum(), rtol=1e-10)


def test_weights_are_at_least_those_of_some_donors() -> None:
    observed, missing = table(noise=1e-6)
    _, weights = Donors.of(observed, missing, np.array([True])).at(observed[:5])
    assert_allclose(weights.sum(axis=1), 1.0)
    assert_allclose(1.0 / np.square(weights).sum(axis=1), MIN_DONORS, rtol=1e-3)


@pytest.mark.parametrize("are_numbers", [True, False])
def test_other_columns_have_values_that_occurred(are_numbers: bool) -> None:
    random = np.random.default_rng(1)
    observed = random.standard_normal((ROWS, 2))
    missing = np.where(random.random((ROWS, 1)) < 0.5, 0.0, 1.0)  # two values, and no dependence
    values, _ = Donors.of(observed, missing, np.array([are_numbers])).at(observed[:3])
    assert_array_equal(values, np.repeat(missing[None], 3, axis=0))


def test_values_of_a_row_are_those_of_one_donor() -> None:
    observed, first = table()
    missing = np.column_stack([first[:, 0], np.round(first[:, 0])])
    values, weights = Donors.of(observed[:, 1:], missing, np.array([False, False])).at(observed[:4, 1:])
    assert_array_equal(values, np.repeat(missing[None], 4, axis=0))
    assert_allclose(weights.sum(axis=1), 1.0)


def test_a_constant_column_has_no_part_in_the_weights() -> None:
    observed, missing = table()
    both = np.column_stack([missing[:, 0], np.full(ROWS, 7.0)])
    alone = Donors.of(observed, missing, np.array([True])).at(observed[:3])[1]
    values, weights = Donors.of(observed, both, np.array([True, True])).at(observed[:3])
    assert_allclose(weights, alone)
    assert_array_equal(values[:, :, 1], 7.0)


def test_far_rows_are_taken_for_those_at_the_end_of_the_range() -> None:
    observed, missing = table()
    values, _ = Donors.of(observed, missing, np.array([True])).at(np.array([[1e6, -1e6]]))
    margin = 0.1 * np.ptp(missing)
    assert values.min() >= missing.min() - margin
    assert values.max() <= missing.max() + margin
