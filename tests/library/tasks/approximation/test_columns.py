import numpy as np
import pytest

from relevance_bayes.tasks.approximation.columns import ColumnSpan

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
