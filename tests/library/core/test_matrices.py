"""Memory of matrices that is used again."""

import gc
from collections.abc import Iterator

import numpy as np
import pytest

from relevance_bayes.core import linalg


@pytest.fixture(autouse=True)
def _none_kept() -> Iterator[None]:
    gc.collect()
    linalg.release()
    yield
    linalg.release()


def test_the_memory_of_a_matrix_without_references_is_that_of_the_next() -> None:
    one = linalg.empty_matrix(300, 300)
    address = one.ctypes.data
    del one
    assert linalg.empty_matrix(299, 300).ctypes.data == address


def test_a_part_of_a_matrix_keeps_its_memory() -> None:
    one = linalg.empty_matrix(300, 300)
    one[:] = 1.0
    part = one.T[3:, 5:]
    del one
    linalg.empty_matrix(300, 300)[:] = 2.0
    np.testing.assert_array_equal(part, 1.0)


def test_matrices_at_one_time_have_memory_of_their_own() -> None:
    one, other = linalg.empty_matrix(300, 300), linalg.empty_matrix(300, 300)
    one[:], other[:] = 1.0, 2.0
    np.testing.assert_array_equal(one, 1.0)
    assert one.flags.c_contiguous
    assert one.shape == (300, 300)


def test_a_small_matrix_is_one_of_numpy() -> None:
    assert linalg.empty_matrix(3, 4).base is None


def test_no_more_memory_is_kept_than_the_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linalg, "MAX_KEPT", 3 * linalg.UNIT)
    some = [linalg.empty_matrix(200, 300) for _ in range(5)]
    some.clear()
    kept = sum(size * len(memory) for size, memory in linalg._kept.items())
    assert 0 < kept <= 3 * linalg.UNIT
