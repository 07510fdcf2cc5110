from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevance_bayes.core.types import Mask
from relevance_bayes.tables.columns import Block, NumberArray, TimestampArray, block_rows
from relevance_bayes.tasks.planning import held_out_rows
from relevance_bayes.tasks.rows import content_hash
from relevance_bayes.tasks.supervised.request import GroupSplit, OrderSplit, RandomSplit, Split
from relevance_bayes.tasks.supervised.rows import NOTHING, cut, fold_keys, ranks
from tests.small_tables import cut_up, moments, numbers, rows_of, texts

Row = tuple[float | None, str | None, float]

ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.floats(-5, 5).map(lambda value: round(value, 1))),
        st.one_of(st.none(), st.sampled_from("abc")),
        st.integers(0, 4).map(float),
    ),
    min_size=2,
    max_size=40,
)
SHARES = st.floats(0.01, 0.99)


def table_of(rows: list[Row]) -> Block:
    x, colour, when = zip(*rows, strict=True)
    return {"x": numbers(*x), "colour": texts(*colour), "when": moments(*when)}


def held_out(split: Split, block: Block, share: float, *, seed: int = 0, ends: tuple[int, ...] = ()) -> Mask:
    """Which rows are held out, decided in two passes over the block cut after the given rows."""
    pieces = [
        ranks(
            split,
            piece,
            numbers=np.arange(first, first + block_rows(piece), dtype=np.float64),
            names=("x", "colour"),
            seed=seed,
        )
        for first, piece in cut_up(block, *ends)
    ]
    where = cut(split, np.concatenate(pieces), share)
    masks = []
    for piece in pieces:
        mask, where = where.apply(piece)
        masks.append(mask)
    return np.concatenate(masks)


@given(ROWS, SHARES, st.integers(0, 3))
def test_at_random_exactly_the_share_of_different_rows_is_held_out(rows: list[Row], share: float, seed: int) -> None:
    different = list({(x, colour): (x, colour, when) for x, colour, when in rows}.values())
    if len(different) > held_out_rows(len(different), share):
        mask = held_out(RandomSplit(), table_of(different), share, seed=seed)
        assert mask.sum() == max(1, round(share * len(different)))


@given(st.data(), ROWS, SHARES)
def test_the_order_of_the_rows_does_not_change_what_is_held_out(
    data: st.DataObject, rows: list[Row], share: float
) -> None:
    order = data.draw(st.permutations(range(len(rows))))
    shuffled = [rows[place] for place in order]
    before, after = (held_out(RandomSplit(), table_of(some), share) for some in (rows, shuffled))

    def content(some: list[Row], mask: Mask) -> Counter[tuple[float | None, str | None]]:
        return Counter((x, colour) for (x, colour, _), out in zip(some, mask, strict=True) if out)

    assert content(rows, before) == content(shuffled, after)


@given(
    st.data(), ROWS, SHARES, st.sampled_from([RandomSplit(), GroupSplit("colour"), OrderSplit("when"), OrderSplit()])
)
def test_where_blocks_end_does_not_change_what_is_held_out(
    data: st.DataObject, rows: list[Row], share: float, split: Split
) -> None:
    ends = data.draw(st.lists(st.integers(0, len(rows)), max_size=3).map(sorted))
    block = table_of(rows)
    np.testing.assert_array_equal(held_out(split, block, share, ends=tuple(ends)), held_out(split, block, share))


@given(ROWS, SHARES, st.integers(0, 3))
def test_a_group_is_never_divided_and_both_sides_have_one(rows: list[Row], share: float, seed: int) -> None:
    mask = held_out(GroupSplit("colour"), table_of(rows), share, seed=seed)
    sides: dict[str | None, set[bool]] = {}
    for (_, colour, _), out in zip(rows, mask.tolist(), strict=True):
        sides.setdefault(colour, set()).add(out)
    assert all(len(side) == 1 for side in sides.values())
    if len(sides) > 1:
        assert {True, False} == set().union(*sides.values())
    else:
        assert not mask.any()


@given(ROWS, SHARES)
def test_the_groups_held_out_are_as_near_to_the_share_as_their_order_allows(rows: list[Row], share: float) -> None:
    block = table_of(rows)
    found = ranks(GroupSplit("colour"), block, numbers=np.arange(len(rows), dtype=np.float64), names=(), seed=0)
    sizes = np.cumsum([count for _, count in sorted(Counter(found.tolist()).items())])[:-1]
    if len(sizes):
        required = held_out_rows(len(rows), share)
        nearest = np.abs(sizes - required).min()
        assert abs(int(held_out(GroupSplit("colour"), block, share).sum()) - required) == nearest


@given(ROWS, SHARES)
def test_by_order_no_row_to_learn_from_is_as_late_as_one_held_out(rows: list[Row], share: float) -> None:
    block = table_of(rows)
    mask = held_out(OrderSplit("when"), block, share)
    times = np.array([when for _, _, when in rows])
    if len(set(times.tolist())) == 1:
        assert not mask.any()
    else:
        assert times[~mask].max() < times[mask].min()
        latest = int((times == times.max()).sum())
        assert mask.sum() <= max(latest, held_out_rows(len(rows), share))


