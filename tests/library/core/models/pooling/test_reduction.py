"""The reduction of a pool: few functions where they lose little, within the cost that a prediction may have."""

from functools import cache

import numpy as np
import pytest

from relevance_bayes.core.kernels import Gaussian, Matern32
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.models.fitting import FitLog, pose
from relevance_bayes.core.models.pooling.members import Ordered, whole
from relevance_bayes.core.models.pooling.reduction import (
    Densities,
    affordable_functions,
    allowed_loss,
    expected_log_density,
    learning_loss,
    order_losses,
    prediction_cost,
    reduced,
    smallest_pool,
    widening,
)
from relevance_bayes.core.rows import Rows
from tests.library.core.drawn import friedman, process_spec

UNBOUNDED = 1e12


@cache
def rows() -> Rows:
    X, t, _ = friedman(120, 0)
    return Rows(X, t)


@cache
def ordered() -> tuple[Ordered, ...]:
    specs = [process_spec(GaussianNoise(), kernel=kernel, inputs=True) for kernel in (Gaussian(), Matern32())]
    problems = [pose(rows().X, rows().t, spec) for spec in specs]
    return tuple(
        Ordered.of([*whole(problem, spec, FitLog())][-1]) for problem, spec in zip(problems, specs, strict=True)
    )


@cache
def folds() -> Densities:
    """Both members predict with errors of their own: together they are better than each alone."""
    rng, t = np.random.default_rng(0), rows().t
    spread = float(t.std())
    means = t[:, None] + 0.3 * spread * rng.standard_normal((len(t), 2))
    return Densities(means, np.full(means.shape, (0.3 * spread) ** 2))


def test_fewer_functions_are_worth_a_higher_price() -> None:
    for member in ordered():
        sizes = [member.worth(price) for price in (0.0, 0.1, 1.0, 10.0, np.inf)]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] == len(member.chosen.gains)
        assert sizes[-1] == 0
        assert (member.chosen.gains[: sizes[2]] >= 1.0).all()


def test_a_member_is_as_sure_of_itself_as_its_functions_allow() -> None:
    for member in ordered():
        found = widening(member)
        assert len(found) == len(member.chosen.gains) + 1
        assert (np.diff(found) <= 0.0).all()
        left = member.left
        assert found[-1] == pytest.approx((1.0 + 2.0 * left / 120.0) ** 0.5)
        everything = float(member.chosen.gains.sum()) + left
        assert found[0] == pytest.approx((1.0 + 2.0 * everything / 120.0) ** 0.5)


def test_a_pool_whose_members_miss_something_is_expected_to_reach_what_draws_of_it_reach() -> None:
    """Against 20,000 draws of what all members miss, each in proportion to its own."""
    rng, weights, wider = np.random.default_rng(1), np.array([0.7, 0.3]), np.array([1.2, 2.5])
    missed = np.sqrt(folds().variances * (wider - 1.0))
    variances = folds().variances * wider
    draws = [
        Densities(folds().means + missed * rng.standard_normal((len(rows().t), 1)), variances) for _ in range(20_000)
    ]
    reached = [float(one.log_density(rows().t, weights).mean()) for one in draws]
    expected = expected_log_density(folds(), rows().t, weights, wider)
    assert expected == pytest.approx(np.mean(reached), abs=4.0 * float(np.std(reached)) / len(reached) ** 0.5)


def test_a_single_member_loses_a_half_of_the_logarithm_of_its_variance() -> None:
    """Where its errors are as large as reported."""
    rng = np.random.default_rng(2)
    t, one = rng.standard_normal(200_000), np.ones(1)
    sure = Densities(np.zeros((len(t), 1)), np.ones((len(t), 1)))
    lost = expected_log_density(sure, t, one, one) - expected_log_density(sure, t, one, np.array([1.5]))
    assert lost == pytest.approx(0.5 * np.log(1.5), abs=0.003)


