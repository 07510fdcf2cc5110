"""Two versions on the same rows: the interval against textbooks' formulas, and against what it promises."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from app.evaluation.metrics.losses import losses
from app.evaluation.metrics.paired import MAX_UNITS, GroupKeys, PairedDifferences, margins
from relevance_bayes.core.types import Array
from relevance_bayes.records.evaluations import Improvement, Metric
from tests.evaluation.metrics.rows import classes, numbers


def compared(
    holder: Array, challenger: Array, *, metric: Metric = "mae", of: int = 700, groups: GroupKeys | None = None
) -> Improvement:
    pair = PairedDifferences(metric, grouped=groups is not None)
    for first in range(0, len(holder), of):
        some = slice(first, first + of)
        pair.add(holder[some], challenger[some], None if groups is None else groups[some])
    return pair.result()


def drawn(rows: int = 2_000) -> tuple[Array, Array]:
    """The costs of both are correlated, so that the pairs are more precise than each alone."""
    draws = np.random.default_rng(5)
    hard = draws.exponential(1.0, rows)
    return hard + draws.normal(0.05, 0.1, rows) + 1.0, hard + 1.0


def test_the_estimate_is_the_difference_of_the_means() -> None:
    holder, challenger = drawn()
    found = compared(holder, challenger)
    assert (found.rows, found.rows_without_loss) == (2_000, 0)
    assert (found.champion, found.challenger) == pytest.approx((holder.mean(), challenger.mean()))
    assert found.estimate == pytest.approx((holder - challenger).mean())


def test_the_interval_of_differences_without_skew_is_students() -> None:
    challenger, difference = np.full(40, 5.0), np.repeat(np.arange(-2.0, 3.0), 8) + 0.7
    found = compared(challenger + difference, challenger)
    expected = stats.ttest_1samp(difference, 0.0).confidence_interval(0.95)
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_a_long_tail_moves_the_end_on_its_side_alone() -> None:
    challenger, difference = np.full(50, 50.0), 1.0 - np.random.default_rng(2).exponential(size=50)
    found, expected = compared(challenger + difference, challenger), stats.ttest_1samp(difference, 0.0)
    students = expected.confidence_interval(0.95)
    assert found.lower is not None
    assert found.lower < students.low - 0.1
    assert found.upper == pytest.approx(students.high, rel=1e-9)
    turned = compared(challenger - difference, challenger)
    assert (turned.lower, turned.upper) == pytest.approx((-students.high, -found.lower), rel=1e-9)


def test_of_groups_of_one_size_the_interval_is_that_of_their_means() -> None:
    draws = np.random.default_rng(4)
    common = np.repeat(np.linspace(-1.0, 1.0, 12), 5)
    difference = common + np.tile([-0.2, -0.1, 0.0, 0.1, 0.2], 12) + 0.4
    order = draws.permutation(60)
    groups = np.repeat(np.arange(100, 112, dtype=np.uint64), 5)[order]
    found = compared(10.0 + difference[order], np.full(60, 10.0), of=7, groups=groups)
    expected = stats.ttest_1samp(difference.reshape(12, 5).mean(axis=1), 0.0).confidence_interval(0.95)
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.groups == 12
    assert found.effective_groups == pytest.approx(12.0)


def test_the_standard_error_of_unequal_groups_is_that_of_the_jackknife() -> None:
    rows, sums = np.array([2.0, 3.0, 7.0, 4.0, 5.0]), np.array([1.0, 4.0, -2.0, 3.0, 2.5])
    mean, units = sums.sum() / rows.sum(), len(rows)
    without = np.array([np.delete(sums, out).sum() / np.delete(rows, out).sum() for out in range(units)])
    error = np.sqrt((units - 1) / units * np.sum((without - mean) ** 2))
    freedom = rows.sum() ** 2 / np.sum(rows**2) - 1.0
    below, above = margins(sums - rows * mean, rows)
    assert min(below, above) == pytest.approx(stats.t.ppf(0.975, freedom) * error, rel=1e-9)


def test_of_squares_the_roots_are_compared() -> None:
    rows, draws = 20_000, np.random.default_rng(0)
    holder, challenger = np.square(draws.normal(0, 2, rows)), np.square(draws.normal(0, 1, rows))
    found = compared(holder, challenger, metric="rmse")
    assert found.estimate == pytest.approx(np.sqrt(holder.mean()) - np.sqrt(challenger.mean()))
    weights = draws.poisson(1.0, (600, rows))
    roots = [np.sqrt(weights @ each / weights.sum(axis=1)) for each in (holder, challenger)]
    assert (found.lower, found.upper) == pytest.approx(
        tuple(np.quantile(roots[0] - roots[1], (0.025, 0.975))), abs=0.01
    )


def test_the_same_rows_give_the_same_however_they_are_divided() -> None:
    holder, challenger = drawn()
    at_once = compared(holder, challenger, of=2_000)
    for size in (1, 333, 1_024):
        divided = compared(holder, challenger, of=size)
        assert (divided.lower, divided.upper) == pytest.approx((at_once.lower, at_once.upper), rel=1e-9)


def test_rows_that_share_their_units_have_the_same_interval() -> None:
    draws = np.random.default_rng(1)
    difference = draws.normal(0.01, 1.0, 3 * MAX_UNITS)
    found = compared(5.0 + difference, np.full(len(difference), 5.0), of=100_000)
    expected = stats.ttest_1samp(difference, 0.0).confidence_interval(0.95)
    assert (found.lower, found.upper) == pytest.approx(
        (expected.low, expected.high), abs=0.03 * float(0.01 - expected.low)
    )


def test_a_row_without_a_loss_under_one_counts_for_neither() -> None:
    holder, challenger = drawn(100)
    gaps = holder.copy()
    gaps[::10] = np.nan
    found = compared(gaps, challenger)
    kept = np.arange(100) % 10 > 0
    assert (found.rows, found.rows_without_loss) == (90, 10)
    assert found.challenger == pytest.approx(challenger[kept].mean())


def test_a_version_is_no_better_than_itself() -> None:
    same, _ = drawn(50)
    found = compared(same, same)
    assert (found.estimate, found.lower, found.upper) == (0.0, 0.0, 0.0)


def test_of_no_rows_nothing_is_reported_and_of_one_only_itself() -> None:
    nothing = PairedDifferences("mae").result()
    assert (nothing.rows, nothing.champion, nothing.estimate, nothing.lower) == (0, None, None, None)
    one = compared(np.array([3.0]), np.array([2.0]))
    assert (one.estimate, one.lower, one.upper) == (1.0, None, None)


def test_endless_losses_are_still_compared() -> None:
    huge = np.full(1_000, 1.7e308)
    found = compared(huge, np.ones(1_000))
    assert np.isfinite(np.array([found.estimate, found.lower, found.upper], np.float64)).all()


def test_losses_make_the_metrics_and_are_none_where_there_is_none() -> None:
    labelled, reported = numbers(30), classes(30)
    assert losses(labelled, "rmse") == pytest.approx((labelled.target - labelled.mean) ** 2)
    assert losses(labelled, "mae") == pytest.approx(np.abs(labelled.target - labelled.mean))
    assert losses(labelled, "nll") == pytest.approx(-labelled.log_density)
    certain = np.eye(3)[reported.truth]
    assert losses(reported, "log_loss") == pytest.approx(-np.log((reported.probabilities * certain).sum(axis=1)))
    assert losses(reported, "brier") == pytest.approx(0.5 * ((reported.probabilities - certain) ** 2).sum(axis=1))
    with pytest.raises(ValueError, match="brier"):
        losses(labelled, "brier")


def test_an_error_without_end_costs_what_a_number_can_carry() -> None:
    labelled = replace(numbers(1), target=np.array([1e308]), mean=np.array([-1e308]))
    assert np.isfinite(losses(labelled, "rmse")).all()
