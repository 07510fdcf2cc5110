import numpy as np

from relevance_bayes.core.basis import (
    Candidates,
    ConstantFunction,
    GroupFunctions,
    InputFunctions,
    KernelFunctions,
    evaluate,
)
from relevance_bayes.core.kernels import Gaussian, LinearSpline
from relevance_bayes.core.kernels.hyperparameters import InputMap
from relevance_bayes.core.types import Array

X = np.random.default_rng(0).uniform(0.0, 3.0, (7, 2))
NEW = np.random.default_rng(1).uniform(0.0, 3.0, (4, 2))
NARROW = KernelFunctions(Gaussian(), InputMap.isotropic(0.5), X, np.arange(7))
SPLINES = KernelFunctions(LinearSpline(), InputMap.isotropic(2.0), X[:3], np.arange(3))
CANDIDATES = Candidates((NARROW, ConstantFunction(), SPLINES))


def full() -> Array:
    return np.hstack([Gaussian()(NEW / 0.5, X / 0.5), np.ones((4, 1)), LinearSpline()(NEW / 2.0, X[:3] / 2.0)])


def test_candidates_are_counted_through_the_dictionaries() -> None:
    assert CANDIDATES.size == 11
    np.testing.assert_allclose(CANDIDATES.columns(NEW, range(11)), full())


def test_columns_come_in_the_order_requested() -> None:
    chosen = (10, 7, 0, 3, 8)
    np.testing.assert_allclose(CANDIDATES.columns(NEW, chosen), full()[:, chosen])
    assert CANDIDATES.columns(NEW, ()).shape == (4, 0)


def test_functions_taken_know_their_rows_and_give_the_same_columns() -> None:
    chosen = (10, 7, 0, 3)
    selected, order = CANDIDATES.take(chosen)
    np.testing.assert_allclose(evaluate(selected, NEW), full()[:, np.array(chosen)[order]])
    rows = [row for functions in selected if isinstance(functions, KernelFunctions) for row in functions.rows]
    assert sorted(rows) == [0, 2, 3]


def test_nothing_taken_gives_no_columns() -> None:
    selected, order = CANDIDATES.take(())
    assert evaluate(selected, NEW).shape == (4, 0)
    assert len(order) == 0


BESIDE = Candidates((InputFunctions(np.array([1, 0])), NARROW, ConstantFunction()))


def test_the_inputs_are_beside_a_kernel_and_a_bias() -> None:
    Phi = np.hstack([NEW[:, [1]], NEW[:, [0]], Gaussian()(NEW / 0.5, X / 0.5), np.ones((4, 1))])
    assert BESIDE.size == 10
    np.testing.assert_allclose(BESIDE.columns(NEW, range(10)), Phi)
    for chosen in ((1,), (0, 1), (9, 5, 1, 2, 0)):
        np.testing.assert_allclose(BESIDE.columns(NEW, chosen), Phi[:, chosen])
        selected, order = BESIDE.take(chosen)
        np.testing.assert_allclose(evaluate(selected, NEW), Phi[:, np.array(chosen)[order]])


def test_inputs_taken_know_which_they_are() -> None:
    inputs = InputFunctions(np.array([2, 0, 3]))
    assert inputs.size == 3
    selected = inputs.take(np.array([2, 1]))
    np.testing.assert_array_equal(selected.columns, [3, 0])
    np.testing.assert_array_equal(selected(np.array([[10.0, 11.0, 12.0, 13.0]]), np.array([1, 0])), [[10.0, 13.0]])


def test_moved_functions_are_those_of_the_same_kernel_elsewhere() -> None:
    moved = NARROW.moved(InputMap.isotropic(2.0), X[:3] + 0.1, np.array([5, 6, 0]))
    np.testing.assert_allclose(moved(NEW, np.array([2, 0])), Gaussian()(NEW / 2.0, (X[[2, 0]] + 0.1) / 2.0))
    np.testing.assert_array_equal(moved.take(np.array([1])).rows, [6])


def test_each_dictionary_knows_how_many_it_lent() -> None:
    X = np.zeros((5, 3))
    kernels = KernelFunctions(Gaussian(), InputMap.isotropic(1.0), X, np.arange(5))
    candidates = Candidates((kernels, ConstantFunction(), InputFunctions(np.arange(3))))
    assert candidates.counts((0, 8, 4, 6)) == (2, 0, 2)
    assert candidates.counts(()) == (0, 0, 0)


def test_a_group_sees_its_inputs_alone() -> None:
    spline = GroupFunctions(
        np.array([1]), KernelFunctions(LinearSpline(), InputMap.isotropic(2.0), X[:, [1]], np.arange(7))
    )
    candidates = Candidates(
        (GroupFunctions(np.array([1, 0]), InputFunctions(np.array([0]))), spline, ConstantFunction())
    )
    expected = np.hstack([NEW[:, [1]], LinearSpline()(NEW[:, [1]] / 2.0, X[:, [1]] / 2.0), np.ones((4, 1))])
    np.testing.assert_allclose(candidates.columns(NEW, range(9)), expected)
    selected, order = candidates.take((8, 3, 0))
    np.testing.assert_allclose(evaluate(selected, NEW), expected[:, np.array((8, 3, 0))[order]])


def test_functions_of_some_dictionaries_are_counted_among_all() -> None:
    """Seven bumps, a constant, three splines."""
    assert CANDIDATES.numbers((0, 1, 2), range(11)) == tuple(range(11))
    assert CANDIDATES.numbers((1, 2), (3, 0, 1)) == (10, 7, 8)
    assert CANDIDATES.numbers((0,), ()) == ()
