"""The choice by folds between a pool and its alternatives."""

import numpy as np
import pytest

from relevance_bayes.core.selection.pool_evaluation import PoolEvaluation
from relevance_bayes.core.types import Array

N = 100


def judged(errors: Array, gain: float) -> PoolEvaluation:
    """A pool whose mean is 1 off and whose sd is 1, and an alternative of these errors (N,) and a better score."""
    splits = tuple((np.delete(np.arange(N), fold), fold) for fold in np.array_split(np.arange(N), 5))
    t, ones = np.random.default_rng(0).standard_normal(N), np.ones((N, 1))
    nll = 0.5 * np.log(2.0 * np.pi) + 0.5 - gain + 0.01 * np.random.default_rng(1).standard_normal(N)
    return PoolEvaluation(splits, np.arange(N), t, t[:, None] + ones, ones, np.array([[nll, errors, np.ones(N)]]))


@pytest.mark.parametrize(("gain", "selected"), [(0.2, 0), (0.0, None)])
def test_an_alternative_of_clearly_better_density_is_taken(gain: float, selected: int | None) -> None:
    assert judged(np.ones(N), gain).best_alternative == selected


def test_an_alternative_whose_mean_explodes_at_one_row_is_left_whatever_its_density() -> None:
    errors = np.ones(N)
    errors[7] = 9.0
    assert judged(errors, 0.2).best_alternative is None


def test_an_alternative_that_is_hardly_less_precise_is_taken() -> None:
    assert judged(np.full(N, 1.08), 0.2).best_alternative == 0


@pytest.mark.parametrize(
    ("gains", "taken"),
    [
        ([0.0], 0),
        ([0.0, 0.01], 0),  # within two standard errors
        ([0.0, 0.2], 1),
        ([0.0, -0.2], 0),
        ([0.0, 0.2, 0.21], 1),
        ([0.0, 0.2, 0.5], 2),
        ([np.nan, 0.2], 1),
        ([0.0, np.nan], 0),
        ([np.nan, np.nan], 0),
    ],
)
def test_the_first_model_is_taken_unless_another_one_is_clearly_better(gains: list[float], taken: int) -> None:
    rng, none = np.random.default_rng(2), np.zeros(N)
    figures = np.array([[-gain + 0.1 * rng.standard_normal(N), none, none, none, none, none] for gain in gains])
    evaluation = PoolEvaluation((), np.arange(N), none, np.empty((N, 0)), np.empty((N, 0)), figures)
    assert evaluation.first_or_clearly_better == taken
