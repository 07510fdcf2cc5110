"""Classes of few rows: beside the base rate and logistic regression, by the expected log loss of new rows."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from relevance_bayes.core.types import Array
from relevance_bayes.estimators import RelevanceClassifier

NEW_ROWS = 20_000
Draw = tuple[Array, Array, Array, Array]
"""X, classes, X of new rows, and their true probabilities of class 1."""


def logistic(latent: Array) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-latent)))


def drawn(rng: np.random.Generator, rows: int, positives: int, latent: Callable[[Array], Array]) -> Draw:
    """Rows of which so many are of class 1, where that is the expected number."""
    new = rng.standard_normal((NEW_ROWS, 5))
    low, high = -15.0, 15.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if logistic(latent(new) + middle).mean() * rows > positives else (middle, high)
    X, y = np.empty((0, 5)), np.empty(0)
    while y.sum() != positives:
        X = rng.standard_normal((rows, 5))
        y = (rng.uniform(size=rows) < logistic(latent(X) + low)).astype(np.float64)
    return X, y, new, logistic(latent(new) + low)


def rare(seed: int, positives: int) -> Draw:
    return drawn(np.random.default_rng(seed), 600, positives, lambda X: 2.0 * X[:, 0] - X[:, 1])


def noise(seed: int) -> Draw:
    """20 rows, 12 and 8, whose inputs are independent of the class."""
    return drawn(np.random.default_rng(seed), 20, 8, lambda X: np.zeros(len(X)))


def log_loss(found: Array, truth: Array) -> float:
    found = np.clip(found, 1e-15, 1.0 - 1e-15)
    return float(-np.mean(truth * np.log(found) + (1.0 - truth) * np.log(1.0 - found)))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "draw",
    [lambda seed: rare(seed, 4), lambda seed: rare(seed, 10), noise],
    ids=["4 of 600", "10 of 600", "20 rows of noise"],
)
def test_of_ten_draws_at_most_one_is_behind_the_base_rate_or_logistic_regression(
    draw: Callable[[int], Draw],
) -> None:
    behind = 0
    for seed in range(10):
        X, y, new, truth = draw(seed)
        found = log_loss(RelevanceClassifier().fit(X, y).predict_proba(new)[:, 1], truth)
        base = log_loss(np.full(len(truth), y.mean()), truth)
        straight = log_loss(LogisticRegression().fit(X, y).predict_proba(new)[:, 1], truth)
        behind += found > base + 0.005 or found > straight + 0.01
    assert behind <= 1
