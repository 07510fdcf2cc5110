import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from relevance_bayes.core.folds import (
    Split,
    by_content,
    content_keys,
    distinct,
    first_by_content,
    group_folds,
    is_cells,
    ordered_folds,
    random_folds,
    random_tenth,
    subset,
    without_copies,
)
from relevance_bayes.core.types import Array

FOLDS = st.integers(2, 6)
SEEDS = st.integers(0, 5)
TARGETS = arrays(np.float64, st.integers(2, 40), elements=st.floats(-5.0, 5.0))
GROUPS = arrays(np.float64, st.integers(2, 40), elements=st.integers(0, 8).map(float))


def inputs(rows: int) -> Array:
    """Rows that all differ."""
    return np.random.default_rng(rows).standard_normal((rows, 2))


def assert_each_row_is_measured_once(splits: list[Split], rows: int) -> None:
    assert sorted(np.concatenate([measuring for _, measuring in splits]).tolist()) == list(range(rows))
    for learning, measuring in splits:
        assert sorted([*learning.tolist(), *measuring.tolist()]) == list(range(rows))


@given(TARGETS, FOLDS, SEEDS)
def test_at_random_each_row_is_measured_once_and_folds_are_even(t: Array, folds: int, seed: int) -> None:
    splits = list(random_folds(inputs(len(t)), t, folds, seed))
    assert_each_row_is_measured_once(splits, len(t))
    sizes = [len(measuring) for _, measuring in splits]
    assert max(sizes) - min(sizes) <= 1


@given(TARGETS, FOLDS, SEEDS)
def test_the_order_of_the_rows_does_not_change_their_fold(t: Array, folds: int, seed: int) -> None:
    X = inputs(len(t))
    order = np.random.default_rng(seed).permutation(len(t))
    before = list(random_folds(X, t, folds, seed))
    after = list(random_folds(X[order], t[order], folds, seed))
    for (_, one), (_, other) in zip(before, after, strict=True):
        assert set(one.tolist()) == set(order[other].tolist())


@given(st.integers(4, 60), st.floats(0.1, 0.9), FOLDS, SEEDS)
def test_every_fold_gets_its_share_of_both_classes(rows: int, share: float, folds: int, seed: int) -> None:
    t = (np.arange(rows) < max(1, int(share * rows))).astype(np.float64)
    counts = [int(t[measuring].sum()) for _, measuring in random_folds(inputs(rows), t, folds, seed)]
    assert max(counts) - min(counts) <= 1


def test_another_seed_makes_other_folds() -> None:
    t = np.arange(30.0)
    one, other = (next(random_folds(inputs(30), t, 5, seed))[1].tolist() for seed in (0, 1))
    assert one != other


@given(GROUPS, FOLDS, SEEDS)
def test_a_group_is_never_divided(groups: Array, folds: int, seed: int) -> None:
    splits = list(group_folds(groups, folds, seed))
    assert_each_row_is_measured_once(splits, len(groups))
    for learning, measuring in splits:
        assert not set(groups[learning]) & set(groups[measuring])


@given(GROUPS, FOLDS, SEEDS)
def test_the_order_of_the_rows_does_not_change_a_groups_fold(groups: Array, folds: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(groups))
    before = [set(groups[measuring]) for _, measuring in group_folds(groups, folds, seed)]
    after = [set(groups[order][measuring]) for _, measuring in group_folds(groups[order], folds, seed)]
    assert before == after


def test_groups_are_dealt_so_that_folds_are_even() -> None:
    groups = np.repeat([1.0, 2.0, 3.0, 4.0], [6, 3, 2, 1])
    sizes = sorted(len(measuring) for _, measuring in group_folds(groups, 2, 0))
    assert sizes == [6, 6]


@given(TARGETS, FOLDS)
def test_in_order_only_the_past_is_learned_from(times: Array, folds: int) -> None:
    measured: list[int] = []
    for learning, measuring in ordered_folds(times, folds):
        if len(learning) and len(measuring):
            assert times[learning].max() < times[measuring].min()
        measured.extend(measuring.tolist())
    assert len(set(measured)) == len(measured)