def test_a_member_of_little_weight_keeps_few_functions() -> None:
    """At one price what it brings the whole counts, which is less than its weight's share of what it brings itself."""
    spread = np.sqrt(folds().variances[0, 0])
    noisy = rows().t + 2.0 * spread * np.random.default_rng(3).standard_normal(len(rows().t))
    unequal = Densities(np.column_stack([folds().means[:, 0], noisy]), folds().variances * np.array([1.0, 4.0]))
    alike = reduced([ordered()[0]] * 2, unequal, rows().t, max_score_loss=0.005, max_cost=UNBOUNDED)
    assert alike.places == (0, 1)
    (heavy, light), (many, few) = alike.weights, alike.sizes
    assert light < heavy
    assert few < many


def test_the_estimate_is_not_below_what_new_rows_lose() -> None:
    """Few functions against all rows: the mean log density of 2,000 new rows."""
    X, t, _ = friedman(2_000, 1)
    member = ordered()[0]
    task, h = member.whole.task, member.whole.hyperparameters
    full_nll = -float(member.whole.predict(X).log_density(t).mean())
    places = member.chosen.places
    for size in (10, 20, 40):
        some = task.rows(member.whole.state)
        U, V, Z = (h.input_map(one) for one in (some.X, X, some.X[places[:size]]))
        kernel = h.covariance(task.kernel)
        inverse = np.linalg.inv(kernel(Z, Z) + 1e-8 * np.eye(size))
        E, new = kernel(U, Z), kernel(V, Z)
        F = member.whole.problem.candidates.columns(X, member.whole.state.active[: len(h.alpha)])
        prior = h.signal_variance * E @ inverse @ E.T + (some.F / h.alpha) @ some.F.T
        known = h.signal_variance * new @ inverse @ E.T + (F / h.alpha) @ some.F.T
        gain = known @ np.linalg.inv(prior + np.eye(len(U)) / h.beta)
        mean = gain @ some.t + member.whole.problem.centre
        variance = h.signal_variance + (F**2 / h.alpha).sum(axis=1) - np.einsum("nk,nk->n", gain, known) + 1.0 / h.beta
        nll = float(0.5 * (np.log(2.0 * np.pi * variance) + (t - mean) ** 2 / variance).mean())
        assert nll - full_nll <= 0.5 * np.log(widening(member)[size])


def test_what_is_allowed_to_be_lost_decides_how_many_functions_there_are() -> None:
    few = reduced(ordered(), folds(), rows().t, max_score_loss=0.1, max_cost=UNBOUNDED)
    many = reduced(ordered(), folds(), rows().t, max_score_loss=0.001, max_cost=UNBOUNDED)
    assert few.places == many.places == (0, 1)
    assert all(less < more for less, more in zip(few.sizes, many.sizes, strict=True))
    assert many.loss <= 0.001 < few.loss <= 0.1
    assert few.weights.sum() == pytest.approx(1.0)
    assert few.cost == sum(prediction_cost(size, rows().X.shape[1]) for size in few.sizes)


def test_cost_bounds_what_is_kept() -> None:
    free = reduced(ordered(), folds(), rows().t, max_score_loss=0.001, max_cost=UNBOUNDED)
    bound = reduced(ordered(), folds(), rows().t, max_score_loss=0.001, max_cost=0.9 * free.cost)
    assert bound.cost <= 0.9 * free.cost
    assert bound.loss > free.loss


def test_a_member_that_adds_nothing_is_left_out() -> None:
    twice = Densities(folds().means[:, [0, 0]], folds().variances[:, [0, 0]])
    assert len(reduced(ordered(), twice, rows().t, max_score_loss=0.01, max_cost=UNBOUNDED).places) == 1


def test_one_member_stays_whatever_it_costs() -> None:
    found = reduced(ordered(), folds(), rows().t, max_score_loss=0.001, max_cost=1.0)
    assert len(found.places) == 1


@pytest.mark.parametrize("inputs", [1, 10, 1_000])
@pytest.mark.parametrize("functions", [1, 50, 500])
def test_affordable_functions_are_those_whose_predictions_cost_so_much(functions: int, inputs: int) -> None:
    cost = prediction_cost(functions, inputs)
    assert affordable_functions(cost + 1.0, inputs) == functions
    assert affordable_functions(cost - 1.0, inputs) == functions - 1
    assert affordable_functions(0.0, inputs) == 0


