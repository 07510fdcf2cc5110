"""Two versions on the same rows: the bootstrap against its own definition, and against the normal's interval."""

from dataclasses import replace

import numpy as np
import pytest

from app.domain.scoring import Improvement, Metric, Paired, losses
from app.sparse_bayes.types import Array
from tests.domain.scoring.rows import classes, numbers


def compared(holder: Array, challenger: Array, *, metric: Metric = "mae", seed: int = 1, of: int = 700) -> Improvement:
    pair = Paired(metric, seed)
    for first in range(0, len(holder), of):
        pair.add(holder[first : first + of], challenger[first : first + of])
    return pair.result()


def drawn(rows: int = 2_000) -> tuple[Array, Array]:
    """What both cost goes together, so that the pairs tell more than each alone."""
    draws = np.random.default_rng(5)
    hard = draws.exponential(1.0, rows)
    return hard + draws.normal(0.05, 0.1, rows) + 1.0, hard + 1.0


def test_the_estimate_is_the_difference_of_the_means() -> None:
    holder, challenger = drawn()
    found = compared(holder, challenger)
    assert (found.rows, found.left_out) == (2_000, 0)
    assert (found.holder, found.challenger) == pytest.approx((holder.mean(), challenger.mean()))
    assert found.estimate == pytest.approx((holder - challenger).mean())


def test_the_interval_of_a_mean_is_that_of_the_normal() -> None:
    holder, challenger = drawn()
    found, difference = compared(holder, challenger), holder - challenger
    half = 1.96 * difference.std() / np.sqrt(len(difference))
    assert found.lower == pytest.approx(difference.mean() - half, abs=0.2 * half)
    assert found.upper == pytest.approx(difference.mean() + half, abs=0.2 * half)


def test_of_squares_the_roots_are_compared_replicate_by_replicate() -> None:
    rows, draws = 300, np.random.default_rng(0)
    holder, challenger = np.square(draws.normal(0, 2, rows)), np.square(draws.normal(0, 1, rows))
    found = compared(holder, challenger, metric="rmse")
    assert found.estimate == pytest.approx(np.sqrt(holder.mean()) - np.sqrt(challenger.mean()))
    weights = draws.poisson(1.0, (4_000, rows))
    roots = [np.sqrt(weights @ each / weights.sum(axis=1)) for each in (holder, challenger)]
    assert (found.lower, found.upper) == pytest.approx(
        tuple(np.quantile(roots[0] - roots[1], (0.025, 0.975))), abs=0.03
    )


def test_the_same_rows_and_seed_tell_the_same_however_they_are_divided() -> None:
    holder, challenger = drawn()
    whole = compared(holder, challenger, of=2_000)
    assert compared(holder, challenger, of=2_000) == whole
    for size in (1, 333, 1_024):
        divided = compared(holder, challenger, of=size)
        assert (divided.lower, divided.upper) == pytest.approx((whole.lower, whole.upper), rel=1e-9)
    assert compared(holder, challenger, seed=2).lower != whole.lower


def test_a_row_without_a_loss_under_one_counts_for_neither() -> None:
    holder, challenger = drawn(100)
    gaps = holder.copy()
    gaps[::10] = np.nan
    found = compared(gaps, challenger)
    kept = np.arange(100) % 10 > 0
    assert (found.rows, found.left_out) == (90, 10)
    assert found.challenger == pytest.approx(challenger[kept].mean())


def test_a_version_is_no_better_than_itself() -> None:
    same, _ = drawn(50)
    found = compared(same, same)
    assert (found.estimate, found.lower, found.upper) == (0.0, 0.0, 0.0)


def test_of_no_rows_nothing_is_told_and_of_one_only_itself() -> None:
    nothing = Paired("mae", 0).result()
    assert (nothing.rows, nothing.holder, nothing.estimate, nothing.lower) == (0, None, None, None)
    one = compared(np.array([3.0]), np.array([2.0]))
    assert (one.estimate, one.lower, one.upper) == (1.0, 1.0, 1.0)


def test_endless_losses_are_still_compared() -> None:
    huge = np.full(1_000, 1.7e308)
    found = compared(huge, np.ones(1_000))
    assert np.isfinite(np.array([found.estimate, found.lower, found.upper], np.float64)).all()


def test_rows_are_as_frequent_in_replicates_as_under_poissons_law() -> None:
    weights = Paired("mae", 0)._poisson
    assert weights.mean() == pytest.approx(1.0, abs=1e-4)
    assert weights.var() == pytest.approx(1.0, abs=1e-3)


def test_losses_make_the_metrics_and_are_none_where_there_is_none() -> None:
    judged, told = numbers(30), classes(30)
    assert losses(judged, "rmse") == pytest.approx((judged.target - judged.mean) ** 2)
    assert losses(judged, "mae") == pytest.approx(np.abs(judged.target - judged.mean))
    assert losses(judged, "nll") == pytest.approx(-judged.log_density)
    certain = np.eye(3)[told.truth]
    assert losses(told, "log_loss") == pytest.approx(-np.log((told.probabilities * certain).sum(axis=1)))
    assert losses(told, "brier") == pytest.approx(0.5 * ((told.probabilities - certain) ** 2).sum(axis=1))
    with pytest.raises(ValueError, match="brier"):
        losses(judged, "brier")


def test_an_error_without_end_costs_what_a_number_can_carry() -> None:
    judged = replace(numbers(1), target=np.array([1e308]), mean=np.array([-1e308]))
    assert np.isfinite(losses(judged, "rmse")).all()
