"""Columns of tables, and blocks of them."""

import numpy as np
import pytest

from relevance_bayes.tables.columns import (
    BooleanArray,
    CategoryArray,
    NumberArray,
    NumberBlock,
    TimestampArray,
    block_rows,
    taken,
)


def test_a_block_of_numbers_is_a_mapping_of_its_columns() -> None:
    block = NumberBlock(("a", "b"), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert [name in block for name in ("a", "b", "c")] == [True, True, False]
    assert (list(block), len(block), block_rows(block)) == (["a", "b"], 2, 3)
    np.testing.assert_array_equal(block["b"].values, [2.0, 4.0, 6.0])


@pytest.mark.parametrize("kind", [NumberArray, TimestampArray])
def test_rows_of_numbers_are_taken_by_index(kind: type[NumberArray | TimestampArray]) -> None:
    found = taken(kind(np.array([1.0, 2.0, 3.0])), np.array([2, 0]))
    assert isinstance(found, kind)
    np.testing.assert_array_equal(found.values, [3.0, 1.0])


def test_rows_of_booleans_are_taken_by_index() -> None:
    found = taken(BooleanArray(np.array([1, 0, -1], np.int8)), np.array([2, 0]))
    assert isinstance(found, BooleanArray)
    np.testing.assert_array_equal(found.values, [-1, 1])


def test_rows_of_categories_are_taken_by_index_with_all_labels() -> None:
    found = taken(CategoryArray(np.array([1, 0, -1], np.int32), ("x", "y")), np.array([2, 0]))
    assert isinstance(found, CategoryArray)
    assert found.labels == ("x", "y")
    np.testing.assert_array_equal(found.codes, [-1, 1])
