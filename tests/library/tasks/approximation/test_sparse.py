"""import numpy as np"""

import numpy as np
import pytest
from scipy.integrate import quad

from relevance_bayes.core.errors import DataError
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.models.fitting import FitLog
from relevance_bayes.core.types import Array, Indices
from relevance_bayes.tasks.approximation import sparse
from relevance_bayes.tasks.approximation.expansion import KernelExpansion
from relevance_bayes.tasks.approximation.sparse import (
    Approximation,
    ColumnSpan,
    approximate,
    coordinates,
    negative_mass,
    proper,
    pursue,
)

X = np.random.default_rng(0).standard_normal((40, 2))
K = Gaussian()(X, X)


@pytest.mark.parametrize("residue", [1e-3, 1e-8, 1e-12])
def test_columns_have_the_inner_products_that_are_known(residue: float) -> None:
    G = coordinates(40, lambda numbers: K[numbers], max_rank=40, residue=residue)
    left = K - G.T @ G
    assert np.abs(left).max() <= residue * (1.0 + 1e-6) + 1e-15
    assert len(coordinates(40, lambda numbers: K[numbers], max_rank=40, residue=0.1 * residue)) >= len(G)


def test_members_that_are_alike_have_one_coordinate() -> None:
    G = coordinates(3, lambda numbers: np.ones((len(numbers), 3)), max_rank=3)
    np.testing.assert_allclose(G, [[1.0, 1.0, 1.0]])


def test_there_are_at_most_so_many() -> None:
    assert coordinates(40, lambda numbers: K[numbers], max_rank=5).shape == (5, 40)


@pytest.mark.parametrize("residue", [1e-4, 1e-10])
def test_many_members_are_visited_together_and_each_once(residue: float) -> None:
    """Some 200 ranks, in pools of up to 25."""
    many = np.random.default_rng(1).uniform(0.0, 9.0, (300, 2))
    visited: list[int] = []

    def products(numbers: Indices) -> Array:
        visited.extend(numbers.tolist())
        return Gaussian()(many[numbers], many)

    G = coordinates(300, products, max_rank=300, residue=residue)
    assert np.abs(Gaussian()(many, many) - G.T @ G).max() <= residue * (1.0 + 1e-6) + 1e-14
    assert 100 < len(G) <= len(visited) < 2 * len(G)


G = np.random.default_rng(0).standard_normal((30, 12))
t = np.random.default_rng(1).standard_normal(30)


@pytest.mark.parametrize(
    "ways",
    [((3,), (3, 5), (3, 5, 1)), ((3, 5, 1, 7), (3, 1, 7)), ((4, 2), (2,), ()), ((1, 2, 3), (1, 2, 9, 4)), ((8,), (8,))],
    ids=repr,
)
def test_what_a_span_misses_is_what_least_squares_leave(ways: tuple[tuple[int, ...], ...]) -> None:
    """Whatever it was moved from."""
    span = ColumnSpan.none(30)
    for chosen in ways:
        span = span.moved(G, chosen)
        columns = G[:, list(chosen)]
        left = t - columns @ np.linalg.lstsq(columns, t)[0] if chosen else t
        assert span.missed(t) == pytest.approx(np.linalg.norm(left), rel=1e-12)
        np.testing.assert_allclose(span.Q.T @ span.Q, np.eye(len(chosen)), atol=1e-13)


def test_columns_that_are_nearly_alike_have_an_orthonormal_basis_still() -> None:
    nearly = G[:, :1] + 1e-9 * G[:, 1:4]
    span = (
        ColumnSpan.none(30).moved(np.hstack([G[:, :1], nearly]), (0,)).moved(np.hstack([G[:, :1], nearly]), (0, 1, 2))
    )
    np.testing.assert_allclose(span.Q.T @ span.Q, np.eye(3), atol=1e-12)


rng = np.random.default_rng(0)
GRAM = rng.standard_normal((40, 60))
GRAM /= np.linalg.norm(GRAM, axis=0)


