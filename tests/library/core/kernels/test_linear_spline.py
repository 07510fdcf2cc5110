import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from relevance_bayes.core.kernels import LinearSpline

SOMEWHERE = st.floats(0.0, 10.0)


@given(SOMEWHERE, SOMEWHERE)
def test_it_is_the_inner_product_of_two_splines(u: float, z: float) -> None:
    shared, _ = quad(lambda s: (u - s) * (z - s), 0.0, min(u, z))
    value = LinearSpline()(np.array([[u]]), np.array([[z]]))
    assert float(value[0, 0]) == pytest.approx(1.0 + u * z + shared, rel=1e-10)


@given(st.floats(-10.0, 10.0), st.floats(-10.0, 10.0))
def test_it_is_the_papers_formula_on_both_sides_of_zero(u: float, z: float) -> None:
    minimum = min(u, z)
    formula = 1.0 + u * z + u * z * minimum - (u + z) / 2.0 * minimum**2 + minimum**3 / 3.0
    value = LinearSpline()(np.array([[u]]), np.array([[z]]))
    assert float(value[0, 0]) == pytest.approx(formula, rel=1e-9, abs=1e-9)


def test_several_inputs_are_multiplied() -> None:
    rng = np.random.default_rng(0)
    U, Z = rng.uniform(0.0, 2.0, (4, 3)), rng.uniform(0.0, 2.0, (5, 3))
    product = np.ones((4, 5))
    for k in range(3):
        product *= LinearSpline()(U[:, [k]], Z[:, [k]])
    np.testing.assert_allclose(LinearSpline()(U, Z), product, rtol=1e-12)
