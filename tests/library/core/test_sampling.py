from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from relevance_bayes.core import rows as row_source
from relevance_bayes.core import rows as sampling
from relevance_bayes.core.folds import content_keys, subset
from relevance_bayes.core.rows import MIN_SAMPLE, ArrayRows, RowBlock, Sampler, SmallestKeys, n_blocks
from relevance_bayes.core.types import Array
from tests.library.core.sources import PartitionedRows, generated

FEW = st.integers(0, 3).map(float)
"""Numbers that recur: many rows are equal, and share their key."""

TABLES = arrays(np.float64, st.tuples(st.integers(1, 40), st.just(3)), elements=FEW | st.floats(-2.0, 2.0))


@given(TABLES, st.integers(1, 45), st.integers(1, 9), st.integers(0, 3), st.data())
def test_the_sample_merged_over_any_partition_is_that_of_all_rows_in_one_place(
    table: Array, size: int, block_rows: int, seed: int, data: st.DataObject
) -> None:
    X, t = table[:, :2], table[:, 2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_source, "BLOCK_ROWS", block_rows)
        patch.setattr(sampling, "MIN_SAMPLE", 1)
        blocks = data.draw(st.permutations(range(n_blocks(len(t)))))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(blocks)), max_size=6)))
        bounds = [0, *cuts, len(blocks)]
        parts = tuple(tuple(blocks[first:stop]) for first, stop in pairwise(bounds))
        found = Sampler(PartitionedRows(ArrayRows(X, t), parts), seed).sample(size)
    np.testing.assert_array_equal(found.numbers, subset(X, t, size, seed))
    np.testing.assert_array_equal(found.X, X[found.numbers])


@given(TABLES, st.integers(1, 20), st.integers(1, 20))
def test_of_equal_keys_the_earlier_row_comes_first(table: Array, size: int, cut: int) -> None:
    doubled = np.concatenate([table, table])
    X, t = doubled[:, :2], doubled[:, 2]
    cut = min(cut, len(t) - 1)
    full = ArrayRows(X, t).reduce(SmallestKeys(size, 0))
    keys = content_keys(doubled, 0)
    order = np.lexsort((np.arange(len(t)), keys))[:size]
    np.testing.assert_array_equal(full.numbers, order)
    np.testing.assert_array_equal(full.keys, keys[order])
    find = SmallestKeys(size, 0)
    former, latter = find(RowBlock(0, X[:cut], t[:cut])), find(RowBlock(cut, X[cut:], t[cut:]))
    np.testing.assert_array_equal((former + latter).numbers, order)


def test_a_smaller_sample_is_part_of_a_greater_one_and_takes_no_other_pass() -> None:
    X, t = np.random.default_rng(0).standard_normal((9_000, 2)), np.arange(9_000.0)
    passes = 0
    source = generated(X, t)

    def make() -> Iterator[Array]:
        nonlocal passes
        passes += 1
        return source.make()

    sampler = Sampler(replace(source, make=make), 0)
    small, great = sampler.sample(50), sampler.sample(sampling.MIN_SAMPLE)
    assert set(small.numbers.tolist()) < set(great.numbers.tolist())
    assert passes == 1
    np.testing.assert_array_equal(sampler.sample(8_500).numbers, subset(X, t, 8_500, 0))
    assert passes == 2


def test_a_sample_of_all_rows_is_all_of_them_in_their_order() -> None:
    X, t = np.random.default_rng(0).standard_normal((20, 2)), np.arange(20.0)
    found = Sampler(ArrayRows(X, t), 0).sample(20)
    np.testing.assert_array_equal(found.numbers, np.arange(20))
    np.testing.assert_array_equal(found.X, X)


def test_few_rows_of_each_block_are_below_the_limit_and_the_sample_is_the_same() -> None:
    X, t = np.random.default_rng(1).standard_normal((50_000, 2)), np.arange(50_000.0)
    np.testing.assert_array_equal(Sampler(ArrayRows(X, t), 3).sample(1_000).numbers, subset(X, t, 1_000, 3))
    limit = 2**64 // 50
    found = SmallestKeys(MIN_SAMPLE, 3, limit)(RowBlock(0, X, t))
    assert (found.keys < limit).all()
    assert len(found.keys) == (content_keys(X, 3, t) < np.uint64(limit)).sum() < MIN_SAMPLE


def test_of_many_equal_rows_the_sample_is_taken_in_another_pass() -> None:
    """Their keys are equal too, and here all above the limit."""
    X, t = np.zeros((50_000, 1)), np.zeros(50_000)
    np.testing.assert_array_equal(Sampler(ArrayRows(X, t), 0).sample(100).numbers, np.arange(100))
