"""import numpy as np"""

import numpy as np
import pytest

from relevance_bayes.core.dictionaries import GaborFunctions
from relevance_bayes.tasks.images.columns import LEVELS, Level, SparseColumns, Window
from tests.library.tasks.images.small_images import FULL, dense, pixels

SOME = GaborFunctions(
    np.array([[0.0, 0.0], [7.0, 3.0], [11.0, 10.0], [5.0, 5.0]]),
    np.array([4.0, 4.0, 8.0, 3.0]),
    np.array([[0.1, 0.2], [0.0, 0.0], [0.05, -0.1], [0.2, 0.0]]),
    np.array([0.0, 0.0, 0.25, 0.25]),
)


def test_columns_are_the_wavelets_of_the_library_but_for_what_is_outside_two_spans() -> None:
    columns = dense(SOME, FULL, FULL)
    full = SOME(pixels(FULL), np.arange(SOME.size))
    assert np.abs(columns - full).max() < 4e-6
    assert np.abs(columns - full)[columns != 0.0].max() < 1e-14
    assert (columns == 0.0).any()


def test_a_window_sees_of_the_image_what_is_within_it() -> None:
    part = Window(3, -2, 6, 9)
    full, seen = dense(SOME, FULL, FULL), dense(SOME.take(np.array([1, 3])), part, FULL)
    shown = np.zeros((6, 9, 2))
    shown[:, 2:] = full[:, [1, 3]].reshape(12, 11, 2)[3:9, :7]
    np.testing.assert_array_equal(seen.reshape(6, 9, 2), shown)


def test_sums_and_products_are_those_of_the_matrix() -> None:
    rng = np.random.default_rng(0)
    columns, matrix = SparseColumns.of(SOME, FULL, FULL), dense(SOME, FULL, FULL)
    w, y = rng.normal(size=4), rng.normal(size=FULL.size)
    np.testing.assert_allclose(columns.sum(w), matrix @ w, atol=1e-13)
    np.testing.assert_allclose(columns.products(y), matrix.T @ y, atol=1e-12)
    np.testing.assert_allclose(columns.squares, np.square(matrix).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("left_out", [0, 2, 3])
def test_a_column_leaves_and_another_follows(left_out: int) -> None:
    columns, matrix = SparseColumns.of(SOME, FULL, FULL), dense(SOME, FULL, FULL)
    fewer = columns.without(left_out)
    kept = np.delete(np.arange(4), left_out)
    np.testing.assert_array_equal(np.column_stack([fewer.column(k) for k in range(3)]), matrix[:, kept])
    again = fewer.followed(SparseColumns.of(SOME.take(np.array([left_out])), FULL, FULL))
    np.testing.assert_array_equal(again.column(3), matrix[:, left_out])


def test_no_columns_sum_to_nothing() -> None:
    none = SparseColumns.none(6)
    np.testing.assert_array_equal(none.sum(np.empty(0)), np.zeros(6))
    assert none.products(np.ones(6)).shape == none.squares.shape == (0,)


def test_products_by_transforms_are_those_with_the_columns() -> None:
    level = Level((4, 8), 8)
    tile = Window(-level.margin, -level.margin, level.side, level.side)
    y = np.random.default_rng(1).normal(size=(level.side, level.side))
    columns = dense(level.functions, tile, tile)
    np.testing.assert_allclose(level.products(y), columns.T @ y.ravel(), atol=1e-11)


def test_squares_are_sums_over_the_pixels_that_are_seen() -> None:
    level = Level((4, 8), 8)
    tile, image = Window(-level.margin, -level.margin, level.side, level.side), Window(0, 0, 8, 10)
    seen = np.zeros((level.side, level.side))
    seen[level.margin : level.margin + 8, level.margin : level.margin + 10] = 1.0
    columns = dense(level.functions, tile, image)
    np.testing.assert_allclose(level.squares(seen), np.square(columns).sum(axis=0), atol=1e-11)


def test_candidates_of_neighbouring_tiles_are_one_lattice() -> None:
    level = Level((8,), 16)
    here, beside = level.at(np.arange(level.size), 0, 0), level.at(np.arange(level.size), 0, 16)
    across = np.unique(np.concatenate([here.centres[:, 1], beside.centres[:, 1]]))
    np.testing.assert_array_equal(across, np.arange(0.0, 32.0, 2.0))


def test_tiles_of_every_level_fit_the_steps_of_their_wavelets() -> None:
    for level in LEVELS:
        for span in level.spans:
            assert all(length % (span // 4) == 0 for length in (level.inner, level.margin, level.side))
