"""All dictionaries at once, then each by what is known of it."""

import numpy as np
import pytest

from relevance_bayes.core.dictionaries import (
    BSplines,
    Dictionary,
    Fourier,
    Gabor,
    Steps,
)
from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array

ALL: list[Dictionary] = [Steps(), Fourier(), Fourier(3), BSplines(), BSplines(2, 4), BSplines(1), Gabor(), Gabor(2, 0)]


def grid(rows: int = 64) -> Array:
    """A regular one, in units that are nobody's."""
    return 3.0 + 0.25 * np.arange(rows, dtype=np.float64)[:, None]


def scattered(rows: int, inputs: int) -> Array:
    return np.random.default_rng(rows + inputs).normal(5.0, 3.0, (rows, inputs))


def every(dictionary: Dictionary, X: Array, at: Array | None = None) -> Array:
    functions = dictionary.functions(X)
    return functions(X if at is None else at, np.arange(functions.size))


@pytest.mark.parametrize("dictionary", ALL, ids=repr)
@pytest.mark.parametrize("inputs", [1, 2])
def test_chosen_functions_are_columns_of_all(dictionary: Dictionary, inputs: int) -> None:
    X = scattered(30, inputs)
    functions, columns = dictionary.functions(X), every(dictionary, X)
    assert columns.shape == (30, functions.size)
    assert np.isfinite(columns).all()
    chosen = np.random.default_rng(0).permutation(functions.size)[:7]
    np.testing.assert_array_equal(functions(X, chosen), columns[:, chosen])
    selected = functions.take(chosen)
    assert selected.size == len(chosen)
    np.testing.assert_array_equal(selected(X, np.arange(selected.size)), columns[:, chosen])
    assert [selected.shape(k) for k in range(3)] == [functions.shape(int(chosen[k])) for k in range(3)]


@pytest.mark.parametrize("dictionary", ALL, ids=repr)
@pytest.mark.parametrize("inputs", [1, 2])
def test_the_functions_follow_the_units_of_the_inputs(dictionary: Dictionary, inputs: int) -> None:
    X = scattered(25, inputs)
    np.testing.assert_allclose(every(dictionary, 1e3 * X - 7.0), every(dictionary, X), atol=1e-8)


@pytest.mark.parametrize("dictionary", ALL, ids=repr)
@pytest.mark.parametrize("inputs", [1, 2])
def test_the_order_of_the_rows_changes_nothing(dictionary: Dictionary, inputs: int) -> None:
    X = scattered(25, inputs)
    turned = np.random.default_rng(1).permutation(25)
    np.testing.assert_array_equal(every(dictionary, X[turned], X), every(dictionary, X))


@pytest.mark.parametrize("dictionary", ALL, ids=repr)
def test_a_constant_input_has_no_functions(dictionary: Dictionary) -> None:
    assert dictionary.functions(np.full((9, 1), 2.5)).size == 0


def test_steps_distinguish_all_values() -> None:
    X = np.array([[0.0], [1.0], [1.0], [3.0], [-2.0]])
    np.testing.assert_array_equal(every(Steps(), X), [[1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0]])
    assert [Steps().functions(X).shape(k).location for k in range(3)] == [(-1.0,), (0.5,), (2.0,)]


def test_a_step_between_two_floats_that_are_neighbours_parts_them() -> None:
    low = 1.0
    X = np.array([[low], [np.nextafter(low, 2.0)]])
    np.testing.assert_array_equal(every(Steps(), X), [[0.0], [1.0]])


@pytest.mark.parametrize("rows", [16, 63])
def test_waves_on_a_grid_are_the_discrete_fourier_transform(rows: int) -> None:
    t = np.random.default_rng(2).standard_normal(rows)
    columns = every(Fourier(), grid(rows))
    coefficients = np.fft.rfft(t)[1:]
    np.testing.assert_allclose(columns[:, 0::2].T @ t, coefficients.real, atol=1e-9)
    np.testing.assert_allclose(columns[:, 1::2].T @ t, -coefficients.imag, atol=1e-9)


def test_a_high_harmonic_keeps_its_digits() -> None:
    columns = every(Fourier(10_000), grid(8))
    np.testing.assert_allclose(columns[:, 15_998:16_000], np.ones((8, 1)) * [1.0, 0.0], atol=1e-9)  # 8,000 is 8 x 1,000


@pytest.mark.parametrize("degree", [1, 2, 3, 7])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_the_splines_of_a_level_add_up_to_one(degree: int, level: int) -> None:
    X = grid()
    fewer = BSplines(degree, level).functions(X).size if level else 0
    columns = every(BSplines(degree, level + 1), X)[:, fewer:]
    assert columns.shape[1] == 2**level + degree
    np.testing.assert_allclose(columns.sum(axis=1), 1.0, atol=1e-12)
    assert (columns.max(axis=0) > 0.0).all()


@pytest.mark.parametrize(("values", "size"), [(2, 4), (3, 4), (4, 4 + 5), (8, 4 + 5 + 7), (9, 4 + 5 + 7)])
def test_the_narrowest_pieces_of_splines_hold_two_values_by_default(values: int, size: int) -> None:
    assert BSplines(3).functions(np.arange(float(values))[:, None]).size == size


def test_a_cubic_spline_by_hand() -> None:
    """2/3 at its centre, 1/6 one knot away, 0 from two on."""
    functions = BSplines(3, 1).functions(np.array([[0.0], [4.0]]))
    of = functions.take(np.array([1]))
    centre = of.shape(0).location[0]
    columns_at = of(np.array([[centre], [centre + 4.0], [centre - 4.0], [centre + 8.0], [centre + 9.0]]), np.array([0]))
    np.testing.assert_allclose(columns_at[:, 0], [2 / 3, 1 / 6, 1 / 6, 0.0, 0.0], atol=1e-15)


def test_a_wavelet_is_a_wave_under_a_gaussian() -> None:
    X = scattered(40, 2)
    functions = Gabor().functions(X)
    number = functions.size // 2 + 5
    shape = functions.shape(number)
    assert shape.scale is not None
    assert shape.phase is not None
    apart = X - np.array(shape.location)
    wave = np.cos(2.0 * np.pi * (apart @ np.array(shape.frequency) - shape.phase))
    expected = np.exp(-np.pi * np.square(apart).sum(axis=1) / shape.scale**2) * wave
    np.testing.assert_allclose(functions(X, np.array([number]))[:, 0], expected, atol=1e-14)


def test_wavelets_cover_the_range_at_every_span() -> None:
    X = grid()
    functions = Gabor(octaves=3, waves=0).functions(X)
    columns = every(Gabor(octaves=3, waves=0), X)
    for span in np.unique(functions.spans):
        assert columns[:, functions.spans == span].max(axis=1).min() > np.exp(-np.pi / 16.0) - 1e-9


def test_wavelets_are_over_one_input_or_two() -> None:
    with pytest.raises(DataError, match="got 3; name a group"):
        Gabor().functions(scattered(5, 3))
