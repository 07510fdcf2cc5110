"""Figures of numbers against their plain formulas, scikit-learn, and themselves in pieces."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from scipy.stats import norm, poisson
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from app.evaluation.metrics.numbers import NumberScores
from relevance_bayes.records.evaluations import EvaluationResult, NumberDiagnostics, NumberMetrics
from relevance_bayes.tasks.prediction import LabelledNumbers
from tests.evaluation.metrics.rows import diagnostics_of, judged_numbers, numbers, pieces, some_numbers


def scored(labelled: LabelledNumbers) -> EvaluationResult[NumberMetrics, NumberDiagnostics]:
    return NumberScores.of(labelled).result()


def in_pieces(labelled: LabelledNumbers, *, of: int) -> EvaluationResult[NumberMetrics, NumberDiagnostics]:
    parts = (NumberScores.of(some_numbers(labelled, rows)) for rows in pieces(len(labelled.target), of=of))
    return reduce(NumberScores.__add__, parts, NumberScores.empty()).result()


def test_figures_are_those_of_scikit_learn_and_of_the_plain_formulas() -> None:
    labelled = numbers(500)
    found, y, mean = scored(labelled), labelled.target, labelled.mean
    assert found.rows == 500
    assert found.metrics.rmse == pytest.approx(root_mean_squared_error(y, mean), rel=1e-12)
    assert found.metrics.mae == pytest.approx(mean_absolute_error(y, mean), rel=1e-12)
    assert found.metrics.r2 == pytest.approx(r2_score(y, mean), rel=1e-12)
    assert found.metrics.nll == pytest.approx(-np.mean(norm.logpdf(y, mean, 0.7)), rel=1e-12)
    for one in found.metrics.coverage:
        half = norm.ppf(0.5 + one.percent / 200.0) * 0.7
        assert one.share == pytest.approx((np.abs(y - mean) <= half).mean())
        assert one.width == pytest.approx(2.0 * half)


@pytest.mark.parametrize("size", [1, 7, 499])
def test_figures_of_pieces_added_are_those_of_the_whole(size: int) -> None:
    labelled = numbers(500)
    at_once, added = scored(labelled), in_pieces(labelled, of=size)
    assert (diagnostics_of(added).standardised_residuals, added.rows) == (
        diagnostics_of(at_once).standardised_residuals,
        at_once.rows,
    )
    assert diagnostics_of(added).pit == pytest.approx(diagnostics_of(at_once).pit)
    for name in ("rmse", "mae", "r2", "nll"):
        assert getattr(added.metrics, name) == pytest.approx(getattr(at_once.metrics, name), rel=1e-12)
    assert [one.share for one in added.metrics.coverage] == pytest.approx(
        [one.share for one in at_once.metrics.coverage]
    )
    assert [one.mean_residual for one in diagnostics_of(added).residuals] == pytest.approx(
        [one.mean_residual for one in diagnostics_of(at_once).residuals]
    )


def test_pictures_of_right_predictions_are_those_of_the_normal_and_flat() -> None:
    found = in_pieces(numbers(40_000), of=8_192)
    expected = np.diff(norm.cdf([-np.inf, *diagnostics_of(found).bin_edges, np.inf])) * found.rows
    assert np.abs(np.array(diagnostics_of(found).standardised_residuals) - expected).max() < 5.0 * np.sqrt(
        expected.max()
    )
    assert np.array(diagnostics_of(found).pit) == pytest.approx(0.05, abs=0.006)
    assert (
        sum(diagnostics_of(found).standardised_residuals)
        == found.rows
        == sum(one.rows for one in diagnostics_of(found).residuals)
    )
    assert len(diagnostics_of(found).residuals) == 20
    for one in diagnostics_of(found).residuals:
        assert one.rows == pytest.approx(2_000, rel=0.01)
        assert one.lower <= one.mean_prediction <= one.upper
        assert one.mean_residual == pytest.approx(0.0, abs=0.08)
        assert one.mean_absolute_residual == pytest.approx(0.7 * np.sqrt(2.0 / np.pi), abs=0.06)


def test_residuals_go_with_predictions_exactly_while_rows_are_few() -> None:
    labelled = numbers(1_000)
    order = np.argsort(labelled.mean)
    for one, rows in zip(diagnostics_of(scored(labelled)).residuals, order.reshape(20, 50), strict=True):
        error = (labelled.target - labelled.mean)[rows]
        assert (one.rows, one.lower, one.upper) == (50, labelled.mean[rows].min(), labelled.mean[rows].max())
        assert (one.mean_residual, one.mean_absolute_residual) == pytest.approx((error.mean(), np.abs(error).mean()))


def test_too_little_doubt_shows_in_coverage_and_at_the_ends_of_the_bins() -> None:
    found = scored(numbers(4_000, sd=0.35))
    assert [one.share for one in found.metrics.coverage] == pytest.approx(
        [norm.cdf(z) * 2 - 1 for z in norm.ppf(0.5 + np.array([0.5, 0.8, 0.95]) / 2) / 2], abs=0.03
    )
    assert min(diagnostics_of(found).pit[0], diagnostics_of(found).pit[-1]) > 3.0 * diagnostics_of(found).pit[10]


def test_counts_take_both_ends_of_their_probability_so_that_right_predictions_are_flat() -> None:
    counts = np.random.default_rng(3).poisson(1.5, 20_000).astype(np.float64)
    normal = judged_numbers(counts, np.full(20_000, 1.5), np.full(20_000, 1.5**0.5))
    labelled = replace(normal, below=poisson.cdf(counts - 1, 1.5), upto=poisson.cdf(counts, 1.5))
    assert np.array(diagnostics_of(in_pieces(labelled, of=8_192)).pit) == pytest.approx(0.05, abs=0.002)


def test_what_was_held_for_impossible_is_counted_and_leaves_the_density_out() -> None:
    labelled = numbers(10)
    density = labelled.log_density.copy()
    density[4] = -np.inf
    found = scored(replace(labelled, log_density=density))
    assert (found.rows, found.metrics.rows_of_zero_density) == (10, 1)
    assert found.metrics.nll == pytest.approx(-np.delete(density, 4).mean())
    assert found.metrics.rmse == scored(labelled).metrics.rmse


def test_a_constant_target_explains_nothing_and_no_rows_have_no_figures() -> None:
    assert scored(judged_numbers(np.full(3, 2.0), np.array([1.0, 2.0, 3.0]), np.ones(3))).metrics.r2 == 0.0
    nothing = NumberScores.empty().result()
    assert (nothing.rows, nothing.metrics.rmse, nothing.metrics.mae, nothing.metrics.r2, nothing.metrics.nll) == (
        0,
        None,
        None,
        None,
        None,
    )
    assert (nothing.metrics.coverage, diagnostics_of(nothing).residuals, sum(diagnostics_of(nothing).pit)) == (
        (),
        (),
        0.0,
    )


def test_figures_stay_finite_at_the_ends_of_the_range() -> None:
    huge = np.array([1.7e308, -1.7e308, 1.0])
    labelled = LabelledNumbers(huge, -huge, np.ones(3), np.zeros(3), np.zeros(3), np.ones(3), np.ones((3, 3)), huge + 0)
    labelled = replace(labelled, lower=np.full((3, 3), -1.7e308), upper=np.full((3, 3), 1.7e308))
    found = in_pieces(labelled, of=1)
    reported = [found.metrics.rmse, found.metrics.mae, found.metrics.r2, *(one.width for one in found.metrics.coverage)]
    assert np.isfinite(np.array(reported, np.float64)).all()
    assert all(
        np.isfinite([one.mean_residual, one.mean_absolute_residual]).all() for one in diagnostics_of(found).residuals
    )
