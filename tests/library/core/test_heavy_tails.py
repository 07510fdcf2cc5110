"""Heavy tails are found in residuals, and only then is Student's t compared with a pool."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy

from relevance_bayes.core.likelihoods import GaussianNoise, StudentT
from relevance_bayes.core.likelihoods.student_t import HeavyTailedPrediction
from relevance_bayes.core.log_density import DEGREES_OF_FREEDOM, MIN_ROWS, has_heavy_tails, squared_scale
from relevance_bayes.core.models.pool import ready_of
from relevance_bayes.core.selection import Rows, Selection, Trained, train
from relevance_bayes.core.selection.evaluation import NO_HEAVY_TAILS
from relevance_bayes.core.types import Array
from tests.library.core.drawn import process_spec

N, NEW = 120, 1_000
SMOOTH = replace(process_spec(GaussianNoise(), inputs=True, vectors="rows"), seed=3)
TAILED = replace(process_spec(StudentT(), inputs=True), seed=3)


def contaminated(n: int, seed: int) -> Array:
    """Noise of sd 1, and of sd 100 in a fifth of the rows."""
    rng = np.random.default_rng(seed)
    return np.where(np.arange(n) % 5 == 0, 100.0, 1.0) * rng.standard_normal(n)


@pytest.mark.parametrize("dof", DEGREES_OF_FREEDOM)
def test_the_scale_is_that_of_maximal_likelihood(dof: float) -> None:
    z = 2.0 * np.random.default_rng(0).standard_t(3.0, 200)
    found = squared_scale(z, dof)

    def loss(log_scale: float) -> float:
        return -float(scipy.stats.t.logpdf(z, dof, scale=np.exp(log_scale)).mean())

    best = scipy.optimize.minimize_scalar(loss, bracket=(-1.0, 2.0), tol=1e-12)
    assert np.log(found) / 2.0 == pytest.approx(float(best.x), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_residuals_of_many_outliers_have_heavy_tails_in_any_unit(seed: int) -> None:
    z = contaminated(300, seed)
    assert has_heavy_tails(z)
    assert has_heavy_tails(1e-3 * z)
    assert has_heavy_tails(-z[::-1])


@pytest.mark.parametrize("draw", ["normal", "uniform", "laplace", "t5"])
def test_ordinary_residuals_have_none(draw: str) -> None:
    rng = np.random.default_rng(1)
    draws = {
        "normal": rng.standard_normal(500),
        "uniform": rng.uniform(-1.0, 1.0, 500),
        "laplace": rng.laplace(size=500),
        "t5": rng.standard_t(5.0, 500),
    }
    assert not has_heavy_tails(draws[draw])


def test_a_few_rows_far_out_are_no_heavy_tails() -> None:
    z = np.random.default_rng(2).standard_normal(300)
    z[:3] = 1e3, -1e4, 1e5
    assert not has_heavy_tails(z)


def test_few_or_equal_residuals_have_none() -> None:
    assert not has_heavy_tails(contaminated(MIN_ROWS - 1, 0))
    assert not has_heavy_tails(np.zeros(50))


def drawn(n: int, seed: int, noise: Array) -> tuple[Rows, Array]:
    """Rows with a smooth function of two inputs, and its values (n,)."""
    X = np.random.default_rng(seed).uniform(-2.0, 2.0, (n, 2))
    f = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]
    return Rows(X, f + 0.1 * noise), f


@cache
def trained(is_contaminated: bool) -> Trained:
    noise = contaminated(N, 0) if is_contaminated else np.random.default_rng(0).standard_normal(N)
    *_, last = train(
        drawn(N, 1, noise)[0], Selection(SMOOTH, pool=(replace(SMOOTH, seed=4),), compared_models=(TAILED,))
    )
    assert isinstance(last, Trained)
    return last


@pytest.mark.thorough
def test_students_t_replaces_a_pool_whose_residuals_have_heavy_tails() -> None:
    found = trained(True)
    assert isinstance(found.spec.likelihood, StudentT)
    assert not found.members
    scores = [one.score for one in found.compared if one.score is not None]
    assert found.score.value is not None
    assert found.score.value > max(scores)
    new, f = drawn(NEW, 2, contaminated(NEW, 3))
    prediction, _ = ready_of(found.learned).predict(new.X)
    assert isinstance(prediction, HeavyTailedPrediction)
    assert np.median(np.abs(prediction.mean - f)) < 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_the_intervals_of_students_t_hold_for_new_rows_and_in_the_folds(level: float) -> None:
    """Noise of an exact Student's t with 2.5 degrees of freedom, learned as such."""
    noise = np.random.default_rng(5).standard_t(2.5, N + NEW)
    both, _ = drawn(N + NEW, 6, 3.0 * noise)
    *_, found = train(both.take(np.arange(N)), Selection(TAILED, folds=3))
    assert isinstance(found, Trained)
    prediction, _ = ready_of(found.learned).predict(both.X[N:])
    assert isinstance(prediction, HeavyTailedPrediction)
    lower, upper = prediction.interval(level)
    assert np.mean((lower <= both.t[N:]) & (both.t[N:] <= upper)) == pytest.approx(level, abs=0.08)
    assert found.left_out is not None
    _, below, upto = found.left_out.measured.outputs
    inside = (upto >= (1.0 - level) / 2.0) & (below < (1.0 + level) / 2.0)
    assert inside.mean() == pytest.approx(level, abs=0.12)


def test_students_t_is_not_fitted_where_residuals_are_ordinary() -> None:
    found = trained(False)
    assert isinstance(found.spec.likelihood, GaussianNoise)
    (reason,) = [one.reason for one in found.compared if isinstance(one.spec.likelihood, StudentT)]
    assert reason == NO_HEAVY_TAILS
    assert all(one.computable for one in found.compared)
