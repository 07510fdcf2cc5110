from math import exp

import numpy as np
import pytest

from relevance_bayes.core.kernels import Gaussian


@pytest.mark.parametrize("inputs", [1, 2, 5])
def test_it_is_the_exponential_of_minus_the_squared_distance(inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    U, Z = rng.standard_normal((4, inputs)), rng.standard_normal((3, inputs))
    by_hand = [[exp(-sum((a - b) ** 2 for a, b in zip(u, z, strict=True))) for z in Z] for u in U]
    np.testing.assert_allclose(Gaussian()(U, Z), by_hand, rtol=1e-12)


def test_it_is_one_at_its_centre_and_zero_far_away() -> None:
    np.testing.assert_array_equal(Gaussian()(np.array([[0.0], [1e6]]), np.array([[0.0]])), [[1.0], [0.0]])
