import numpy as np

from app.sparse_bayes.basis import Candidates, ConstantFunction, KernelFunctions, evaluate
from app.sparse_bayes.kernels import Gaussian, LinearSpline
from app.sparse_bayes.scales import InputMap
from app.sparse_bayes.types import Array

X = np.random.default_rng(0).uniform(0.0, 3.0, (7, 2))
NEW = np.random.default_rng(1).uniform(0.0, 3.0, (4, 2))
NARROW = KernelFunctions(Gaussian(), InputMap.isotropic(0.5), X, np.arange(7))
SPLINES = KernelFunctions(LinearSpline(), InputMap.isotropic(2.0), X[:3], np.arange(3))
CANDIDATES = Candidates((NARROW, ConstantFunction(), SPLINES))


def whole() -> Array:
    return np.hstack([Gaussian()(NEW / 0.5, X / 0.5), np.ones((4, 1)), LinearSpline()(NEW / 2.0, X[:3] / 2.0)])


def test_candidates_are_counted_through_the_dictionaries() -> None:
    assert CANDIDATES.size == 11
    np.testing.assert_allclose(CANDIDATES.columns(NEW, range(11)), whole())


def test_columns_come_in_the_order_asked_for() -> None:
    chosen = (10, 7, 0, 3, 8)
    np.testing.assert_allclose(CANDIDATES.columns(NEW, chosen), whole()[:, chosen])
    assert CANDIDATES.columns(NEW, ()).shape == (4, 0)


def test_functions_taken_know_their_rows_and_give_the_same_columns() -> None:
    chosen = (10, 7, 0, 3)
    taken, order = CANDIDATES.take(chosen)
    np.testing.assert_allclose(evaluate(taken, NEW), whole()[:, np.array(chosen)[order]])
    rows = [row for functions in taken if isinstance(functions, KernelFunctions) for row in functions.rows]
    assert sorted(rows) == [0, 2, 3]


def test_nothing_taken_gives_no_columns() -> None:
    taken, order = CANDIDATES.take(())
    assert evaluate(taken, NEW).shape == (4, 0)
    assert len(order) == 0
