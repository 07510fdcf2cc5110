from dataclasses import replace

import numpy as np
import pytest

from app.sparse_bayes import problem as module
from app.sparse_bayes.errors import DataError
from app.sparse_bayes.likelihoods import GaussianNoise
from app.sparse_bayes.problem import check_rows
from app.sparse_bayes.types import Array
from tests.sparse_bayes.drawn import problem_for

PROBLEM = problem_for(GaussianNoise())


def test_looks_with_columns_kept_computed_anew_and_in_pieces_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    towards = PROBLEM.t[:, None]
    (kept,) = PROBLEM.look(lambda columns: (columns.T @ towards,))
    (again,) = PROBLEM.look(lambda columns: (columns.T @ towards,))
    monkeypatch.setattr(module, "BLOCK_BYTES", 8 * PROBLEM.rows * 4)
    (pieces,) = replace(PROBLEM, kept_bytes=0, _kept={}).look(lambda columns: (columns.T @ towards,))
    np.testing.assert_array_equal(kept, again)
    np.testing.assert_allclose(pieces, kept, rtol=1e-12)
    np.testing.assert_allclose(kept, PROBLEM.columns(tuple(range(PROBLEM.candidates.size))).T @ towards, rtol=1e-12)


def test_no_more_columns_are_kept_than_allowed() -> None:
    frugal = replace(PROBLEM, kept_bytes=0, _kept={})
    frugal.look(lambda columns: (columns.sum(axis=0),))
    assert not frugal._kept


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
