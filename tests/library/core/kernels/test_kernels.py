"""Properties of every kernel; the union includes a new one, which has only to add its definition."""

from collections.abc import Callable
from math import dist, exp, log, pi, prod, sin, sqrt, tanh
from typing import assert_never, get_args

import numpy as np
import pytest

from relevance_bayes.core.kernels import (
    Cauchy,
    CityBlock,
    Covariance,
    Cubic,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    LinearSpline,
    Matern32,
    Matern52,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlate,
)
from relevance_bayes.core.kernels.by_input import Periodic
from relevance_bayes.core.kernels.radial import InverseMultiquadric, Radial
from relevance_bayes.core.types import Array

Point = list[float]

MEMBERS: list[Kernel] = [member() for member in get_args(Kernel)]
OTHERS: list[Kernel] = [RationalQuadratic(0.3), RationalQuadratic(50.0), Polynomial(1), Polynomial(2), Polynomial(10)]
OTHERS += [Periodic(0.4), Periodic(3.0)]


def name(kernel: Kernel) -> str:
    return str(kernel)


each_kernel = pytest.mark.parametrize("kernel", MEMBERS + OTHERS, ids=name)
each_radial = pytest.mark.parametrize(
    "kernel", [kernel for kernel in MEMBERS + OTHERS if isinstance(kernel, Radial)], ids=name
)
each_radial_covariance = pytest.mark.parametrize(
    "kernel",
    [kernel for kernel in MEMBERS + OTHERS if isinstance(kernel, Radial) and isinstance(kernel, Covariance)],
    ids=name,
)
each_covariance = pytest.mark.parametrize(
    "kernel", [kernel for kernel in MEMBERS + OTHERS if isinstance(kernel, Covariance)], ids=name
)
each_number_of_inputs = pytest.mark.parametrize("inputs", [1, 4])


def dot(u: Point, z: Point) -> float:
    return sum(a * b for a, b in zip(u, z, strict=True))


def spline(u: float, z: float) -> float:
    minimum = min(u, z)
    return 1.0 + u * z + u * z * minimum - (u + z) / 2.0 * minimum**2 + minimum**3 / 3.0


def definition(kernel: Kernel) -> Callable[[Point, Point], float]:
    """k of two points, as its docstring has it."""
    match kernel:
        case Gaussian():
            return lambda u, z: exp(-(dist(u, z) ** 2))
        case Matern32():
            return lambda u, z: (1.0 + sqrt(3.0) * dist(u, z)) * exp(-sqrt(3.0) * dist(u, z))
        case Matern52():
            return lambda u, z: (
                (1.0 + sqrt(5.0) * dist(u, z) + 5.0 / 3.0 * dist(u, z) ** 2) * exp(-sqrt(5.0) * dist(u, z))
            )
        case Laplacian():
            return lambda u, z: exp(-dist(u, z))
        case CityBlock():
            return lambda u, z: exp(-sum(abs(a - b) for a, b in zip(u, z, strict=True)))
        case Cauchy():
            return lambda u, z: 1.0 / (1.0 + dist(u, z) ** 2)
        case RationalQuadratic(power):
            return lambda u, z: float((1.0 + dist(u, z) ** 2 / power) ** -power)
        case Linear():
            return dot
        case Polynomial(degree):
            return lambda u, z: float((1.0 + dot(u, z)) ** degree)
        case Cubic():
            return lambda u, z: dist(u, z) ** 3
        case ThinPlate():
            return lambda u, z: dist(u, z) ** 2 * log(dist(u, z)) if u != z else 0.0
        case Sigmoid(offset):
            return lambda u, z: tanh(dot(u, z) + offset)
        case InverseMultiquadric():
            return lambda u, z: 1.0 / sqrt(1.0 + dist(u, z) ** 2)
        case Periodic(length_scale):
            return lambda u, z: prod(
                exp(-2.0 * (sin(pi * abs(a - b)) / length_scale) ** 2) for a, b in zip(u, z, strict=True)
            )
        case LinearSpline():
            return lambda u, z: prod(spline(a, b) for a, b in zip(u, z, strict=True))
        case _:
            assert_never(kernel)  # a new kernel: add its definition above


def points(inputs: int, *, coincident: bool = False) -> tuple[Array, Array]:
    """U (6, d) and Z (4, d), the last two of which may be rows of U."""
    rng = np.random.default_rng(inputs)
    U, Z = rng.standard_normal((6, inputs)), rng.standard_normal((4, inputs))
    if coincident:
        Z[2:] = U[1:3]
    return U, Z


@each_number_of_inputs
@each_kernel
def test_it_is_its_definition(kernel: Kernel, inputs: int) -> None:
    U, Z = points(inputs, coincident=True)
    k = definition(kernel)
    by_hand = [[k(u, z) for z in Z.tolist()] for u in U.tolist()]
    np.testing.assert_allclose(kernel(U, Z), by_hand, rtol=1e-11, atol=1e-14)