def test_without_a_column_the_last_rows_are_held_out() -> None:
    mask = held_out(OrderSplit(), {"x": numbers(*range(10)), "colour": texts(*["a"] * 10)}, 0.3)
    assert np.flatnonzero(mask).tolist() == [7, 8, 9]


def test_times_before_1970_come_before_those_after() -> None:
    block: Block = {"x": numbers(5, -3, 0, -0.5), "colour": texts(*"abcd")}
    assert held_out(OrderSplit("x"), block, 0.5).tolist() == [True, False, True, False]


def test_another_seed_holds_out_other_rows() -> None:
    block: Block = {"x": numbers(*range(200)), "colour": texts(*["a"] * 200)}
    masks = [held_out(RandomSplit(), block, 0.5, seed=seed) for seed in (0, 1, 0)]
    assert (masks[0] == masks[2]).all()
    assert 0.3 < (masks[0] != masks[1]).mean() < 0.7


def test_what_is_held_out_at_random_is_spread_over_the_values() -> None:
    block: Block = {"x": numbers(*range(10_000)), "colour": texts(*["a"] * 10_000)}
    places = np.flatnonzero(held_out(RandomSplit(), block, 0.2))
    per_tenth = np.bincount(places // 1_000, minlength=10)
    assert abs(per_tenth - 200).max() < 60  # 4.7 standard deviations of a fair draw


def test_nothing_is_held_out_of_a_share_of_nothing() -> None:
    assert held_out_rows(100, 0.0) == 0
    assert cut(RandomSplit(), np.arange(5, dtype=np.uint64), 0.0) == NOTHING
    assert cut(RandomSplit(), np.empty(0, np.uint64), 0.5) == NOTHING


def test_a_share_above_nothing_holds_out_a_row() -> None:
    assert held_out_rows(3, 0.01) == 1


@given(ROWS)
def test_equal_content_has_an_equal_hash_and_other_content_another(rows: list[Row]) -> None:
    found = content_hash(table_of(rows), ("x", "colour"), 0).tolist()
    contents = [(None if x is None else x + 0.0, colour) for x, colour, _ in rows]
    assert len(set(zip(contents, found, strict=True))) == len(set(contents)) == len(set(found))


def test_the_order_and_the_labelling_of_columns_do_not_change_the_hash() -> None:
    block = table_of([(1.0, "a", 0.0), (2.0, "b", 0.0), (3.0, "a", 0.0)])
    found = content_hash(block, ("x", "colour"), 0)
    np.testing.assert_array_equal(content_hash(block, ("colour", "x"), 0), found)
    np.testing.assert_array_equal(content_hash(rows_of(block, [1, 2]), ("x", "colour"), 0), found[1:])


def test_values_that_change_columns_change_the_hash() -> None:
    one: Block = {"a": numbers(1.0), "b": numbers(2.0)}
    other: Block = {"a": numbers(2.0), "b": numbers(1.0)}
    assert content_hash(one, ("a", "b"), 0) != content_hash(other, ("a", "b"), 0)


def test_negative_zero_is_zero_and_every_gap_is_alike() -> None:
    odd_nan = np.array([0x7FF8_0000_0000_0001], np.uint64).view(np.float64)
    block: Block = {"x": NumberArray(np.r_[0.0, -0.0, np.nan, odd_nan])}
    found = content_hash(block, ("x",), 0)
    assert (found[0] == found[1], found[2] == found[3]) == (True, True)


@pytest.mark.parametrize("column", [texts("a", "b", "a"), numbers(1, 2, 1)])
def test_fold_keys_of_groups_are_whole_numbers_one_for_each_group(column: NumberArray) -> None:
    keys = fold_keys(GroupSplit("g"), {"g": column}, numbers=np.arange(3.0))
    assert keys[0] == keys[2] != keys[1]
    assert (keys == np.floor(keys)).all()
    assert keys.max() < 2**53


def test_fold_keys_of_an_order_are_its_times() -> None:
    block: Block = {"when": TimestampArray(np.array([5.0, 3.0])), "x": numbers(1, 2)}
    assert fold_keys(OrderSplit("when"), block, numbers=np.array([7.0, 8.0])).tolist() == [5, 3]
    assert fold_keys(OrderSplit(), block, numbers=np.array([7.0, 8.0])).tolist() == [7, 8]
    assert fold_keys(RandomSplit(), block, numbers=np.array([7.0, 8.0])).tolist() == [0, 0]


def test_rows_cannot_be_ordered_by_texts() -> None:
    with pytest.raises(TypeError, match="got texts"):
        fold_keys(OrderSplit("c"), {"c": texts("a")}, numbers=np.zeros(1))
