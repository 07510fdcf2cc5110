"""From probabilities to decisions, by two roads each: Bayes' rule by densities, expected costs by their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from relevance_bayes.core.types import Array
from relevance_bayes.tasks.decisions import decided, most_probable, with_priors

CLASSES = [2, 3, 7]


def drawn(rows: int, classes: int, *, seed: int = 0) -> Array:
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), rows)


def normal(x: Array, mean: float, sd: float) -> Array:
    return np.asarray(np.exp(-0.5 * ((x - mean) / sd) ** 2) / sd)


def posterior(x: Array, priors: Array, means: Array, sds: Array) -> Array:
    """Bayes' rule by the classes' densities at x (N,): (N, K)."""
    joint = np.column_stack([p * normal(x, m, s) for p, m, s in zip(priors, means, sds, strict=True)])
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("classes", CLASSES)
def test_other_priors_give_what_bayes_rule_gives_by_the_densities(classes: int) -> None:
    rng = np.random.default_rng(classes)
    x, means, sds = rng.uniform(-3.0, 3.0, 200), rng.normal(size=classes), rng.uniform(0.5, 2.0, classes)
    old, new = rng.dirichlet(np.ones(classes)), rng.dirichlet(np.ones(classes))
    found = with_priors(posterior(x, old, means, sds), old, new)
    assert_allclose(found, posterior(x, new, means, sds), rtol=1e-10)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)


def test_of_two_gaussians_the_log_odds_move_by_those_of_the_priors() -> None:
    x = np.linspace(-4.0, 4.0, 81)
    reported = 1.0 / (1.0 + np.exp(-2.0 * x))  # N(1, 1) against N(-1, 1), equally frequent
    found = with_priors(np.column_stack([1.0 - reported, reported]), np.array([0.5, 0.5]), np.array([0.98, 0.02]))
    assert_allclose(np.log(found[:, 1] / found[:, 0]), 2.0 * x + np.log(0.02 / 0.98), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("classes", CLASSES)
def test_the_same_priors_change_nothing_and_there_and_back_is_where_it_was(classes: int) -> None:
    probabilities, (old, new) = drawn(50, classes), drawn(2, classes, seed=1)
    assert_allclose(with_priors(probabilities, old, old), probabilities, rtol=1e-12)
    assert_allclose(with_priors(with_priors(probabilities, old, new), new, old), probabilities, rtol=1e-9)


def test_certain_classes_stay_certain_and_impossible_ones_have_no_probability() -> None:
    certain = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [1e-300, 1.0, 0.0]])
    old, new = np.full(3, 1.0 / 3.0), np.array([1e-12, 1.0 - 1e-12, 0.0])
    found = with_priors(certain, old, new)
    assert_allclose(found, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], atol=1e-15)
    assert found[0, 0] == 1.0


def test_where_all_that_is_possible_had_no_probability_the_priors_are_returned() -> None:
    found = with_priors(np.array([[1.0, 0.0, 0.0]]), np.full(3, 1.0 / 3.0), np.array([0.0, 0.25, 0.75]))
    assert_allclose(found, [[0.0, 0.25, 0.75]], rtol=1e-15)


def test_a_class_that_was_never_learned_may_be_one_that_never_comes() -> None:
    found = with_priors(np.array([[0.5, 0.5, 0.0]]), np.array([0.5, 0.5, 0.0]), np.array([0.8, 0.2, 0.0]))
    assert_allclose(found, [[0.8, 0.2, 0.0]], rtol=1e-15)


def test_of_equally_probable_classes_the_last_is_predicted() -> None:
    even = np.array([[0.5, 0.5, 0.0], [0.2, 0.4, 0.4], [0.4, 0.2, 0.4], [0.9, 0.05, 0.05]])
    assert_array_equal(most_probable(even), [1, 2, 2, 0])


@pytest.mark.parametrize("classes", CLASSES)
def test_the_class_of_least_expected_cost_is_chosen(classes: int) -> None:
    probabilities = drawn(40, classes)
    costs = np.random.default_rng(classes).exponential(size=(classes, classes))
    found = decided(probabilities, costs)
    for row, (chosen, expected) in enumerate(zip(found.chosen.tolist(), found.expected_cost.tolist(), strict=True)):
        of_all = [
            sum(probabilities[row, truth] * costs[truth, decision] for truth in range(classes))
            for decision in range(classes)
        ]
        assert expected == pytest.approx(min(of_all), rel=1e-12)
        assert of_all[chosen] == pytest.approx(min(of_all), rel=1e-12)
    assert not found.rejected.any()


@pytest.mark.parametrize("classes", CLASSES)
def test_without_costs_each_mistake_costs_one(classes: int) -> None:
    probabilities = drawn(40, classes)
    found = decided(probabilities)
    same = decided(probabilities, 1.0 - np.eye(classes))
    assert_array_equal(found.chosen, most_probable(probabilities))
    assert_allclose(found.expected_cost, 1.0 - probabilities.max(axis=1), rtol=1e-12, atol=1e-15)
    assert_array_equal(found.chosen, same.chosen)
    assert_allclose(found.expected_cost, same.expected_cost, rtol=1e-12, atol=1e-15)


def test_of_equally_dear_decisions_the_last_is_taken() -> None:
    half = np.array([[0.5, 0.5]])
    assert decided(half).chosen == [1]
    assert decided(half, np.array([[0.0, 2.0], [2.0, 0.0]])).chosen == [1]
    assert decided(np.array([[0.25, 0.25, 0.5]]), np.ones((3, 3))).chosen == [2]


def test_a_mistake_that_costs_more_is_made_less_often() -> None:
    probabilities = np.array([[0.95, 0.05], [0.89, 0.11], [0.5, 0.5]])
    costs = np.array([[0.0, 1.0], [9.0, 0.0]])  # the second class is chosen above 1/(1 + 9)
    found = decided(probabilities, costs)
    assert_array_equal(found.chosen, [0, 1, 1])
    assert_allclose(found.expected_cost, [0.45, 0.89, 0.5], rtol=1e-14)


def test_what_costs_more_than_no_decision_gets_none_and_the_limit_itself_gets_one() -> None:
    probabilities = np.array([[0.75, 0.25], [0.7, 0.3], [0.5, 0.5], [0.125, 0.875]])
    found = decided(probabilities, reject_cost=0.25)
    assert_array_equal(found.rejected, [False, True, True, False])
    assert_array_equal(found.chosen, [0, 0, 1, 1])
    assert_array_equal(found.expected_cost, [0.25, 0.25, 0.25, 0.125])


def test_the_expected_cost_is_that_of_the_best_of_all_that_may_be_done() -> None:
    probabilities = drawn(60, 3)
    costs = np.random.default_rng(5).exponential(size=(3, 3))
    with_silence = np.column_stack([probabilities @ costs, np.full(60, 0.6)])
    found = decided(probabilities, costs, reject_cost=0.6)
    assert_allclose(found.expected_cost, with_silence.min(axis=1), rtol=1e-12)
    assert_array_equal(found.rejected, with_silence[:, :3].min(axis=1) > 0.6)
    assert 0 < found.rejected.sum() < 60


@pytest.mark.parametrize("classes", CLASSES)
def test_the_order_of_the_classes_does_not_matter(classes: int) -> None:
    rng = np.random.default_rng(classes)
    probabilities, (old, new) = drawn(40, classes), drawn(2, classes, seed=1)
    costs, order = rng.exponential(size=(classes, classes)), rng.permutation(classes)
    one = decided(with_priors(probabilities, old, new), costs, 0.5)
    other = decided(with_priors(probabilities[:, order], old[order], new[order]), costs[np.ix_(order, order)], 0.5)
    assert_array_equal(order[other.chosen], one.chosen)
    assert_allclose(other.expected_cost, one.expected_cost, rtol=1e-10)
    assert_array_equal(other.rejected, one.rejected)


def test_the_largest_costs_stay_numbers() -> None:
    huge = np.full((2, 2), np.finfo(np.float64).max)
    found = decided(np.array([[0.1 + 0.2, 0.7], [1.0, 0.0], [0.5, 0.5 + 1e-15]]), huge)
    assert np.isfinite(found.expected_cost).all()


def test_no_rows_have_no_decisions() -> None:
    found = decided(with_priors(np.empty((0, 3)), np.full(3, 1 / 3), np.full(3, 1 / 3)), np.ones((3, 3)), 0.5)
    assert (found.chosen.shape, found.expected_cost.shape, found.rejected.shape) == ((0,), (0,), (0,))
