import numpy as np

from relevance_bayes.tasks.images.columns import Window
from relevance_bayes.tasks.images.levels import LEVELS, Level
from tests.library.tasks.images.small_images import dense


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
