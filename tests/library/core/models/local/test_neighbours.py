"""import numpy as np"""

import numpy as np
import pytest

from relevance_bayes.core.models.local.neighbours import ABSENT, Neighbourhoods, NeighbourSearch, earlier
from relevance_bayes.core.types import Array


def nearest_by_hand(U: Array, i: int, among: list[int], m: int) -> list[int]:
    found = sorted(among, key=lambda j: (float(np.sqrt(np.sum((U[i] - U[j]) ** 2))), j))[:m]
    return found + [ABSENT] * (m - len(found))


@pytest.mark.parametrize("m", [1, 4, 30])
def test_earlier_neighbours_are_the_nearest_of_all_rows_before(m: int) -> None:
    U = np.random.default_rng(0).standard_normal((150, 3))
    targets = np.array([0, 1, 2, 3, 7, 8, 9, 64, 100, 149])
    found = earlier(U, targets, m)
    assert found.neighbours.tolist() == [nearest_by_hand(U, i, list(range(i)), m) for i in targets]


def test_of_rows_that_are_equally_near_the_first_come_first() -> None:
    U = np.array([[0.0], [1.0], [1.0], [-1.0], [0.0], [1.0]])
    _, numbers = NeighbourSearch(U).nearest(np.zeros((1, 1)), 6)
    assert numbers.tolist() == [[0, 4, 1, 2, 3, 5]]
    assert earlier(U, np.array([5]), 3).neighbours.tolist() == [[1, 2, 0]]


def test_rows_of_equal_inputs_are_not_elsewhere() -> None:
    U = np.array([[0.0], [0.0], [1.0], [3.0]])
    assert NeighbourSearch(U).elsewhere(U[[0, 2]], 3).tolist() == [[2, 3, ABSENT], [0, 1, 3]]


def test_neighbours_elsewhere_are_the_nearest_of_all_rows() -> None:
    U = np.random.default_rng(1).standard_normal((80, 4))
    targets = [5, 79]
    found = NeighbourSearch(U).elsewhere(U[targets], 6)
    assert found.tolist() == [nearest_by_hand(U, i, [j for j in range(80) if j != i], 6) for i in targets]


def test_no_more_are_found_than_there_are() -> None:
    U = np.arange(3.0)[:, None]
    distances, numbers = NeighbourSearch(U).nearest(np.array([[2.2]]), 10)
    assert numbers.tolist() == [[2, 1, 0]]
    np.testing.assert_allclose(distances, [[0.2, 1.2, 2.2]])


def test_compact_neighbourhoods_name_the_same_rows() -> None:
    neighbourhoods = Neighbourhoods(np.array([9, 4]), np.array([[2, 4], [7, ABSENT]]))
    used, own = neighbourhoods.compact()
    assert used.tolist() == [2, 4, 7, 9]
    assert own.targets.tolist() == [3, 1]
    assert own.neighbours.tolist() == [[0, 1], [2, ABSENT]]