def test_in_order_all_but_the_first_stretch_is_measured_on() -> None:
    splits = list(ordered_folds(np.arange(12.0)[::-1], 3))
    assert [sorted(measuring.tolist()) for _, measuring in splits] == [[6, 7, 8], [3, 4, 5], [0, 1, 2]]
    assert [len(learning) for learning, _ in splits] == [3, 6, 9]


@given(TARGETS, st.integers(1, 50), SEEDS)
def test_a_subset_is_drawn_by_content(t: Array, size: int, seed: int) -> None:
    X = inputs(len(t))
    order = np.random.default_rng(seed + 1).permutation(len(t))
    drawn, again = subset(X, t, size, seed), subset(X[order], t[order], size, seed)
    assert len(drawn) == min(size, len(t))
    assert np.array_equal(drawn, np.unique(drawn))
    assert set(drawn.tolist()) == set(order[again].tolist())


def test_keys_see_the_seed_and_every_number_but_not_the_sign_of_zero() -> None:
    values = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [0.0, np.nextafter(1.0, 2.0)]])
    keys = content_keys(values, 0)
    assert keys[0] == keys[1]
    assert len(set(keys.tolist())) == 3
    assert not set(keys.tolist()) & set(content_keys(values, 1).tolist())


@pytest.mark.parametrize("seed", range(3))
def test_keys_are_spread_evenly(seed: int) -> None:
    keys = content_keys(np.arange(10_000.0)[:, None], seed)
    counts = np.bincount((keys >> np.uint64(60)).astype(np.intp), minlength=16)
    assert float(np.sum((counts - 625.0) ** 2 / 625.0)) < 45.0  # chi-squared, 15 degrees of freedom: one in 10,000


@st.composite
def recurring_rows(draw: st.DrawFn) -> tuple[Array, Array]:
    """Rows of which some have equal inputs, with equal targets or not; inputs are measured, or categories."""
    rows = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 1_000)))
    places = inputs(draw(st.integers(1, rows)))
    X = places[rng.integers(len(places), size=rows)]
    return X, rng.integers(draw(st.integers(1, 30)), size=rows).astype(np.float64)


