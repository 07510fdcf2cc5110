import numpy as np

from app.sparse_bayes.priors import Independent
from app.sparse_bayes.types import Array


def test_its_gradient_is_the_chain_rule_of_the_logarithm() -> None:
    alpha, weights = np.array([0.1, 1.0, 30.0]), np.array([2.0, -1.0, 0.3])

    def value(logs: Array) -> float:
        return float(weights @ np.exp(logs) ** 2)

    steps = 1e-5 * np.eye(3)
    numeric = [(value(np.log(alpha) + step) - value(np.log(alpha) - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(Independent().gradient(alpha, 2.0 * weights * alpha), numeric, rtol=1e-6)