def missed(t: Array, chosen: tuple[int, ...]) -> float:
    """By least squares."""
    columns = GRAM[:, list(chosen)]
    return float(np.linalg.norm(t - columns @ np.linalg.lstsq(columns, t)[0])) if chosen else float(np.linalg.norm(t))


def ways(t: Array, error: float, max_terms: int = 60) -> list[tuple[tuple[int, ...], float]]:
    reported: list[tuple[tuple[int, ...], float]] = []
    walk = pursue(
        GRAM,
        t,
        error=error,
        max_functions=max_terms,
        visit=lambda chosen, error: reported.append((chosen, error)),
        fit_log=FitLog(),
    )
    assert [*walk][-1] == 0
    return reported


def test_what_is_reported_to_be_missed_is_what_least_squares_miss() -> None:
    t = rng.standard_normal(40)
    reported = ways(t / np.linalg.norm(t), 0.1)
    assert len(reported) > 60
    for chosen, error in reported:
        assert len(set(chosen)) == len(chosen)
        assert error == pytest.approx(missed(t / np.linalg.norm(t), chosen), abs=1e-9)


def test_each_that_enters_gains_most_and_each_that_leaves_is_missed_least() -> None:
    t = GRAM[:, :9] @ rng.standard_normal(9) + 0.05 * rng.standard_normal(40)
    steps = ways(t, 0.2)
    entered = left = 0
    for (before, _), (after, error) in zip([((), 0.0), *steps], steps, strict=False):
        if len(after) == len(before) + 1:
            entered += 1
            assert error <= min(missed(t, (*before, number)) for number in range(60) if number not in before) + 1e-9
        if len(after) == len(before) - 1:
            left += 1
            assert error <= min(missed(t, tuple(one for one in before if one != out)) for out in before) + 1e-9
    assert entered > 9
    assert left > 9


def test_a_sum_of_few_is_found_whatever_entered_first() -> None:
    """The sum of all seven, which is no part of it, is nearest to it at first."""
    seven = list(range(3, 10))
    total = GRAM[:, seven].sum(axis=1)
    offered = np.column_stack([GRAM, total / np.linalg.norm(total)])
    t = GRAM[:, seven] @ np.linspace(0.7, 1.3, 7)
    shortest: list[tuple[int, ...]] = []

    def record(chosen: tuple[int, ...], error: float) -> None:
        if error < 1e-6:
            shortest.append(chosen)

    list(pursue(offered, t, error=1e-6, max_functions=60, visit=record, fit_log=FitLog()))
    assert shortest[0][0] == 60
    smallest = min(shortest, key=lambda chosen: len(chosen))
    assert len(smallest) == 7
    assert set(smallest) < {*seven, 60}


@pytest.mark.parametrize("max_terms", [1, 4])
def test_so_many_at_most_are_chosen_with_care(max_terms: int) -> None:
    """By a way back from more, which is no worse than the way forward."""
    t = GRAM[:, :9] @ rng.standard_normal(9)
    reported = ways(t, 1e-3, max_terms)
    first = next(error for chosen, error in reported if len(chosen) == max_terms)
    assert max(len(chosen) for chosen, _ in reported) > max_terms
    assert min(error for chosen, error in reported if len(chosen) == max_terms) <= first


def test_a_basis_that_is_made_anew_on_the_way_leads_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    t = GRAM[:, :9] @ rng.standard_normal(9) + 0.05 * rng.standard_normal(40)
    at_once = ways(t, 0.05)
    monkeypatch.setattr(sparse, "REBUILT", 4)
    monkeypatch.setattr(sparse, "REFACTORED", 3)
    anew = dict(ways(t, 0.05))
    for chosen, error in at_once:
        assert anew[chosen] == pytest.approx(error, abs=1e-9)


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


def missed_terms(function: KernelExpansion, found: Approximation) -> float:
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
    assert missed_terms(function, found) == pytest.approx(found.error, rel=1e-3)
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
    assert missed_terms(function, found) == pytest.approx(found.error, rel=1e-3)


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
