import numpy as np
import pytest

from relevance_bayes.core.coordinates import coordinates
from relevance_bayes.core.kernels import Gaussian
from relevance_bayes.core.types import Array, Indices

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
