from math import pi

import numpy as np
import pytest
from scipy.integrate import dblquad, quad

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.types import Array
from relevance_bayes.tasks.approximation.expansion import KernelExpansion


def drawn(terms: int, inputs: int, seed: int = 0) -> KernelExpansion:
    rng = np.random.default_rng(seed)
    centres, widths = rng.normal(0.0, 2.0, (terms, inputs)), rng.uniform(0.5, 2.0, (terms, inputs))
    return KernelExpansion(centres, rng.standard_normal(terms), widths, constant=0.75)


def term(f: KernelExpansion, number: int, x: Array) -> float:
    return float(np.exp(-np.square((x - f.centres[number]) / f.widths[number]).sum()))


def test_values_are_the_sum() -> None:
    f, X = drawn(7, 3), np.random.default_rng(1).standard_normal((5, 3))
    expected = [0.75 + sum(f.coefficients[j] * term(f, j, x) for j in range(7)) for x in X]
    np.testing.assert_allclose(f(X), expected, rtol=1e-13)
    assert f(np.empty((0, 3))).shape == (0,)


def test_products_in_one_dimension_are_those_of_quadrature() -> None:
    f = drawn(4, 1)
    norms = np.exp(f.log_norms)
    for i in range(4):
        for j in range(4):
            expected, _ = quad(lambda x, i=i, j=j: term(f, i, np.array([x])) * term(f, j, np.array([x])), -30, 30)
            assert f.cosines(np.array([i]))[0, j] * norms[i] * norms[j] == pytest.approx(expected, abs=1e-9)


def test_products_in_two_dimensions_are_those_of_quadrature() -> None:
    f = drawn(2, 2)
    expected, _ = dblquad(
        lambda y, x: term(f, 0, np.array([x, y])) * term(f, 1, np.array([x, y])), -12, 12, -12, 12, epsabs=1e-9
    )
    assert f.cosines(np.array([0]))[0, 1] * np.exp(f.log_norms.sum()) == pytest.approx(expected, rel=1e-6)


def test_the_mass_leaves_the_constant_out() -> None:
    f = drawn(5, 1)
    expected, _ = quad(lambda x: float(f(np.array([[x]]))[0]) - 0.75, -40, 40, limit=200)
    assert f.mass == pytest.approx(expected, rel=1e-8)
    plain = KernelExpansion(np.zeros((1, 2)), np.array([3.0]), np.array([[2.0, 0.5]]))
    assert plain.mass == pytest.approx(3.0 * pi)


def test_a_term_has_a_cosine_of_one_with_itself_in_any_number_of_dimensions() -> None:
    f = drawn(3, 400)
    assert f.cosines(np.arange(3)).diagonal() == pytest.approx(np.ones(3))


@pytest.mark.parametrize(
    ("centres", "coefficients", "widths", "constant", "detail"),
    [
        (np.zeros((0, 2)), np.zeros(0), np.zeros((0, 2)), 0.0, "expected centres"),
        (np.zeros(3), np.zeros(3), np.ones(3), 0.0, "expected centres"),
        (np.zeros((3, 1)), np.zeros(2), np.ones((3, 1)), 0.0, "3 coefficients"),
        (np.zeros((3, 1)), np.zeros(3), np.ones((3, 2)), 0.0, r"widths \(3, 1\)"),
        (np.zeros((3, 1)), np.array([0.0, np.nan, 1.0]), np.ones((3, 1)), 0.0, "NaN"),
        (np.zeros((3, 1)), np.zeros(3), np.ones((3, 1)), np.inf, "infinity"),
        (np.zeros((3, 1)), np.zeros(3), np.zeros((3, 1)), 0.0, "above 0"),
    ],
)
def test_what_is_no_expansion_is_refused(
    centres: Array, coefficients: Array, widths: Array, constant: float, detail: str
) -> None:
    with pytest.raises(DataError, match=detail):
        KernelExpansion(centres, coefficients, widths, constant)


def test_terms_of_one_width_have_it_for_every_input_or_one_for_each() -> None:
    f = drawn(4, 2)
    one, each = (KernelExpansion.of_width(width, f.centres, f.coefficients, 0.5) for width in (2.0, (2.0, 3.0)))
    np.testing.assert_array_equal(one.widths, np.full((4, 2), 2.0))
    np.testing.assert_array_equal(each.widths, [[2.0, 3.0]] * 4)
    assert one.constant == each.constant == 0.5
    with pytest.raises(DataError, match="2 widths, got 1"):
        KernelExpansion.of_width((2.0,), f.centres, f.coefficients)
