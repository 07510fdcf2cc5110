from typing import get_args

import numpy as np
import pytest

from relevance_bayes.core.kernels import Additive, Covariance
from relevance_bayes.core.types import Array
from tests.library.core.drawn import by_differences

KERNELS: list[Covariance] = [member() for member in get_args(Covariance)]
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.type)

rng = np.random.default_rng(3)
U, Z = rng.standard_normal((7, 5)), rng.standard_normal((4, 5))
D, S = rng.standard_normal((7, 4)), rng.standard_normal((7, 7))
S += S.T


def additive(kernel: Covariance) -> Additive:
    return Additive(kernel, (3, 0), (0.2, 0.35))


@each_kernel
def test_it_is_the_sum_of_its_terms(kernel: Covariance) -> None:
    found = additive(kernel)(U, Z)
    for n, u in enumerate(U):
        for m, z in enumerate(Z):
            rest = kernel(u[None, [1, 2, 4]], z[None, [1, 2, 4]])[0, 0]
            own = [kernel(u[None, k, None], z[None, k, None])[0, 0] for k in (3, 0)]
            assert found[n, m] == pytest.approx(0.2 * own[0] + 0.35 * own[1] + 0.45 * rest, rel=1e-12)


@each_kernel
def test_it_is_1_at_distance_0_and_has_no_negative_eigenvalue(kernel: Covariance) -> None:
    K = additive(kernel)(U, U)
    np.testing.assert_allclose(K.diagonal(), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > 0.0


@each_kernel
def test_its_gradients_are_those_of_differences(kernel: Covariance) -> None:
    k = additive(kernel)
    dU, dZ = k.pull(U, Z, D)
    of_u = by_differences(lambda u: float(np.vdot(D, k(u.reshape(U.shape), Z))), U.ravel())
    of_z = by_differences(lambda z: float(np.vdot(D, k(U, z.reshape(Z.shape)))), Z.ravel())
    np.testing.assert_allclose(dU.ravel(), of_u, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(dZ.ravel(), of_z, rtol=1e-6, atol=1e-7)

    def of_itself(u: Array) -> float:
        there = u.reshape(U.shape)
        return float(np.vdot(S, k(there, there)))

    np.testing.assert_allclose(
        k.pull_symmetric(U, S).ravel(), by_differences(of_itself, U.ravel()), rtol=1e-6, atol=1e-7
    )


@each_kernel
def test_pulling_once_from_both_sides_is_pulling_symmetrically(kernel: Covariance) -> None:
    dU, dZ, sums = additive(kernel).pull_all(U, U, S)
    full, same = additive(kernel).pull_all_symmetric(U, S)
    np.testing.assert_allclose(dU + dZ, full, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(sums, same)


@each_kernel
def test_its_sums_are_those_of_each_term_the_rest_last(kernel: Covariance) -> None:
    *_, sums = additive(kernel).pull_all(U, Z, D)
    by_hand = [np.vdot(D, kernel(U[:, inputs], Z[:, inputs])) for inputs in ([3], [0], [1, 2, 4])]
    np.testing.assert_allclose(sums, by_hand, rtol=1e-12)


def test_the_order_of_inputs_alone_is_that_of_their_shares() -> None:
    kernel = KERNELS[0]
    swapped = Additive(kernel, (0, 3), (0.35, 0.2))
    np.testing.assert_allclose(swapped(U, Z), additive(kernel)(U, Z), rtol=1e-14)