@given(recurring_rows(), FOLDS, SEEDS)
def test_rows_with_equal_inputs_are_in_one_fold_unless_they_are_more_than_a_fold_has(
    table: tuple[Array, Array], folds: int, seed: int
) -> None:
    X, t = table
    splits = list(random_folds(X, t, folds, seed))
    assert_each_row_is_measured_once(splits, len(t))
    for learning, measuring in splits:
        both = {tuple(row) for row in X[learning]} & {tuple(row) for row in X[measuring]}
        for place in both:
            here = [row for row in X.tolist() if tuple(row) == place]
            assert len(here) > max(1, len(t) // folds) or is_cells(X, _places(X))


def _places(X: Array) -> int:
    return len(np.unique(X, axis=0))


@given(recurring_rows(), FOLDS, SEEDS)
def test_the_order_of_rows_that_recur_does_not_change_their_fold(
    table: tuple[Array, Array], folds: int, seed: int
) -> None:
    X, t = table
    order = np.random.default_rng(seed).permutation(len(t))
    before, after = list(random_folds(X, t, folds, seed)), list(random_folds(X[order], t[order], folds, seed))
    for (_, one), (_, other) in zip(before, after, strict=True):
        rows, moved = np.column_stack([X, t])[one], np.column_stack([X, t])[order[other]]
        assert sorted(map(tuple, rows)) == sorted(map(tuple, moved))


@given(TARGETS, FOLDS, SEEDS)
def test_a_table_given_twice_has_its_own_folds_twice(t: Array, folds: int, seed: int) -> None:
    t = t + np.arange(len(t)) * 100.0
    once = list(random_folds(inputs(len(t)), t, folds, seed))
    twice = list(random_folds(np.tile(inputs(len(t)), (2, 1)), np.tile(t, 2), folds, seed))
    if len(t) >= folds:
        for (_, one), (_, both) in zip(once, twice, strict=True):
            assert sorted([*one, *(one + len(t))]) == both.tolist()


@given(st.integers(3, 6), st.integers(60, 120), FOLDS, SEEDS)
def test_every_fold_gets_its_share_of_each_of_many_classes(classes: int, rows: int, folds: int, seed: int) -> None:
    t = np.random.default_rng(seed).integers(classes, size=rows).astype(np.float64)
    held = [
        np.bincount(t[measuring].astype(int), minlength=classes)
        for _, measuring in random_folds(inputs(rows), t, folds, seed)
    ]
    assert (np.ptp(held, axis=0) <= 1).all()


def test_rows_of_few_combinations_of_categories_are_dealt_one_by_one() -> None:
    X = np.array([[a, b] for a in range(3) for b in range(2) for _ in range(20)], np.float64)
    t = np.random.default_rng(0).integers(2, size=len(X)).astype(np.float64)
    for learning, measuring in random_folds(X, t, 5, 0):
        assert len(measuring) == 24
        assert {tuple(row) for row in X[measuring]} <= {tuple(row) for row in X[learning]}


def test_of_each_place_one_row_is_kept_whatever_their_order() -> None:
    X, t = np.array([[1.0], [2.0], [1.0], [3.0], [2.0]]), np.array([5.0, 1.0, 4.0, 2.0, 1.0])
    kept = distinct(X, t)
    order = np.array([2, 4, 0, 3, 1])
    again = order[distinct(X[order], t[order])]
    assert sorted(X[kept, 0]) == [1.0, 2.0, 3.0]
    assert sorted(zip(X[kept, 0], t[kept], strict=True)) == sorted(zip(X[again, 0], t[again], strict=True))
    assert distinct(X[:2], t[:2]).tolist() == [0, 1]
    assert len(distinct(np.array([[-0.0], [0.0]]), t[:2])) == 1


def test_what_recurs_in_another_group_is_not_learned_from_where_that_is_measured() -> None:
    X, groups = np.arange(40.0)[:, None], np.repeat(np.arange(10.0), 4)
    X[7] = X[0]
    splits = list(without_copies(X, group_folds(groups, 5, 0)))
    assert sorted(np.concatenate([measuring for _, measuring in splits]).tolist()) == list(range(40))
    for learning, measuring in splits:
        assert not set(X[learning, 0]) & set(X[measuring, 0])
    assert sum(len(learning) for learning, _ in splits) in {158, 160}


@pytest.mark.parametrize("size", [0, 1, 7, 29, 30, 40])
def test_the_first_rows_by_content_are_those_of_the_whole_order(size: int) -> None:
    X = np.repeat(inputs(15), 2, axis=0)  # equal rows are in their order
    t = np.zeros(len(X))
    assert first_by_content(X, t, size, 3).tolist() == by_content(X, t, 3)[:size].tolist()


@given(SEEDS)
def test_a_row_is_in_the_tenth_by_its_own_inputs_whatever_the_others(seed: int) -> None:
    X, t = inputs(3_000), np.arange(3_000.0)
    X[1_000:1_500] = X[:500]
    others, fold = random_tenth(X, t, seed)
    assert sorted([*others.tolist(), *fold.tolist()]) == list(range(3_000))
    assert abs(len(fold) - 300) < 60
    assert set(np.intersect1d(fold, np.arange(500)) + 1_000) == {*fold.tolist()} & set(range(1_000, 1_500))
    _, more = random_tenth(inputs(3_000)[:2_900], t[:2_900], seed)
    _, every = random_tenth(inputs(3_000), t, seed)
    assert more.tolist() == [row for row in every.tolist() if row < 2_900]


def test_a_tenth_of_few_places_of_categories_and_of_classes_is_a_fold() -> None:
    rng = np.random.default_rng(0)
    t = rng.normal(size=1_000)
    for X in (np.repeat(np.arange(4.0), 250)[:, None], rng.integers(0, 5, (1_000, 3)).astype(np.float64)):
        for found, expected in zip(random_tenth(X, t, 1), next(random_folds(X, t, 10, 1)), strict=True):
            np.testing.assert_array_equal(found, expected)
    classes = (np.arange(500) < 20).astype(np.float64)
    _, fold = random_tenth(inputs(500), classes, 0, stratified=True)
    assert (len(fold), classes[fold].sum()) == (50, 2)