def test_a_row_that_all_members_miss_by_far_changes_neither_members_nor_functions() -> None:
    chosen = reduced(ordered(), folds(), rows().t, max_score_loss=0.01, max_cost=UNBOUNDED)
    means = folds().means.copy()
    means[5] += 1e4
    found = reduced(ordered(), Densities(means, folds().variances), rows().t, max_score_loss=0.01, max_cost=UNBOUNDED)
    assert found.places == chosen.places
    assert np.abs(np.subtract(found.sizes, chosen.sizes)).max() <= 0.1 * max(chosen.sizes)
    assert found.loss == pytest.approx(chosen.loss, abs=2e-3)  # a function more or less


def test_members_that_add_nothing_are_not_in_the_smallest_pool() -> None:
    """A copy of the first, and one that is far worse."""
    worse = rows().t + 20.0 * np.random.default_rng(4).standard_normal(len(rows().t)) * rows().t.std()
    means = np.column_stack([folds().means, folds().means[:, 0], worse])
    variances = np.column_stack([folds().variances, folds().variances[:, 0], np.full(len(worse), np.var(worse))])
    four = Densities(means, variances)
    found = smallest_pool(four, rows().t)
    assert found in {(0, 1), (1, 2)}
    few = four.taken(np.array(found))
    scores = [float(one.log_density(rows().t, one.best_weights(rows().t)).mean()) for one in (four, few)]
    assert scores[1] >= scores[0] - 1e-4


def test_all_members_are_the_smallest_pool_where_each_is_needed() -> None:
    assert smallest_pool(folds(), rows().t) == (0, 1)
    assert smallest_pool(folds().taken(np.array([1])), rows().t) == (0,)


def test_orders_that_end_early_lose_the_pool_a_tenth_of_what_it_may() -> None:
    """Each member's own loss, weighted."""
    weights = np.array([0.2, 0.8])
    np.testing.assert_allclose(weights * order_losses(weights, 0.01), 0.001)


def test_the_loss_by_learning_is_half_the_effective_number_of_functions_over_the_rows() -> None:
    """Of a Bayesian linear regression, whose variance of new rows is known."""
    rng, noise = np.random.default_rng(0), 0.2
    X, new = rng.standard_normal((2, 500, 6))
    variance = noise * (1.0 + np.einsum("nd,de,ne->n", new, np.linalg.inv(X.T @ X), new))
    one = Densities(np.zeros((500, 1)), variance[:, None])
    assert learning_loss(one, np.ones(1), np.array([noise])) == pytest.approx(3.0 / 500.0, rel=0.1)
    twice = Densities(np.zeros((500, 2)), np.tile(variance[:, None], 2) * np.array([1.0, 3.0]))
    same = learning_loss(twice, np.array([0.4, 0.6]), noise * np.array([1.0, 3.0]))
    assert same == pytest.approx(learning_loss(one, np.ones(1), np.array([noise])))


def test_a_pool_of_a_certain_function_may_lose_less() -> None:
    found = [allowed_loss(0.01, of_learning) for of_learning in (0.0, 0.012, 0.02, 0.04, 1.0)]
    np.testing.assert_allclose(found, [0.003, 0.003, 0.005, 0.01, 0.01])


def test_a_reduction_of_orders_that_end_early_keeps_what_one_of_complete_orders_keeps() -> None:
    """The functions after the end would not have been kept; their gains are in the loss."""
    weights = folds().best_weights(rows().t)
    early = [
        Ordered.of(member.whole, max_loss=float(loss))
        for member, loss in zip(ordered(), order_losses(weights, 0.1), strict=True)
    ]
    assert all(len(few.chosen.places) < len(all_.chosen.places) for few, all_ in zip(early, ordered(), strict=True))
    found = reduced(early, folds(), rows().t, max_score_loss=0.1, max_cost=UNBOUNDED)
    expected = reduced(ordered(), folds(), rows().t, max_score_loss=0.1, max_cost=UNBOUNDED)
    assert found.places == expected.places
    np.testing.assert_allclose(found.sizes, expected.sizes, atol=2)
    assert found.loss == pytest.approx(expected.loss, abs=0.01)
