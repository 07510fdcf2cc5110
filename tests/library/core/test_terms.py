from typing import get_args

import numpy as np
import pytest

from relevance_bayes.core.kernels import Additive, Covariance, Gaussian
from relevance_bayes.core.kernels.hyperparameters import Terms
from tests.library.core.drawn import by_differences

KERNELS: list[Covariance] = [member() for member in get_args(Covariance)]
TERMS = Terms((2, 0), np.array([-0.7, 0.4]))

rng = np.random.default_rng(5)
U, Z = rng.standard_normal((6, 4)), rng.standard_normal((3, 4))
D, S = rng.standard_normal((6, 3)), rng.standard_normal((6, 6))
S += S.T


def test_shares_are_the_softmax_of_the_logits_beside_0() -> None:
    full = np.exp(np.array([-0.7, 0.4, 0.0]))
    np.testing.assert_allclose(TERMS.shares, full[:2] / full.sum(), rtol=1e-12)


def test_a_new_term_takes_its_share_from_all_others_alike() -> None:
    more = TERMS.with_term(3, 0.3)
    assert more.alone == (2, 0, 3)
    np.testing.assert_allclose(more.shares, [*(0.7 * TERMS.shares), 0.3], rtol=1e-12)
    assert Terms().with_term(1, 0.3).shares.tolist() == pytest.approx([0.3])


def test_without_terms_the_covariance_is_the_kernel() -> None:
    kernel = Gaussian()
    assert Terms().of(kernel) is kernel
    found = TERMS.of(kernel)
    assert isinstance(found, Additive)
    assert found == Additive(kernel, (2, 0), tuple(TERMS.shares.tolist()))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.type)
def test_the_gradient_in_the_logits_is_that_of_differences(kernel: Covariance) -> None:
    *_, logits = TERMS.pull(kernel, U, Z, D)
    _, symmetric = TERMS.pull_symmetric(kernel, U, S)
    slopes = by_differences(lambda a: float(np.vdot(D, Terms((2, 0), a).of(kernel)(U, Z))), TERMS.logits)
    same = by_differences(lambda a: float(np.vdot(S, Terms((2, 0), a).of(kernel)(U, U))), TERMS.logits)
    np.testing.assert_allclose(logits, slopes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(symmetric, same, rtol=1e-7, atol=1e-9)


def test_without_terms_what_is_pulled_is_the_kernels() -> None:
    kernel = Gaussian()
    dU, dZ, logits = Terms().pull(kernel, U, Z, D)
    for found, expected in zip((dU, dZ), kernel.pull(U, Z, D), strict=True):
        np.testing.assert_array_equal(found, expected)
    again, none = Terms().pull_symmetric(kernel, U, S)
    np.testing.assert_array_equal(again, kernel.pull_symmetric(U, S))
    assert len(logits) == len(none) == 0


def test_the_prior_of_logits_is_normal_of_sd_3() -> None:
    value, slope = TERMS.log_prior()
    assert value == pytest.approx(-0.5 * (0.49 + 0.16) / 9.0)
    np.testing.assert_allclose(slope, by_differences(lambda a: Terms((2, 0), a).log_prior()[0], TERMS.logits))
    assert Terms().log_prior()[0] == 0.0
