"""The choice by folds between a pool and its alternatives."""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.likelihoods import GaussianNoise, LogitGaussian
from relevance_bayes.core.log_density import MAX_SHORTFALL, log_one_normal
from relevance_bayes.core.models.pooling.reduction import Densities, MemberPredictions
from relevance_bayes.core.selection.evaluation import ComparedAlternative, PoolEvaluation
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

N = 100

SPEC = process_spec(GaussianNoise())
SHARES = process_spec(LogitGaussian())

NOBODY = Densities(np.empty((N, 0)), np.empty((N, 0)))


def judged(errors: Array, gain: float) -> PoolEvaluation:
    """A pool whose mean is 1 off and whose sd is 1, and an alternative of these errors (N,) and a better score."""
    splits = tuple((np.delete(np.arange(N), fold), fold) for fold in np.array_split(np.arange(N), 5))
    t, ones = np.random.default_rng(0).standard_normal(N), np.ones((N, 1))
    nll = 0.5 * np.log(2.0 * np.pi) + 0.5 - gain + 0.01 * np.random.default_rng(1).standard_normal(N)
    alternative = ComparedAlternative(SPEC, np.array([nll, errors, np.ones(N)]))
    pool = MemberPredictions(splits, np.arange(N), t, Densities(t[:, None] + ones, ones))
    return PoolEvaluation(pool, (alternative,))


@pytest.mark.parametrize(("gain", "selected"), [(0.2, 0), (0.0, None)])
def test_an_alternative_of_clearly_better_density_is_taken(gain: float, selected: int | None) -> None:
    assert judged(np.ones(N), gain).best_alternative == selected


def test_an_alternative_whose_mean_explodes_at_one_row_is_left_whatever_its_density() -> None:
    errors = np.ones(N)
    errors[7] = 9.0
    assert judged(errors, 0.2).best_alternative is None


def test_an_alternative_that_is_hardly_less_precise_is_taken() -> None:
    assert judged(np.full(N, 1.08), 0.2).best_alternative == 0


@pytest.mark.parametrize(
    ("gain", "sd", "is_bounded", "selected"),
    [
        (-0.01, 0.2, True, 0),  # within a standard error of 0.02, and 0.05 nats
        (-0.01, 0.2, False, None),
        (-0.03, 0.2, True, None),  # beyond a standard error
        (-0.06, 1.0, True, None),  # within one, but beyond 0.05 nats
        (-0.04, 1.0, True, 0),
        (0.01, 0.2, True, 0),
        (0.01, 0.2, False, None),
    ],
)
def test_shares_are_taken_unless_they_are_behind(
    gain: float, sd: float, is_bounded: bool, selected: int | None
) -> None:
    evaluation = judged(np.ones(N), 0.0)
    nll = 0.5 * np.log(2.0 * np.pi) + 0.5 - gain + sd * np.resize([-1.0, 1.0], N)
    figures = np.array([nll, np.ones(N), np.ones(N)])
    alternative = ComparedAlternative(SHARES if is_bounded else SPEC, figures)
    whole = replace(evaluation, alternatives=(alternative,))
    assert whole.gain_of(0).mean() == pytest.approx(gain)
    assert whole.best_alternative == selected


@pytest.mark.parametrize(
    ("gains", "taken"),
    [
        ([0.0], 0),
        ([0.0, 0.01], 0),  # within two standard errors
        ([0.0, 0.2], 1),
        ([0.0, -0.2], 0),
        ([0.0, 0.2, 0.21], 1),
        ([0.0, 0.2, 0.5], 2),
        ([np.nan, 0.2], 1),
        ([0.0, np.nan], 0),
        ([np.nan, np.nan], 0),
    ],
)
def test_the_first_model_is_taken_unless_another_one_is_clearly_better(gains: list[float], taken: int) -> None:
    rng, none = np.random.default_rng(2), np.zeros(N)
    figures = [np.array([-gain + 0.1 * rng.standard_normal(N), none, none, none, none, none]) for gain in gains]
    alternatives = tuple(ComparedAlternative(SPEC, one) for one in figures)
    evaluation = PoolEvaluation(MemberPredictions((), np.arange(N), none, NOBODY), alternatives)
    assert evaluation.first_or_clearly_better == taken


def with_a_row_far_out(evaluation: PoolEvaluation, *, pool: float, alternative: float) -> PoolEvaluation:
    """The same, but that the pool misses row 3 by `pool` sds and the alternative by `alternative` nats."""
    (one,), means = evaluation.alternatives, evaluation.pool.densities.means.copy()
    assert one.table is not None
    figures = one.table.copy()
    means[3] = evaluation.pool.t[3] + pool
    figures[:2, 3] = alternative, pool
    densities = Densities(means, evaluation.pool.densities.variances)
    members = replace(evaluation.pool, densities=densities)
    return replace(evaluation, pool=members, alternatives=(ComparedAlternative(SPEC, figures),))


@pytest.mark.parametrize("far", [(1e3, 1e5), (1e3, 1e7), (1e5, 1e3)])
def test_a_row_that_both_sides_miss_by_far_does_not_decide(far: tuple[float, float]) -> None:
    pool, alternative = far
    for gain, selected in ((0.2, 0), (0.0, None)):
        evaluation = with_a_row_far_out(judged(np.ones(N), gain), pool=pool, alternative=alternative)
        assert evaluation.best_alternative == selected


def test_a_row_that_all_miss_by_far_counts_in_each_score_as_so_far_below_one_normal() -> None:
    evaluation = with_a_row_far_out(judged(np.ones(N), 0.2), pool=1e4, alternative=1e6)
    lowest = log_one_normal(evaluation.pool.t)[3] - MAX_SHORTFALL
    pool, alternative = evaluation.pool.measured, evaluation.validation(0)
    left_out = alternative.left_out
    assert left_out is not None
    assert pool.is_clipped is not None
    assert left_out.measured.is_clipped is not None
    for found, is_clipped in ((pool, pool.is_clipped), (left_out.measured, left_out.measured.is_clipped)):
        assert found.each["nll"][3] == pytest.approx(-lowest)
        assert np.flatnonzero(is_clipped).tolist() == [3]
    assert alternative.figures["nll"] == left_out.measured.each["nll"].mean()
    member = evaluation.pool.densities.of_members(evaluation.pool.t)[:, 0]
    scores = [one.score for one in evaluation.compared([SPEC])]
    assert scores == pytest.approx([(member.sum() - member[3] + lowest) / N, -alternative.figures["nll"]])


def test_without_a_row_far_out_nothing_is_clipped() -> None:
    evaluation = judged(np.ones(N), 0.2)
    assert evaluation.pool.measured.is_clipped is not None
    assert not evaluation.pool.measured.is_clipped.any()
    np.testing.assert_array_equal(
        evaluation.pool.measured.each["nll"], -evaluation.pool.densities.log_density(evaluation.pool.t, np.ones(1))
    )


@pytest.mark.parametrize(("far", "taken"), [(0.0, 1), (1e6, 1)])
def test_a_row_that_two_models_miss_by_far_does_not_keep_the_first(far: float, taken: int) -> None:
    rng, none = np.random.default_rng(3), np.zeros(N)
    t = rng.standard_normal(N)
    nll = np.array([0.1 * rng.standard_normal(N), -0.2 + 0.1 * rng.standard_normal(N)])
    nll[:, 7] += far
    alternatives = tuple(ComparedAlternative(SPEC, np.array([one, none, none, none, none, none])) for one in nll)
    evaluation = PoolEvaluation(MemberPredictions((), np.arange(N), t, NOBODY), alternatives)
    assert evaluation.first_or_clearly_better == taken