@each_number_of_inputs
@each_kernel
def test_it_is_symmetric_and_leaves_the_points_alone(kernel: Kernel, inputs: int) -> None:
    U, Z = points(inputs)
    before = U.copy(), Z.copy()
    np.testing.assert_allclose(kernel(U, Z), kernel(Z, U).T, rtol=1e-11, atol=1e-14)
    np.testing.assert_array_equal(U, before[0])
    np.testing.assert_array_equal(Z, before[1])


@each_number_of_inputs
@each_kernel
def test_a_gram_matrix_has_no_negative_eigenvalue_where_that_is_promised(kernel: Kernel, inputs: int) -> None:
    U = np.random.default_rng(inputs).normal(0.0, 2.0, (40, inputs))
    eigenvalues = np.linalg.eigvalsh(kernel(U, U))
    if kernel.is_positive_definite:
        assert eigenvalues[0] > -1e-13 * eigenvalues[-1]
    else:
        assert eigenvalues[0] < -1e-3 * eigenvalues[-1]


@each_number_of_inputs
@each_kernel
def test_the_stationary_ones_alone_do_not_see_where_the_origin_is(kernel: Kernel, inputs: int) -> None:
    U, Z = points(inputs)
    moved = kernel(U + 3.0, Z + 3.0)
    assert np.allclose(moved, kernel(U, Z), rtol=1e-11, atol=1e-14) is kernel.is_stationary


@each_number_of_inputs
@each_covariance
def test_it_is_one_at_its_centre_and_zero_far_away_unless_it_repeats(kernel: Covariance, inputs: int) -> None:
    U, _ = points(inputs)
    np.testing.assert_allclose(kernel(U, U).diagonal(), 1.0, rtol=1e-14)
    far = kernel(U, U + 1e150)
    assert (far >= 0.0).all()
    repeats = np.allclose(kernel(U, U + 1.0), kernel(U, U), rtol=1e-10)
    assert repeats or (far < 1e-80).all()


@each_radial
def test_the_slope_is_that_of_k_over_the_squared_distance(kernel: Radial) -> None:
    squares, step = np.geomspace(1e-2, 50.0, 30)[None, :], 1e-6
    k = kernel.of_squares(np, squares.copy())
    by_differences = (kernel.of_squares(np, squares * (1 + step)) - kernel.of_squares(np, squares * (1 - step))) / (
        2.0 * step * squares
    )
    before = squares.copy(), k.copy()
    np.testing.assert_allclose(kernel.slope(np, squares, k), by_differences, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(squares, before[0])
    np.testing.assert_array_equal(k, before[1])


@each_radial_covariance
def test_the_slope_is_finite_at_no_distance_and_at_any(kernel: Radial) -> None:
    squares = np.array([[0.0, 1e-300, 1e-30, 1e30, 1e300]])
    slope = kernel.slope(np, squares, kernel.of_squares(np, squares.copy()))
    assert np.isfinite(slope).all()
    assert (slope <= 0.0).all()


def assert_gradient(found: Array, points: Array, value: Callable[[Array], float], step: float = 1e-5) -> None:
    """By central differences, which give 0 at a kink too."""
    expected = np.empty_like(points)
    for place in np.ndindex(*points.shape):
        after, before = points.copy(), points.copy()
        after[place] += step
        before[place] -= step
        expected[place] = (value(after) - value(before)) / (2.0 * step)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7 * max(1.0, float(np.abs(expected).max())))


@pytest.mark.parametrize("coincident", [False, True], ids=["apart", "coincident"])
@each_number_of_inputs
@each_kernel
def test_the_pull_is_the_gradient(kernel: Kernel, inputs: int, coincident: bool) -> None:
    U, Z = points(inputs, coincident=coincident)
    D = np.random.default_rng(7).standard_normal((len(U), len(Z)))
    dU, dZ = kernel.pull(U, Z, D)
    assert_gradient(dU, U, lambda there: float((D * kernel(there, Z)).sum()))
    assert_gradient(dZ, Z, lambda there: float((D * kernel(U, there)).sum()))


@each_number_of_inputs
@each_kernel
def test_where_both_arguments_are_the_same_points_the_gradient_is_the_sum(kernel: Kernel, inputs: int) -> None:
    U, _ = points(inputs)
    D = np.random.default_rng(8).standard_normal((len(U), len(U)))
    dU, dZ = kernel.pull(U, U, D)
    assert_gradient(dU + dZ, U, lambda there: float((D * kernel(there, there)).sum()))


@each_number_of_inputs
@each_covariance
def test_the_pull_keeps_its_digits_far_from_the_origin(kernel: Covariance, inputs: int) -> None:
    U, Z = points(inputs)
    far = 2.0**20
    U, Z = (U + far) - far, (Z + far) - far
    D = np.random.default_rng(9).standard_normal((len(U), len(Z)))
    for near, there in zip(kernel.pull(U, Z, D), kernel.pull(U + far, Z + far, D), strict=True):
        np.testing.assert_allclose(there, near, rtol=1e-9, atol=1e-9)


@each_kernel
def test_those_that_are_covariances_of_stationary_processes_are_marked_so(kernel: Kernel) -> None:
    assert (kernel.is_stationary and kernel.is_positive_definite) is isinstance(kernel, Covariance)


