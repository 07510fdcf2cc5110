import numpy as np
import pytest
from scipy.integrate import quad

from relevance_bayes.core.errors import DataError
from relevance_bayes.tasks.approximation.density import negative_mass, proper
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.sparse import Approximation, approximate


def density(rows: int, seed: int = 0, width: float = 0.8) -> KernelExpansion:
    """The kernel density estimate of two clusters of rows, in two dimensions."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 2)) + 3.0 * rng.integers(0, 2, (rows, 1))
    return KernelExpansion(X, np.full(rows, 1.0 / (rows * np.pi * width**2)), np.full((rows, 2), width))


def curve(terms: int, constant: float = 2.0) -> KernelExpansion:
    """A GP's mean: signed coefficients on a line."""
    rng = np.random.default_rng(3)
    return KernelExpansion(
        rng.uniform(-5, 5, (terms, 1)), rng.standard_normal(terms), np.full((terms, 1), 1.5), constant
    )


def missed(function: KernelExpansion, found: Approximation) -> float:
    """|f - f_R| / |f| by quadrature, in one dimension."""

    def value(f: KernelExpansion, x: float) -> float:
        return float(f(np.array([[x]]))[0])

    square, _ = quad(lambda x: (value(function, x) - function.constant) ** 2, -20, 20, limit=400, epsabs=1e-13)
    apart, _ = quad(lambda x: (value(function, x) - value(found.expansion, x)) ** 2, -20, 20, limit=400, epsabs=1e-13)
    return float(np.sqrt(apart / square))


@pytest.mark.parametrize("error", [0.1, 0.01, 1e-3])
def test_the_required_error_is_reached_and_reported_as_quadrature_has_it(error: float) -> None:
    function = curve(200)
    found = approximate(function, error=error)
    assert found.error <= error
    assert missed(function, found) == pytest.approx(found.error, rel=1e-3)
    assert len(found.rows) == found.expansion.size < 25
    assert found.expansion.constant == 2.0


def test_fewer_terms_miss_more() -> None:
    path = approximate(curve(200), error=1e-3).path
    assert path[0] == (0, 1.0)
    numbers, errors = zip(*path, strict=True)
    assert list(numbers) == sorted(numbers)
    assert errors[-1] <= 1e-3
    assert min(errors[:4]) > 10.0 * errors[-1]


def test_at_most_so_many_terms_are_kept() -> None:
    """Two heaps are two wide bumps, and a little more."""
    found = approximate(density(300), max_functions=5)
    assert found.expansion.size <= 5
    assert found.error < 0.1
    assert found.error == pytest.approx(min(error for number, error in found.path if number <= 5), rel=1e-9)


def test_two_terms_of_two_are_found_exactly() -> None:
    """One of them stands there in pieces."""
    centres = np.array([[0.0], [0.0], [5.0], [0.0]])
    function = KernelExpansion(centres, np.array([1.0, 2.0, -1.5, 4.0]), np.ones((4, 1)))
    found = approximate(function, error=1e-4)
    assert found.expansion.size == 2
    order = np.argsort(found.expansion.centres[:, 0])
    np.testing.assert_allclose(found.expansion.coefficients[order], [7.0, -1.5], rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_size_of_the_function_changes_nothing(scale: float) -> None:
    function = curve(60)
    found = approximate(function, error=0.01)
    scaled = approximate(KernelExpansion(function.centres, scale * function.coefficients, function.widths), error=0.01)
    np.testing.assert_array_equal(scaled.rows, found.rows)
    np.testing.assert_allclose(scaled.expansion.coefficients / scale, found.expansion.coefficients, rtol=1e-6)


def test_fifty_dimensions_are_no_more_than_two() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 50))
    function = KernelExpansion(X, np.ones(80), np.full((80, 50), 30.0))
    found = approximate(function, error=0.02)
    assert found.expansion.size < 40
    new = rng.standard_normal((200, 50))
    np.testing.assert_allclose(found.expansion(new), function(new), rtol=0.1)


def test_a_density_keeps_its_mass_and_is_nowhere_below_zero() -> None:
    function = density(400)
    assert function.mass == pytest.approx(1.0)
    rough = approximate(function, error=0.05)
    assert rough.expansion.mass == pytest.approx(1.0, abs=0.1)
    found = proper(function, rough)
    assert (found.expansion.coefficients > 0.0).all()
    assert found.expansion.mass == pytest.approx(1.0, rel=1e-12)
    assert found.error <= rough.error
    assert found.expansion.size < 2 * rough.expansion.size
    np.testing.assert_array_equal(found.expansion.centres, function.centres[found.rows])


def test_the_error_of_a_density_is_that_of_quadrature() -> None:
    rng = np.random.default_rng(5)
    function = KernelExpansion(rng.standard_normal((150, 1)), np.full(150, 1.0 / 150.0), np.full((150, 1), 0.4))
    found = proper(function, approximate(function, error=0.02))
    assert missed(function, found) == pytest.approx(found.error, rel=1e-3)


def test_a_density_has_at_most_so_many_terms() -> None:
    function = density(400)
    rough = approximate(function, error=0.05)
    few = proper(function, rough, max_functions=rough.expansion.size)
    assert few.expansion.size <= rough.expansion.size
    assert rough.error <= few.error < 0.15
    assert few.expansion.mass == pytest.approx(1.0, rel=1e-12)


def test_what_is_below_zero_itself_has_the_nearest_density() -> None:
    """That of a bump less a narrow one in its middle has two bumps beside each other."""
    x = np.linspace(-2.0, 2.0, 41)[:, None]
    dip = np.where(np.abs(x[:, 0]) < 0.06, -8.0, 1.0)
    function = KernelExpansion(x, dip, np.full((41, 1), 0.4))
    assert negative_mass(function) > 0.1
    found = proper(function, approximate(function, error=0.01))
    assert (found.expansion.coefficients > 0.0).all()
    assert found.expansion.mass == pytest.approx(function.mass, rel=1e-12)
    assert 0.01 < found.error < 1.0


def test_negative_mass_is_that_of_quadrature() -> None:
    f = KernelExpansion(np.array([[0.0], [1.0]]), np.array([1.0, -0.8]), np.ones((2, 1)), constant=9.0)
    expected, _ = quad(lambda x: max(9.0 - float(f(np.array([[x]]))[0]), 0.0), -10, 10, limit=200)
    assert negative_mass(f) == pytest.approx(expected, abs=0.01)
    assert negative_mass(density(10)) == 0.0


@pytest.mark.parametrize(
    ("error", "max_terms", "detail"), [(0.0, None, "above 0"), (1.0, 3, "below 1"), (0.1, 0, "one term")]
)
def test_what_cannot_be_reached_is_refused(error: float, max_terms: int | None, detail: str) -> None:
    with pytest.raises(DataError, match=detail):
        approximate(curve(5), error=error, max_functions=max_terms)


def test_a_constant_has_nothing_to_approximate() -> None:
    flat = KernelExpansion(np.zeros((2, 1)), np.zeros(2), np.ones((2, 1)), 3.0)
    with pytest.raises(DataError, match="not constant"):
        approximate(flat)
    cancelling = KernelExpansion(np.zeros((2, 1)), np.array([1.0, -1.0]), np.ones((2, 1)))
    with pytest.raises(DataError, match="cancel"):
        approximate(cancelling)


def test_only_a_density_is_made_proper() -> None:
    for function in (curve(10), KernelExpansion(np.zeros((1, 1)), -np.ones(1), np.ones((1, 1)))):
        with pytest.raises(DataError, match="a density"):
            proper(function, approximate(function, error=0.1))
