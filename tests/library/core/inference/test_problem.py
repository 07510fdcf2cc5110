"""from dataclasses import replace"""

from dataclasses import replace

import numpy as np
import pytest

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.inference.problem import check_rows, is_wide
from relevance_bayes.core.likelihoods import GaussianNoise
from relevance_bayes.core.types import Array
from tests.library.core.drawn import problem_for

PROBLEM = problem_for(GaussianNoise())


def test_sums_for_all_candidates_are_those_of_their_columns() -> None:
    Phi = PROBLEM.columns(tuple(range(PROBLEM.candidates.size)))
    towards = np.column_stack([PROBLEM.t, PROBLEM.X])
    for problem in (PROBLEM, replace(PROBLEM, kept_bytes=0)):
        product, squares = problem.products_and_norms(towards)
        np.testing.assert_allclose(product, Phi.T @ towards, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(problem.products(towards), product, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(squares, (Phi**2).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    ("X", "t", "expected"),
    [
        (np.ones((3, 1)), np.ones(4), "shapes"),
        (np.ones(3), np.ones(3), "shapes"),
        (np.ones((3, 1)), np.ones((3, 1)), "shapes"),
        (np.ones((1, 1)), np.ones(1), "at least two rows, got 1"),
        (np.ones((0, 1)), np.ones(0), "at least two rows, got 0"),
        (np.array([[1.0], [np.nan]]), np.ones(2), "NaN or infinity"),
        (np.ones((2, 1)), np.array([1.0, np.inf]), "NaN or infinity"),
    ],
    ids=["other length", "flat X", "deep t", "one row", "no rows", "NaN input", "infinite target"],
)
def test_rows_that_can_not_be_learned_from_are_refused(X: Array, t: Array, expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        check_rows(X, t)


@pytest.mark.parametrize(
    ("rows", "inputs", "expected"),
    [(600, 128, True), (1_023, 128, True), (1_024, 128, False), (255, 32, True), (100, 31, False), (20, 10, False)],
)
def test_a_table_of_many_inputs_with_few_rows_for_each_is_wide(rows: int, inputs: int, expected: bool) -> None:
    assert is_wide(rows, inputs) == expected