@each_covariance
def test_near_by_many_inputs_are_as_far_as_the_flag_of_distances_states(kernel: Covariance) -> None:
    for inputs in (2, 5, 20):
        origin, along = np.zeros((1, inputs)), np.zeros((1, inputs))
        along[0, 0] = 1e-3 * (inputs if kernel.sums_distances else np.sqrt(inputs))
        across = np.full((1, inputs), 1e-3)
        np.testing.assert_allclose(1.0 - kernel(across, origin), 1.0 - kernel(along, origin), rtol=1e-3)


def test_every_type_has_its_own_name() -> None:
    assert len({kernel.type for kernel in MEMBERS}) == len(get_args(Kernel))


@pytest.mark.parametrize("inputs", [1, 3, 4, 30])
def test_a_kinked_kernel_is_one_at_coincident_points_whatever_the_number_of_inputs(inputs: int) -> None:
    U = 100.0 * np.random.default_rng(inputs).standard_normal((50, inputs))
    U[10:20] = U[:10]
    k = Laplacian()(U, U)
    np.testing.assert_array_equal(k.diagonal(), 1.0)
    np.testing.assert_array_equal(k[np.arange(10), np.arange(10, 20)], 1.0)
    close = Laplacian()(U + 1e-7 / sqrt(inputs), U).diagonal()
    np.testing.assert_allclose(close, 1.0 - 1e-7, rtol=1e-13)


def test_a_rational_quadratic_lies_between_the_cauchy_kernel_and_the_gaussian() -> None:
    U, Z = points(2)
    np.testing.assert_allclose(RationalQuadratic(1.0)(U, Z), Cauchy()(U, Z), rtol=1e-13)
    np.testing.assert_allclose(RationalQuadratic(1e3)(U, Z), Gaussian()(U, Z), atol=1e-3)


@each_covariance
@each_number_of_inputs
def test_the_pull_of_a_symmetric_matrix_is_both_parts_of_the_pull(kernel: Covariance, inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    U, D = rng.standard_normal((6, inputs)), rng.standard_normal((6, 6))
    D = D + D.T
    first, second = kernel.pull(U, U, D)
    np.testing.assert_allclose(kernel.pull_symmetric(U, D), first + second, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel.pull_symmetric(U, D, kernel(U, U)), first + second, rtol=1e-9, atol=1e-11)


@each_radial
@each_number_of_inputs
def test_a_kernel_at_hand_changes_no_gradient_and_is_not_changed(kernel: Radial, inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    U, Z, D = rng.standard_normal((6, inputs)), rng.standard_normal((4, inputs)), rng.standard_normal((6, 4))
    k = kernel(U, Z)
    before = k.copy()
    for one, other in zip(kernel.pull(U, Z, D, k), kernel.pull(U, Z, D), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(k, before)


@each_radial
def test_no_points_pull_at_nothing(kernel: Radial) -> None:
    U, none = np.ones((3, 2)), np.empty((0, 2))
    dU, dZ = kernel.pull(U, none, np.empty((3, 0)))
    np.testing.assert_array_equal(dU, np.zeros((3, 2)))
    assert dZ.shape == kernel.pull_symmetric(none, np.empty((0, 0))).shape == (0, 2)


@each_kernel
@pytest.mark.parametrize("shape", [(400, 70), (70, 400), (2, 20_000)], ids=str)
def test_many_pairs_are_computed_as_few_are(kernel: Kernel, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    U, Z = rng.standard_normal((shape[0], 2)), rng.standard_normal((shape[1], 2))
    D = rng.standard_normal(shape)
    k = kernel(U, Z)
    pieces = [kernel(U, Z[first : first + 50]) for first in range(0, shape[1], 50)]
    np.testing.assert_allclose(k, np.hstack(pieces), rtol=1e-12, atol=1e-14)
    dU, dZ = kernel.pull(U, Z, D)
    of_pieces = [kernel.pull(U, Z[first : first + 50], D[:, first : first + 50]) for first in range(0, shape[1], 50)]
    scale = np.abs(dU).max()
    np.testing.assert_allclose(dU, sum(one for one, _ in of_pieces), rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(dZ, np.vstack([other for _, other in of_pieces]), rtol=1e-9, atol=1e-11 * scale)
    for one, other in zip(kernel.pull(U, Z, D, k), (dU, dZ), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11 * scale)


def test_the_periodic_kernel_of_one_input_is_scikit_learns() -> None:
    """exp(-2 sin^2(pi d / p) / l^2): the width is p."""
    X, period, length = np.linspace(-4.0, 4.0, 9)[:, None], 1.7, 0.6
    d = np.abs(X - X.T)
    expected = np.exp(-2.0 * np.square(np.sin(pi * d / period) / length))
    np.testing.assert_allclose(Periodic(length)(X / period, X / period), expected, rtol=1e-12)


def test_an_inverse_multiquadric_is_a_rational_quadratic_of_power_one_half() -> None:
    U, Z = points(3)
    np.testing.assert_allclose(
        InverseMultiquadric()(U, Z), RationalQuadratic(0.5)(U / sqrt(2.0), Z / sqrt(2.0)), rtol=1e-13
    )
